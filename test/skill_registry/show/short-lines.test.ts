import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../../kernel/host.ts';
import { countTokens } from '../../../lib/text/index.ts';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import type { Tree } from '../../helpers/temp-folder.ts';

const LONG: readonly (readonly [string, string])[] = [
  ['plain words', 'Plain words of a long description. '.repeat(40)],
  ['another script', '日本語のテキストを書きます。 '.repeat(60)],
  ['no blanks', 'x9Q_'.repeat(400)],
  ['emoji', '👩‍💻😀 '.repeat(200)],
  ['what XML escapes', `<a> & 'b' "c" `.repeat(90)],
];

describe.each(['bullets', 'xml'])('a line of the catalog as %s', (format) => {
  it.each(LONG)('has at most 120 tokens, whatever is in it: %s', async (_, description) => {
    const quoted = `"${description.trim().replaceAll('"', '\\"')}"`;
    const tree = { ...skill('long', { description: quoted }), ...skill('short') };
    const { registry } = await openRegistry(tree, { catalog: { format, budget_tokens: 100_000 } });
    const text = (await registry.context('')) ?? '';
    const entry =
      format === 'xml'
        ? /(?<=<available_skills>\n)[\s\S]*?<\/skill>/.exec(text)?.[0]
        : text.split('\n').find((line) => line.startsWith('• `long`'));
    const tokens = await countTokens(entry ?? '');
    expect(tokens).toBeLessThanOrEqual(120);
    expect(tokens).toBeGreaterThan(100);
    expect(entry).toContain('…');
    expect(text).toContain('Does short.');
    expect(await registry.context('')).toBe(text);
  });
});

it('is cut at a word, and stays whole where it fits', async () => {
  const fits = `It ${'does it '.repeat(50).trim()}.`;
  const tree = {
    ...skill('long', { description: 'Plain words of it. '.repeat(60) }),
    ...skill('fits', { description: fits }),
  };
  const { registry } = await openRegistry(tree);
  const text = await registry.context('');
  expect(text).toMatch(/• `long` — (Plain words of it\. )+(Plain|Plain words|Plain words of|Plain words of it)…\n/);
  expect(text).toContain(`• \`fits\` — ${fits}\n`);
  const counts = await registry.admin.tokenCounts();
  expect(counts.get('long')?.l1).toBeLessThanOrEqual(121);
});

it('the descriptions of the shipped skills have at most 40 tokens each', async () => {
  const { registry } = await openRegistry({}, { sources: [{ path: `${packageRoot()}/skills` }] });
  const { skills } = registry.snapshot();
  expect(skills).toHaveLength(4);
  for (const { description } of skills) expect(await countTokens(description)).toBeLessThanOrEqual(40);
});

it('the index of a role holds to the budget of the catalog', async () => {
  const many: Tree = Object.assign(
    {},
    ...Array.from({ length: 400 }, (_, n) =>
      skill(`s-${n}`, { description: 'Says what it does and when to use it. '.repeat(8) }),
    ),
  );
  for (const budget_tokens of [300, 2000]) {
    const { registry } = await openRegistry({ ...many, ...skill('qa') }, { catalog: { budget_tokens } });
    const { text } = await registry.admin.resolveRolePrompt('qa');
    const index = text.slice(0, text.lastIndexOf('\n\nBody of qa.'));
    expect(text.startsWith('Skills:\n* qa: Does qa.\n- s-0')).toBe(true);
    expect(await countTokens(index)).toBeLessThanOrEqual(budget_tokens);
    expect(index).toMatch(/\n\d+ of 401 skills shown; list_skills\(query\) finds the rest\.$/);
  }
});
