import { join } from 'node:path';
import { expect, it } from 'vitest';
import { countTokens } from '../../lib/text/index.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd, writeTree } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const LONG = 'word '.repeat(8001).trim();
const skill = (name: string, body: string): string => skillMd({ name, description: `Does ${name}.` }, body);
const tooLong = (problems: readonly { readonly code: string }[]) =>
  problems.filter(({ code }) => code === 'SKILL_TOO_LONG');

it('a body over 8,000 tokens is a warning, and the skill is still listed and readable', async () => {
  const { root, registry } = await openRegistry({
    'skills/long/SKILL.md': skill('long', LONG),
    'skills/short/SKILL.md': skill('short', 'Short.'),
    'skills/wide/SKILL.md': skill('wide', 'x'.repeat(20_000)),
  });
  const counts = await registry.admin.tokenCounts();
  const tokens = await countTokens(LONG);
  expect(counts.get('long')).toEqual({ l1: await countTokens('• `long` — Does long.\n'), l2: tokens });
  expect(tokens).toBeGreaterThan(8000);
  expect(tooLong(registry.problems())).toMatchObject([
    { severity: 'warning', file: join(root, 'skills/long/SKILL.md'), details: { tokens, limit: 8000 } },
  ]);
  expect(registry.list({ query: 'long' }).total).toBe(1);
  expect(await registry.context('')).toContain('• `long` — Does long.');
  expect(await registry.read('long')).toMatchObject({ content: LONG, approxTokens: tokens });
});

it('a limit of one token less is passed, and the limit itself is not', async () => {
  const tokens = await countTokens('Exactly these words.');
  const tree = { 'skills/a/SKILL.md': skill('a', 'Exactly these words.') };
  for (const [limit, count] of [
    [tokens, 0],
    [tokens - 1, 1],
  ]) {
    const { registry } = await openRegistry(tree, { limits: { skill_tokens: limit } });
    await registry.admin.tokenCounts();
    expect(tooLong(registry.problems())).toHaveLength(count ?? -1);
  }
});

it('counts of lines alone leave the bodies uncounted', async () => {
  const { registry } = await openRegistry({ 'skills/a/SKILL.md': skill('a', 'Words.') });
  expect((await registry.admin.tokenCounts({ bodies: false })).get('a')).toEqual({ l1: expect.any(Number), l2: null });
});

it('while the registry is watched, a body that has grown too long is said by itself', async () => {
  const { root, registry } = await openRegistry({ 'skills/a/SKILL.md': skill('a', 'Words.') });
  const end = new AbortController();
  const watching = registry.watch(end.signal);
  writeTree(root, { 'skills/a/SKILL.md': skill('a', LONG) });
  await waitFor('the warning', () => tooLong(registry.problems()).length === 1);
  writeTree(root, { 'skills/a/SKILL.md': skill('a', 'Words.') });
  await waitFor('its end', () => tooLong(registry.problems()).length === 0);
  end.abort();
  await watching;
});
