import { describe, expect, it } from 'vitest';
import { CANNOT_MOUNT, NOWHERE_ELSE } from '../helpers/file-systems.ts';
import { type Layout, surviveKills } from '../helpers/survive-kills.ts';

/** KILLS: so many for each layout, at least one for each step of each change. KILL_SEED: repeats a run. */
const KILLS = Number(process.env.KILLS ?? 0);
const SEED = Number(process.env.KILL_SEED ?? 20_261_121);

const LAYOUTS: readonly (readonly [Layout, string, string])[] = [
  ['together', 'skills and history on one file system', ''],
  ['apart', 'skills and history on two file systems', NOWHERE_ELSE],
  ['full', 'a disk that runs full in the middle of each change', CANNOT_MOUNT],
];

describe.each(LAYOUTS)('%s: %s %s', (layout, _name, whyNot) => {
  it.skipIf(whyNot !== '')('survives kills at every step of every change', { timeout: 1_800_000 }, async () => {
    const hits = await surviveKills({ layout, kills: KILLS, seed: SEED });
    const table = [...hits].sort().map(([step, count]) => `${step}: ${count}`);
    process.stdout.write(`${layout}, seed ${SEED}; kills by step:\n${table.join('\n')}\n`);
    expect(hits.size).toBeGreaterThan(20);
  });
});
