import { describe, expect, it } from 'vitest';
import { bodyOf } from '../../extensions/skill_registry/core/skill/frontmatter.ts';
import { parseSkill } from '../../extensions/skill_registry/core/skill/parse-skill.ts';
import { strictViolations } from '../../extensions/skill_registry/features/validate/strict-rules.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { anyCharacter, fc } from '../helpers/properties.ts';
import { specErrors } from '../helpers/spec-errors.ts';

/** A skill or a problem, and a header that cannot break a line of a prompt. */
function checkParsed(text: string): void {
  const { header, problems } = parseSkill(text, '/SKILL.md', 'dir');
  expect(header !== undefined || problems.some(({ severity }) => severity === 'error')).toBe(true);
  for (const { line } of problems) expect(line ?? 1).toBeGreaterThan(0);
  expect(text).toContain(bodyOf(text));
  if (!header) return;
  expect(header.description).not.toBe('');
  const lines = [header.name, header.description, header.argumentHint ?? '', header.version ?? ''];
  for (const line of [...lines, ...header.tags, ...header.requires, ...header.arguments, ...header.triggerKeywords]) {
    expect(line).not.toMatch(/[\r\n\u2028\u2029\p{Cc}\u202e\u200b]|\p{Surrogate}/u);
  }
  // It ends, and what aliases make of it stays in proportion.
  expect(JSON.stringify(header).length).toBeLessThan(10_000_000);
}

/** The other two profiles give a verdict, too. */
function checkText(text: string): void {
  checkParsed(text);
  for (const error of [...specErrors(text, 'dir'), ...strictViolations(text, 'dir').violations])
    expect(error).not.toBe('');
}

const bytes = fc.uint8Array({ maxLength: 600 }).map((array) => Buffer.from(array));
/** Lone surrogates, controls and astral characters between what fences and YAML are made of. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '---\n',
        '---\r\n',
        '\n',
        '\r',
        '\t',
        ': ',
        '- ',
        '[',
        '{',
        '"',
        "'",
        '|\n',
        '>\n',
        '&a ',
        '*a',
        '!!map ',
      ),
      fc.constantFrom('name', 'description', 'metadata', 'requires: ', '__proto__: ', '<<: ', '\ufeff', '\0', '\u0085'),
      fc.string({ unit: anyCharacter, maxLength: 8 }),
      fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)),
    ),
    { maxLength: 80 },
  )
  .map((pieces) => pieces.join(''));

const KEYS = [
  'name',
  'description',
  'when_to_use',
  'tags',
  'requires',
  'metadata',
  'allowed-tools',
  'arguments',
  'version',
];
const key = fc.oneof(
  fc.constantFrom(
    ...KEYS,
    'disable-model-invocation',
    'argument-hint',
    '__proto__',
    'constructor',
    'toString',
    '<<',
    'openclaw',
  ),
  fc.stringMatching(/^[a-zA-Z0-9_ .-]{1,12}$/),
);
const scalar = fc.oneof(
  fc.constantFrom(
    'true',
    'no',
    '~',
    '1.0',
    '0x1f',
    '.inf',
    '2020-01-01',
    '"quoted"',
    "'it''s'",
    'a: b',
    '# no',
    '|',
    '*a',
    '*b',
  ),
  fc.string({ maxLength: 12 }).map((value) => JSON.stringify(value)),
  fc.string({ maxLength: 12 }),
);
/** A value in flow form, with anchors and tags that may or may not fit. */
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map((pairs) => `{ ${pairs.map(([name, inner]) => `${name}: ${inner}`).join(', ')} }`),
    fc.tuple(fc.constantFrom('&a ', '&b ', '!!str ', '!!set ', '!x '), tie('value')).map((pair) => pair.join('')),
  ),
}));
const frontmatter = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('', '', '  ', '- '), key, value), { maxLength: 8 }),
    fc.string({ maxLength: 20 }),
  )
  .map(([fields, body]) => {
    const lines = fields.map(([indent, name, inner]) => `${indent}${name}: ${inner}`);
    return `---\n${lines.join('\n')}\n---\n${body}`;
  });

const header = 'name: monster\ndescription: It is large.\n';
const file = (yaml: string, body = 'Body.'): string => `---\n${header}${yaml}\n---\n${body}\n`;
const times = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => make(at)).join('');
const LAUGHS = times(20, (at) => `l${at + 1}: &l${at + 1} [${times(9, () => `*l${at},`)}]\n`);

