import { describe, expect, it } from 'vitest';
import { foldLine } from '../../../lib/text/line.ts';
import { findHiddenText, withNote, withoutHidden } from '../../../lib/text/without-hidden.ts';
import { tags } from '../../helpers/hidden.ts';
import { fc } from '../../helpers/properties.ts';

const SCOTLAND = `\u{1f3f4}${tags('gbsct')}\u{e007f}`;

describe('withoutHidden', () => {
  it.each([
    ['leaves plain text', 'Boil water. 日本 é', 'Boil water. 日本 é', 0],
    ['takes tag characters out', `Boil ${tags('and tell nobody')}water.`, 'Boil water.', 15],
    ['takes out the tag that begins a language', 'a\u{e0001}b', 'ab', 1],
    ['leaves the flags of Scotland, Wales and England', `${SCOTLAND}!`, `${SCOTLAND}!`, 0],
    ['takes words out of what looks like a flag', `\u{1f3f4}${tags('run')}\u{e007f}`, '\u{1f3f4}', 4],
    ['takes out what follows a flag', `${SCOTLAND}${tags('run')}`, SCOTLAND, 3],
    [
      'leaves emoji and their selectors',
      '❤\ufe0f\u200d🔥 1\ufe0f\u20e3 葛\u{e0100}',
      '❤\ufe0f\u200d🔥 1\ufe0f\u20e3 葛\u{e0100}',
      0,
    ],
    ['takes out selectors after another one', '😊\ufe0f\u{e0158}\u{e0155}\u{e015c}', '😊\ufe0f', 3],
    ['takes out selectors parted by tags', '😊\ufe0f\u{e0041}\ufe0f\u{e0042}\ufe0f', '😊\ufe0f', 4],
    ['leaves overrides of direction, which a person sees', 'a\u202eb', 'a\u202eb', 0],
  ])('%s', (_, text, kept, leftOut) => {
    expect(withoutHidden(text)).toEqual({ text: kept, leftOut });
    expect(withoutHidden(kept)).toEqual({ text: kept, leftOut: 0 });
  });

  it('leaves nothing to take out, whatever the text', () => {
    const piece = fc.constantFrom(
      'a',
      ' ',
      '😊',
      '\u{1f3f4}',
      '\ufe0f',
      '\u{e0100}',
      ...tags('gbsctwlen'),
      '\u{e007f}',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { text, leftOut } = withoutHidden(pieces.join(''));
        expect([...text].length + leftOut).toBe(pieces.length);
        expect(withoutHidden(text).leftOut).toBe(0);
      }),
    );
  });
});

it('says in the text how many were left out, and nothing where none were', () => {
  expect(withNote({ text: 'Tea.', leftOut: 0 })).toBe('Tea.');
  expect(withNote({ text: 'Tea.', leftOut: 1 })).toBe('Tea.\n\n[1 hidden character was left out of this text.]');
  expect(withNote({ text: 'Tea.', leftOut: 12 })).toMatch(/\[12 hidden characters were left out of this text\.\]$/);
});

it.each([
  ['nothing', 'Tea \u200f', undefined],
  ['tags', `ab${tags('run')}`, { hidden: 3, says: 'run', turned: 0, firstHidden: 2, firstTurned: -1 }],
  ['turned text', 'a\u202eb\u2066', { hidden: 0, says: '', turned: 2, firstHidden: -1, firstTurned: 1 }],
])('finds %s', (_, text, found) => {
  expect(findHiddenText(text)).toEqual(found);
});

describe('foldLine and joiners', () => {
  it.each([
    ['a run of joiners goes', `a${'\u200d\u200c'.repeat(500)}b`, 'ab'],
    ['joiners between letters of ASCII go', 'r\u200du\u200cn', 'run'],
    ['of a run between letters that are joined nothing is left', `م${'\u200c'.repeat(500)}خ`, 'مخ'],
    ['a selector after a letter goes, and the joiner after it', 'x\ufe0f\u200d👩', 'x👩'],
    ['emoji stay whole', '❤\ufe0f\u200d🔥 👩🏽\u200d❤\ufe0f\u200d👨🏿', '❤\ufe0f\u200d🔥 👩🏽\u200d❤\ufe0f\u200d👨🏿'],
  ])('%s', (_, text, folded) => {
    expect(foldLine(text)).toBe(folded);
  });

  it('folds the same twice, whatever stands beside a joiner', () => {
    const piece = fc.constantFrom(
      'a',
      '1',
      ' ',
      'م',
      '👩',
      '\u200c',
      '\u200d',
      '\ufe0f',
      '\u200b',
      '\ud83d',
      '\u{e0041}',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const folded = foldLine(pieces.join(''));
        expect(foldLine(folded)).toBe(folded);
      }),
      { numRuns: 2000 },
    );
  });
});
