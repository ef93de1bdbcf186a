import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectSkill } from '../../../../extensions/skill_registry/features/guard/inspect/inspect-skill.ts';
import { RULES } from '../../../../extensions/skill_registry/features/guard/inspect/rules/index.ts';
import { packageRoot } from '../../../../kernel/host.ts';
import { readSamples } from './samples.ts';

const page = (): string => readFileSync(join(packageRoot(), 'docs/security.md'), 'utf8');
const LEVELS = ['info', 'warn', 'block'];

describe('samples by which the rules were written', () => {
  it.each(readSamples('known-attacks.txt').map((one) => [one.title, one] as const))('%s', async (title, { files }) => {
    const { verdict } = await inspectSkill(files);
    expect(LEVELS.indexOf(verdict)).toBeGreaterThanOrEqual(LEVELS.indexOf(title.split(' ')[0] ?? ''));
  });

  it.each(readSamples('known-benign.txt').map((one) => [one.title, one] as const))(
    'clean: %s',
    async (title, { files }) => {
      // What is listed as an attack is worth a look, because an attack could be listed, too.
      expect((await inspectSkill(files)).verdict).toBe(title === 'what attackers do' ? 'warn' : 'info');
    },
  );
});

it('finds of the samples that were held out what docs/security.md says', async () => {
  const attacks = readSamples('held-out-attacks.txt');
  const clean = readSamples('held-out-benign.txt');
  const verdicts = await Promise.all(attacks.map(async ({ files }) => (await inspectSkill(files)).verdict));
  const wanted = attacks.map(({ title }) => title.startsWith('block '));
  const alarms = await Promise.all(clean.map(async ({ files }) => (await inspectSkill(files)).verdict));
  const blocked = verdicts.filter((verdict, at) => verdict === 'block' && wanted[at]).length;
  const found = verdicts.filter((verdict) => verdict !== 'info').length;
  const rows = [
    `| attacks that want \`block\` | ${wanted.filter(Boolean).length} | ${blocked} |`,
    `| attacks that want \`warn\` or \`block\` | ${attacks.length} | ${found} |`,
    `| clean skills with a \`block\` | ${clean.length} | ${alarms.filter((verdict) => verdict === 'block').length} |`,
    `| clean skills with a \`warn\` or \`block\` | ${clean.length} | ${alarms.filter((verdict) => verdict !== 'info').length} |`,
  ];
  for (const row of rows) expect(page()).toContain(row);
});

it('finds of the samples that were written later what docs/security.md says', async () => {
  const later = readSamples('later-attacks.txt');
  const verdicts = await Promise.all(
    later.map(async ({ title, files }) => [title.startsWith('block '), (await inspectSkill(files)).verdict] as const),
  );
  const whole = verdicts.filter(([wantsBlock]) => wantsBlock);
  const sentences = verdicts.filter(([wantsBlock]) => !wantsBlock);
  const blocked = whole.filter(([, verdict]) => verdict === 'block').length;
  const found = sentences.filter(([, verdict]) => verdict !== 'info').length;
  expect(page()).toContain(`| whole malicious skills | ${whole.length} | 29 blocked | ${blocked} |`);
  expect(page()).toContain(`| instructions in a clean skill | ${sentences.length} | 16 | ${found} |`);
});

it('lists every rule in docs/security.md, by its level, in their order', () => {
  const [, section = ''] = page().split('## Rules\n');
  const rows = [...section.matchAll(/^\| `(block|warn|info)` \| (.+) \|$/gm)];
  const listed = rows.map(([, level, ids = '']) => [level, [...ids.matchAll(/`([a-z-]+)`/g)].map(([, id]) => id)]);
  const known = ['block', 'warn', 'info'].map((wanted) => [
    wanted,
    RULES.filter(({ level }) => level === wanted).map(({ id }) => id),
  ]);
  expect(listed).toEqual(known);
});
