import { expect, it } from 'vitest';
import { splitPrompt } from '../../../extensions/skill_registry/features/install/import/split-prompt.ts';
import { anyCharacter, fc } from '../../helpers/properties.ts';

const code = (lines: number): string => `\`\`\`ts\n${'# run();\n'.repeat(lines)}\`\`\`\n`;

function countsOf(...texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of texts.flatMap((text) => text.split('\n'))) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

it('loses no line of any text, nor one of several that are equal', () => {
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('# A', '## B', '## Workflow', '### C', '## Examples', '## A {#a}', '---') },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        '```',
        '~~~~',
        '{% if x %}',
        '{% endif %}',
        '{#',
        '#}',
        '<!--',
        '-->',
        '{% raw %}',
        '',
      ),
    },
    { weight: 2, arbitrary: fc.constantFrom('text', '  indented', `## Examples\n${'x\n'.repeat(25)}`) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 12 }) },
  );
  let splits = 0;
  let references = 0;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
      const text = lines.join('\n').replaceAll('\n', end);
      const split = splitPrompt(text);
      if (!split) return;
      splits += 1;
      references += split.references.size;
      const after = countsOf(split.prompt, split.body, ...split.references.values());
      for (const [one, count] of countsOf(text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')))
        if (one !== '') expect(after.get(one) ?? 0, JSON.stringify(one)).toBeGreaterThanOrEqual(count);
    }),
    { numRuns: 400 },
  );
  // The property says nothing about a text that is not split.
  expect(splits).toBeGreaterThan(100);
  expect(references).toBeGreaterThan(20);
});

it('keeps the title and the sections about the agent, with what is below them', () => {
  const text =
    '# Builder\n\nYou build.\n\n## Contract\n\nC.\n\n## Your workflow\n\n### Step\n\nW.\n\n## Events ##\n\nE.\n';
  expect(splitPrompt(text)).toEqual({
    prompt: '# Builder\n\nYou build.\n\n## Your workflow\n\n### Step\n\nW.\n',
    body: '## Contract\n\nC.\n\n## Events ##\n\nE.\n',
    references: new Map(),
    titles: ['Contract', 'Events'],
  });
});

it('makes references of long sections of examples or code, each linked where it stood', () => {
  const examples = `## Examples\n\n${'One more.\n'.repeat(20)}`;
  const split = splitPrompt(
    `You build.\n## API\nA.\n${examples}## API code\n${code(30)}## Examples\n${'x\n'.repeat(20)}`,
  );
  expect([...(split?.references.keys() ?? [])]).toEqual([
    'references/examples.md',
    'references/api-code.md',
    'references/examples-2.md',
  ]);
  expect(split?.references.get('references/examples.md')).toBe(examples);
  expect(split?.body).toContain('## API\nA.\n## Examples\n\nSee [references/examples.md](references/examples.md).\n');
  expect(splitPrompt(`You build.\n## Examples\n${'x\n'.repeat(5)}`)?.references.size).toBe(0);
});

it.each([
  ['code', `You build.\n${code(3)}`],
  ['code of a longer fence', 'You.\n````md\n```\n## No\n```\n## No\n````\n'],
  ['a comment of Jinja', 'You.\n{# first\n## No\n#}\n'],
  ['a comment of HTML', 'You.\n<!--\n## No\n-->\n'],
  ['a block of Jinja', 'You.\n{%- if deep %}\n{% for a in b %}\n## No\n{% endfor %}\n## No\n{% endif %}\n'],
  ['raw text of Jinja', 'You.\n{% raw %}\n{% endif %}{#\n## No\n{% endraw %}\n'],
  ['the fields at the start', '---\n# a comment\nname: x\n---\nYou.\n'],
])('takes no heading from %s', (_what, text) => {
  expect(splitPrompt(text)).toBeUndefined();
  expect(splitPrompt(`${text}## Yes\nY.\n`)).toMatchObject({ prompt: text, body: '## Yes\nY.\n' });
});

it('takes an anchor, a mark in code and an arrow for what they are', () => {
  const text = 'You.\n## One {#one}\nWrite `{% if x %}` and a --> b.\n## Two\n';
  expect(splitPrompt(text)?.titles).toEqual(['One {#one}', 'Two']);
});

it('finds nothing to take out of a text without sections', () => {
  for (const text of ['', 'You build.', '# Title\nYou build.\n', 'You.\n## Workflow\nW.\n## Constraints\nC.\n'])
    expect(splitPrompt(text)).toBeUndefined();
});

it('splits long texts of what is hard to read at once', () => {
  for (const part of ['{#', '#}{#', '<!--', '{% if ', '`', '# ', '## a\n', '```\n', '~~~\n# ', '{{'])
    splitPrompt(part.repeat(262_144 / part.length));
  expect(splitPrompt(`You.\n${`## Examples\n${'x\n'.repeat(20)}`.repeat(3_000)}`)?.references.size).toBe(200);
});
