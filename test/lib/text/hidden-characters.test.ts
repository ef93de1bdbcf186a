import { describe, expect, it } from 'vitest';
import { hiddenCharacters, oneLine, showHidden } from '../../../lib/text/hidden-characters.ts';
import { fc } from '../../helpers/properties.ts';
import { nastyText } from '../diff/nasty-text.ts';

describe('showHidden', () => {
  it.each([
    ['leaves letters, blanks, tabs and line feeds', 'a b\tc\nd é 日本 ⟦x⟧', 'a b\tc\nd é 日本 ⟦x⟧'],
    ['shows controls', 'a\0b\x1b[31mc\x7f\x9b\r', 'a⟦U+0000⟧b⟦U+001B⟧[31mc⟦U+007F⟧⟦U+009B⟧⟦U+000D⟧'],
    ['shows bidi marks', 'a\u202eb\u2066c\u061c', 'a⟦U+202E⟧b⟦U+2066⟧c⟦U+061C⟧'],
    ['shows zero-width characters', 'a\u200bb\u2060\ufeff\u00ad', 'a⟦U+200B⟧b⟦U+2060⟧⟦U+FEFF⟧⟦U+00AD⟧'],
    ['shows tag characters', 'a\u{e0041}', 'a⟦U+E0041⟧'],
    ['shows separators of lines and paragraphs', 'a\u2028b\u2029', 'a⟦U+2028⟧b⟦U+2029⟧'],
    ['shows lone surrogates', '\ud83da\ude00', '⟦U+D83D⟧a⟦U+DE00⟧'],
    ['leaves emoji and their joiners', '👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f', '👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f'],
    ['leaves the joiners of Persian and Hindi', 'می\u200cخواهم क्\u200dष', 'می\u200cخواهم क्\u200dष'],
    ['shows a joiner between letters of ASCII', 'a\u200db\u200cc', 'a⟦U+200D⟧b⟦U+200C⟧c'],
    ['shows joiners in a row', '💻\u200d\u200d💻', '💻⟦U+200D⟧⟦U+200D⟧💻'],
    ['shows a selector after a letter', 'a\ufe0f', 'a⟦U+FE0F⟧'],
  ])('%s', (_, text, shown) => {
    expect(showHidden(text)).toBe(shown);
    expect([...hiddenCharacters(shown)], 'nothing is left to show').toEqual([]);
  });
});

describe('oneLine', () => {
  it.each([
    ['folds line ends and blanks', ' a\r\n\t b \u2028c ', 100, 'a b c'],
    ['shows what is hidden', 'a\x1b[2Jb\u202e', 100, 'a⟦U+001B⟧[2Jb⟦U+202E⟧'],
    ['cuts what is long', 'word '.repeat(100), 20, 'word word word word…'],
  ])('%s', (_, text, limit, line) => {
    expect(oneLine(text, limit)).toBe(line);
  });

  it('never breaks a line, hides a character or gets long', () => {
    fc.assert(
      fc.property(nastyText, fc.integer({ min: 1, max: 200 }), (text, limit) => {
        const line = oneLine(text, limit);
        expect(line).not.toMatch(/[\n\t]/);
        expect([...hiddenCharacters(line)]).toEqual([]);
        expect(line.length).toBeLessThanOrEqual(limit + 1);
      }),
    );
  });
});
