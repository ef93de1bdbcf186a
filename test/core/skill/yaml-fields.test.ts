import { describe, expect, it } from 'vitest';
import { readYamlFields } from '../../../extensions/skill_registry/core/skill/yaml-fields.ts';

const lines = (...parts: readonly string[]): string => `${parts.join('\n')}\n`;

describe('values that YAML refuses', () => {
  it.each([
    ['an unquoted colon', 'Use when: reviewing. Not for: x', 'Use when: reviewing. Not for: x'],
    ['a colon at the end', 'ends with:', 'ends with:'],
    ['a leading backtick', '`code` is reviewed', '`code` is reviewed'],
    ['a leading at sign', '@mentions are read', '@mentions are read'],
    ['a leading percent sign', '%d is printed', '%d is printed'],
    ['brackets in prose', '[a] [b] and so on', '[a] [b] and so on'],
    ['a bracket that is never closed', '[draft reviews code', '[draft reviews code'],
    ['a brace that is never closed', '{"a": {"b": 1}', '{"a": {"b": 1}'],
    ['quotes inside double quotes', '"it says "hello" twice"', 'it says "hello" twice'],
    ['quotes inside single quotes', "'it's done'", "it's done"],
    ['words after a closing quote', '"Review" and more', '"Review" and more'],
    ['a double quote that is never closed', '"Review code', '"Review code'],
    ['a single quote that is never closed', "'Review code", "'Review code"],
    ['an unknown alias', '*everything* is bold', '*everything* is bold'],
  ])('are taken as they stand: %s', (_, written, read) => {
    const fields = readYamlFields(lines('name: a', `description: ${written}`, 'tags: [x, y]'));
    expect(fields.error).toBeUndefined();
    expect(fields.data).toEqual({ name: 'a', description: read, tags: ['x', 'y'] });
    expect(fields.repaired).toEqual(['description']);
  });

  it.each([
    ['starts on the line of the key', ['description: First line', '  second: third', '  fourth']],
    ['starts below the key', ['description:', '  First line', '  second: third', '  fourth']],
    ['has several colons', ['description: First: line', '  second: third', '  fourth']],
  ])('are joined to one line where a plain value %s', (_, written) => {
    const fields = readYamlFields(lines('name: a', ...written, 'tags: [x]'));
    expect(fields.data).toMatchObject({ name: 'a', tags: ['x'] });
    expect(String(fields.data.description)).toMatch(/^First:? line second: third fourth$/);
    expect(fields.repaired).toEqual(['description']);
  });

  it('are each repaired where there are several, and leave line numbers as they were', () => {
    const text = lines(
      'name: a',
      'description: x: y',
      '  and: z',
      'license: `MIT`',
      'argument-hint: [a] [b]',
      'end: 1',
    );
    const fields = readYamlFields(text);
    expect(fields.data).toEqual({
      name: 'a',
      description: 'x: y and: z',
      license: '`MIT`',
      'argument-hint': '[a] [b]',
      end: 1,
    });
    expect(fields.repaired).toEqual(['description', 'license', 'argument-hint']);
    expect(['name', 'description', 'license', 'argument-hint', 'end'].map(fields.lineOf)).toEqual([1, 2, 4, 5, 6]);
  });

  it('cost a nested field its structure, not the fields around it', () => {
    const text = lines('description: d', 'metadata:', '  author: a: b', '  x: y', 'disable-model-invocation: true');
    expect(readYamlFields(text)).toMatchObject({
      data: { description: 'd', metadata: 'author: a: b x: y', 'disable-model-invocation': true },
      repaired: ['metadata'],
    });
  });
});

