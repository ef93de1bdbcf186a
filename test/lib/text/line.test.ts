import { describe, expect, it } from 'vitest';
import { codePoints, foldLine, needsFolding, shorten } from '../../../lib/text/line.ts';

describe('foldLine', () => {
  it.each([
    ['line ends and tabs fold to one blank', 'a\r\n\tb\n\n c', 'a b c'],
    ['line and paragraph separators fold', 'a\u2028b\u2029c\u0085d', 'a b cd'],
    ['white space of other kinds folds', 'a\u00a0\u2003\u3000b', 'a b'],
    ['both ends are trimmed', ' \n a \t', 'a'],
    ['controls go', 'a\u0000\u0007b\u001b[31mc\u007f\u009bd', 'ab[31mcd'],
    ['zero-width space and word joiner go', 'a\u200bb\u2060c\u00add', 'abcd'],
    ['bidi marks, overrides and isolates go', 'a\u200e\u200f\u061c\u202a\u202e\u202cb\u2066\u2069c', 'abc'],
    ['tag characters go', 'a\u{e0001}\u{e0041}\u{e007f}b', 'ab'],
    ['fillers and variation selectors go', 'a\u3164\u115f\ufe00\u{e0100}b', 'ab'],
    ['interlinear marks go', 'a\ufff9b\ufffac\ufffbd', 'abcd'],
    ['no two blanks are left where something went', 'a \u200b \u0007 b', 'a b'],
    ['nothing is left of nothing visible', '\u200b \u202e\u0000', ''],
    ['the joiners of Persian and Hindi stay', 'می\u200cخواهم क्\u200dष', 'می\u200cخواهم क्\u200dष'],
    ['emoji stay whole', '👩\u200d💻 ❤\ufe0f 👍🏽 🇩🇪', '👩\u200d💻 ❤\ufe0f 👍🏽 🇩🇪'],
    ['letters beyond the first plane stay', '𠮷野家', '𠮷野家'],
    ['a lone high surrogate is replaced', 'a\ud83db', 'a\ufffdb'],
    ['a lone low surrogate is replaced', 'a\ude00b', 'a\ufffdb'],
    ['surrogates in the wrong order are replaced', '\ude00\ud83d', '\ufffd\ufffd'],
    ['halves do not join when what parts them goes', 'a\udb40\u200b\udc41b', 'a\ufffd\ufffdb'],
  ])('%s', (_, text, folded) => {
    expect(foldLine(text)).toBe(folded);
    expect(foldLine(folded), 'folding twice is folding once').toBe(folded);
  });
});

it.each([
  ['code-review', false],
  ['日本語', false],
  ['می\u200cخواهم', false],
  ['a b', false],
  ['a  b', true],
  ['a\tb', true],
  ['a\u200bb', true],
  ['a ', true],
  ['a\u0000', true],
])('%j has something invisible: %s', (text, answer) => {
  expect(needsFolding(text)).toBe(answer);
});

it('counts code points, not code units', () => {
  expect(['', 'abc', '😀', '👩\u200d💻', '日本'].map(codePoints)).toEqual([0, 3, 1, 3, 2]);
});

describe('shorten', () => {
  it.each([
    ['leaves what fits', 'one two', 7, 'one two'],
    ['cuts at the end of a word', 'alpha beta gamma', 12, 'alpha beta…'],
    ['keeps a word that ends at the limit', 'alpha beta gamma', 10, 'alpha beta…'],
    ['cuts inside a word that is most of it', 'a verylongwordindeed', 10, 'a verylong…'],
    ['cuts a text without blanks', 'x'.repeat(20), 5, 'xxxxx…'],
    ['drops punctuation before the ellipsis', 'alpha beta, gamma', 12, 'alpha beta…'],
    ['never halves a surrogate pair', 'ab😀😀', 3, 'ab…'],
  ])('%s', (_, text, limit, short) => {
    expect(shorten(text, limit)).toBe(short);
  });

  it('leaves at most the limit and an ellipsis', () => {
    const text = 'Reviews code, 日本語のテキスト and 😀 emoji; then-some-more-without-a-break. '.repeat(3).trim();
    for (let limit = 1; limit <= text.length; limit++) {
      const short = shorten(text, limit);
      expect(short.length).toBeLessThanOrEqual(limit + 1);
      expect(Buffer.from(short).toString(), 'no half of a character').toBe(short);
    }
  });
});