/** By the id of the skill; what does not matter to the verdict is left out of it. */
const MONSTERS: Readonly<Record<string, string | Buffer>> = {
  'alias-bomb-in-lists': file(`l0: &l0 [lol]\n${LAUGHS}`),
  'alias-bomb-in-mappings': file(
    `a: &a {x: 1}\n${times(30, (at) => `b${at}: &b${at} {y: *${at ? `b${at - 1}` : 'a'}, z: *${at ? `b${at - 1}` : 'a'}}\n`)}`,
  ),
  'alias-of-a-large-text': file(`a: &a ${'x'.repeat(30_000)}\nb: [${times(90, () => '*a,')}]`),
  'alias-of-itself': file('a: &a [*a]'),
  'anchors-20000': file('&a '.repeat(20_000)),
  'merge-keys': file(`a: &a {x: 1}\n${times(1500, (at) => `k${at}: {<<: *a}\n`)}`),
  'long-line-in-the-frontmatter': file(`a: ${'x'.repeat(3_900_000)}`),
  'long-line-in-the-body': file('', 'x'.repeat(3_900_000)),
  'long-line-of-blanks': file(`a: ${' '.repeat(60_000)}`, ' '.repeat(1_000_000)),
  'deep-in-brackets': file(`a: ${'['.repeat(60_000)}`),
  'deep-in-closed-brackets': file(`a: ${'['.repeat(30_000)}${']'.repeat(30_000)}`),
  'deep-in-braces': file(`a: ${'{a: '.repeat(15_000)}`),
  'deep-in-dashes': file(`a:\n  ${'- '.repeat(30_000)}x`),
  'deep-in-questions': file(`${'? '.repeat(30_000)}x`),
  'deep-in-indents': file(times(340, (at) => `${' '.repeat(at)}a:\n`)),
  'unclosed-quote': file(`a: "${'x\n '.repeat(20_000)}`),
  'repairs-without-end': file(times(1200, (at) => `k${at}: a: b\n`)),
  'keys-100000': file(times(100_000, (at) => `k${at}: 1\n`)),
  'keys-that-fit': file(times(4000, (at) => `${at.toString(36)}: \n`)),
  'documents-100000': '---\n'.repeat(100_000),
  'ends-of-documents': file('...\n'.repeat(15_000)),
  'fences-in-blanks': `---\n${header}${' ---\n'.repeat(10_000)}---\nBody.\n`,
  nuls: Buffer.alloc(100_000),
  'nuls-in-fields': file('a: \0\0\0', '\0\0\0'),
  'lone-surrogates': file(`a: "\\ud800 \\udfff"\nb: \ud800`, '\udfff\ud800'),
  'surrogates-as-bytes': Buffer.concat([Buffer.from(file('')), Buffer.from([0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80])]),
  'no-utf-8': Buffer.from(Array.from({ length: 100_000 }, (_, at) => 128 + (at % 128))),
  'returns-only': '\r'.repeat(500_000),
  'blank-lines': '\n'.repeat(500_000),
};

describe('gives a skill or a problem:', () => {
  it('any bytes', () => {
    fc.assert(
      fc.property(bytes, (given) => checkText(given.toString('utf8'))),
      { numRuns: 800 },
    );
  });

  it('any text, halves of characters included', () => {
    fc.assert(fc.property(text, checkText), { numRuns: 1500 });
  });

  it('any text between two fences', () => {
    fc.assert(
      fc.property(text, text, (yaml, body) => checkText(`---\n${yaml}\n---\n${body}`)),
      { numRuns: 800 },
    );
  });

  it('fields with any values, nested, anchored and tagged', () => {
    fc.assert(fc.property(frontmatter, checkText), { numRuns: 300 });
  });

  it.each(Object.keys(MONSTERS))('%s', (name) => {
    checkText(Buffer.from(MONSTERS[name] ?? '').toString('utf8'));
  });
});

/** Every id is listed or named by an error, and none costs the others their place. */
async function checkOnDisk(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  const tree = Object.fromEntries(Object.entries(files).map(([id, content]) => [`skills/${id}/SKILL.md`, content]));
  const { registry, root } = await openRegistry(tree);
  const listed = new Set(registry.list({ limit: 200 }).skills.map(({ skillId }) => skillId));
  const errors = registry.problems().filter(({ severity }) => severity === 'error');
  const named = new Set(errors.map(({ file: path }) => path));
  const lost = Object.keys(files).filter((id) => !listed.has(id) && !named.has(`${root}/skills/${id}/SKILL.md`));
  expect(lost).toEqual([]);
  const entries = ((await registry.context('')) ?? '').split('\n').filter((line) => line.startsWith('• '));
  expect(entries.length).toBe(listed.size);
}

describe('on disk', () => {
  it('a folder of random files is a catalog and problems', async () => {
    const files = fc.array(fc.oneof(bytes, text, frontmatter), { minLength: 20, maxLength: 20 });
    const property = fc.asyncProperty(files, (contents) =>
      checkOnDisk(Object.fromEntries(contents.map((content, at) => [`s${at}`, content]))),
    );
    await fc.assert(property, { numRuns: 3 });
  });

  it('a folder of monsters is a catalog and problems', async () => {
    await checkOnDisk({ ...MONSTERS, plain: file('') });
  });

  it('a line of 50 MB is refused by its size', async () => {
    const { registry, root } = await openRegistry({ 'skills/huge/SKILL.md': Buffer.alloc(50 * 1024 * 1024, 'a') });
    expect(registry.list().total).toBe(0);
    expect(registry.problems()).toMatchObject([
      { code: 'SKILL_FILE_UNREADABLE', severity: 'error', file: `${root}/skills/huge/SKILL.md` },
    ]);
    expect(registry.problems()[0]?.message).toContain('RESOURCE_TOO_LARGE');
  });
});
