import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Snapshot } from '../../../extensions/skill_registry/catalog/snapshot.ts';
import { createTokenCounts } from '../../../extensions/skill_registry/show/token-counts.ts';
import type { Cache } from '../../../extensions/skill_registry/store/cache.ts';
import { countTokens, loadTokenCounter } from '../../../lib/text/index.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';

const NO_CACHE: Cache = {
  use: () => undefined,
  useIfThere: () => undefined,
  trouble: () => undefined,
  close: () => {},
};

it('counts one long body in several turns of the event loop, as it counts it at once', async () => {
  // Each line has other words, so that a fast machine needs several slices, too.
  const lines = Array.from({ length: 30_000 }, (_, at) => `Read change ${at * 7919} before the first remark.\n`);
  const body = lines.join('');
  const bytes = Buffer.from(body);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const skill = fakeSkill('long', { digest, bytes: bytes.length });
  const counts = createTokenCounts(5_000, () => bytes, NO_CACHE);
  await loadTokenCounter();
  let [turns, isCounting] = [0, true];
  const turn = (): void => {
    turns++;
    if (isCounting) setImmediate(turn);
  };
  setImmediate(turn);
  const counted = await counts.count({ skills: [skill] } as unknown as Snapshot, { bodies: true, atMost: 1 });
  isCounting = false;
  expect(turns).toBeGreaterThan(3);
  expect(counted.get('long')?.l2).toBe(await countTokens(body.trim()));
});