describe('values that are good', () => {
  it.each([
    ['quoted colons', 'description: "a: b"', 'a: b'],
    ['folded blocks', 'description: >\n  one\n  two: three', 'one two: three\n'],
    ['literal blocks', 'description: |\n  one\n  - two', 'one\n- two\n'],
    ['plain text over several lines', 'description: one\n  two\n  three', 'one two three'],
    ['addresses', 'description: see https://example.com/a#b', 'see https://example.com/a#b'],
    ['times', 'description: at 10:30', 'at 10:30'],
    ['comments', 'description: one # two', 'one'],
    ['tabs after the key', 'description:\tone', 'one'],
  ])('are not touched: %s', (_, text, description) => {
    const fields = readYamlFields(`${text}\n`);
    expect(fields).toMatchObject({ data: { description }, repaired: [] });
    expect(fields.error).toBeUndefined();
  });

  it.each(['\n', '\r\n', '\r'])('are the same whether lines end with %j', (end) => {
    const text = ['name: a', 'description: |', '  one', '  two', 'metadata: {x: [1]}', ''].join(end);
    const fields = readYamlFields(text);
    expect(fields).toMatchObject({ data: { description: 'one\ntwo\n', metadata: { x: [1] } }, repaired: [] });
    expect(fields.lineOf('metadata')).toBe(5);
  });

  it('may use anchors and a few aliases', () => {
    expect(readYamlFields('a: &x [1, 2]\nb: *x\n').data).toEqual({ a: [1, 2], b: [1, 2] });
  });

  it('never reach the prototype', () => {
    const { data } = readYamlFields('__proto__: {polluted: true}\nconstructor: x\n');
    expect(Object.keys(data)).toEqual(['__proto__', 'constructor']);
    expect((data as { polluted?: unknown }).polluted).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

const bomb = lines(
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...[...'bcdefghi'].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(', ')}]`),
);

describe('what cannot be read', () => {
  it.each([
    ['closing braces without opening ones', '}}} {{{\n: : :\n- x\n', 3],
    ['a merge conflict', '<<<<<<< ours\nx: 1\n=======\n>>>>>>> theirs\n', 3],
    ['a duplicate key', 'tags: a\ntags: b\n', 4],
    ['a tab as indentation below an indented line', 'metadata:\n  a: 1\n\tb: 2\n\n\t- c\n', 5],
    ['a broken list at the left edge', 'tags:\n- `x`\n- b\n', 4],
    ['an alias bomb', bomb, 1],
    ['an alias inside its own anchor', 'x: &x [*x]\n', 1],
    ['a map inside itself', 'x: &x {y: *x}\n', 1],
    ['10,000 open brackets and as many closed', `x: ${'['.repeat(10_000)}${']'.repeat(10_000)}\n`, undefined],
    ['10,000 nested maps', `x: ${'{a: '.repeat(10_000)}${'}'.repeat(10_000)}\n`, undefined],
    ['10,000 nested lists', `x:\n  ${'- '.repeat(10_000)}a\n`, undefined],
    ['4,000 broken lines', Array.from({ length: 4000 }, (_, at) => `k${at}: a: b\n`).join(''), undefined],
  ])('keeps its name, description and invocation lines: %s', (_, text, line) => {
    const hidden = 'disable-model-invocation: true\nuser-invocable: no\n';
    const fields = readYamlFields(`name: a\ndescription: 'Does: it.'\n${text}${hidden}`);
    expect(fields.data).toEqual({
      name: 'a',
      description: 'Does: it.',
      'disable-model-invocation': 'true',
      'user-invocable': 'no',
    });
    // What is given up on as a whole has no line of its own.
    expect(fields.error).toEqual({ line: line ?? expect.any(Number), message: expect.any(String) });
    expect(fields.error?.message).not.toContain('\n');
    expect(fields.repaired).toEqual([]);
    expect(fields.lineOf('description')).toBe(2);
  });

  it('keeps the indented lines of a description, and takes no block sign for one', () => {
    const text = 'description: >-\n  One\n  two: three\n}{\nname: |\nx: y: z\n';
    expect(readYamlFields(text).data).toEqual({ description: 'One two: three' });
  });

  it.each([
    ['- a\n- b\n', 'a list'],
    ['words\n', 'text'],
    ['42\n', 'a number'],
    ['"text"\n', 'text'],
    ['# a comment\n', 'nothing'],
  ])('is said to be no mapping: %j', (text, kind) => {
    expect(readYamlFields(text)).toMatchObject({
      data: {},
      error: { message: `expected a mapping of fields, got ${kind}`, line: 1, notMapping: true },
    });
  });
});
