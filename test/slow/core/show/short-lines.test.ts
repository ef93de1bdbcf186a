import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../../../kernel/host.ts';
import { countTokens } from '../../../../lib/text/index.ts';
import { skill } from '../../../helpers/boot-root.ts';
import { openRegistry } from '../../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../../helpers/temp-folder.ts';

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

describe.each(['bullets', 'xml'])('a line of the catalog as %s', (format) => {
  const LINES = { bullets: /^•.*$/gm, xml: / {2}<skill>[\s\S]*?<\/skill>/g } as const;
  const linesOf = (text: string): readonly string[] => text.match(LINES[format as keyof typeof LINES]) ?? [];

  it.each([
    ['plain', 'q9-x'.repeat(60)],
    ['of another script', '𒀀𒁀𒂀'.repeat(20)],
  ])('is not written for an id that has more than 120 tokens: %s', async (_, id) => {
    const tree = { ...skill('short'), ...skill(id) };
    for (const catalog of [{ format }, { format, budget_tokens: 110 }]) {
      const { registry } = await openRegistry(tree, { catalog });
      const text = (await registry.context('')) ?? '';
      expect(linesOf(text)).toHaveLength(1);
      expect(text).toContain('1 of 2 skills shown; list_skills(query) finds the rest.');
      expect(registry.list({ query: 'does' }).skills.map(({ skillId }) => skillId)).toContain(id);
    }
  });

  it('has at most 120 tokens however deep the skill lies', async () => {
    const deep = Array.from({ length: 6 }, (_, n) => `k${n}-Zq7v9Xw2-${'pL4mJ8'.repeat(6)}`).join('/');
    const tree = {
      [`skills/${deep}/tea/SKILL.md`]: skillMd({ name: 'tea', description: 'Brews tea.' }),
      ...skill('cup'),
    };
    const { registry } = await openRegistry(tree, { catalog: { format } });
    const text = (await registry.context('')) ?? '';
    expect(text).toContain('Brews tea.');
    for (const line of linesOf(text)) expect(await countTokens(line)).toBeLessThanOrEqual(120);
    expect(linesOf(text)).toHaveLength(2);
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
