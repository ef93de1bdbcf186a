import { countTokens as countWhole } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { countTokens, loadTokenCounter } from '../../../lib/text/index.ts';

const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
const PROSE = 'Review the change for correctness, then for names; a reader meets the names first. ';
const CODE = 'export function add(a: number, b: number): number {\n  return a + b;\n}\n\n';

/** CJK characters without a repetition nearby. */
function hanRun(length: number): string {
  return Array.from({ length }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 6000))).join('');
}

describe('a text of at most 1,000 characters counts as the tokenizer counts it:', () => {
  test.each([
    '',
    'a',
    'hello world',
    PROSE.repeat(12),
    '多个技能',
    '👩‍👩‍👧 ok',
    '\n\n  \t',
    '<|im_start|>system<|im_end|><|endoftext|>',
  ])('%j', async (text) => {
    expect(await countTokens(text)).toBe(text === '' ? 0 : countWhole(text, AS_TEXT));
  });
});

describe('a long text counts within 1 % of the tokenizer:', () => {
  test.each<[what: string, text: string]>([
    ['prose', PROSE.repeat(500)],
    ['code', CODE.repeat(500)],
    ['100,000 CJK characters with punctuation', '一个好的技能说明何时使用它，怎样使用它。'.repeat(5_000)],
    ['CJK characters in one run', hanRun(3_000)],
    ['special tokens', '<|im_start|> '.repeat(5_000)],
    ['lines without spaces', 'aGVsbG8gd29ybGQ=\n'.repeat(2_000)],
    ['emoji', '😀😅'.repeat(2_000)],
  ])('%s', async (_, text) => {
    const whole = countWhole(text, AS_TEXT);
    const counted = await countTokens(text);
    expect(Math.abs(counted - whole) / whole).toBeLessThan(0.01);
  });
});

test('200,000 times one letter is 25,000 tokens', async () => {
  expect(await countTokens('a'.repeat(200_000))).toBe(25_000);
});

test('100,000 times one CJK character is 100,000 tokens', async () => {
  expect(await countTokens('技'.repeat(100_000))).toBe(100_000);
});

test.each([998, 999, 1000])('a surrogate pair at a cut stays whole: %i letters before it', async (letters) => {
  const [before, after] = ['a'.repeat(letters), 'b'.repeat(500)];
  const pieces = letters === 998 ? [`${before}😀`, after] : [before, `😀${after}`];
  const expected = pieces.reduce((sum, piece) => sum + countWhole(piece, AS_TEXT), 0);
  expect(await countTokens(`${before}😀${after}`)).toBe(expected);
});

test('the counter itself gives the same and is loaded once', async () => {
  const [one, two] = await Promise.all([loadTokenCounter(), loadTokenCounter()]);
  expect(one).toBe(two);
  expect(one(PROSE)).toBe(await countTokens(PROSE));
});
