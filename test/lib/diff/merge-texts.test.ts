import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeTexts } from '../../../lib/diff/merge-texts.ts';
import { oddChange, oddText, runs } from './odd-texts.ts';

const BASE = Array.from({ length: 12 }, (_, at) => `line ${at + 1}\n`).join('');
const change = (text: string, line: number, to = `changed ${line}`): string =>
  text.replace(new RegExp(`^line ${line}$`, 'm'), to);

describe('a merge of texts', () => {
  it('takes the changes of both sides', () => {
    expect(mergeTexts(BASE, change(BASE, 2), change(BASE, 9))).toEqual({
      clean: true,
      text: change(change(BASE, 2), 9),
    });
  });

  it('is clean where both sides made the same change', () => {
    const ours = change(change(BASE, 2), 6, 'alike');
    const theirs = change(change(BASE, 6, 'alike'), 11);
    expect(mergeTexts(BASE, ours, theirs)).toEqual({ clean: true, text: change(ours, 11) });
    expect(mergeTexts(BASE, `${BASE}new\n`, `${BASE}new\n`)).toEqual({ clean: true, text: `${BASE}new\n` });
  });

  it('shows where the sides differ, with three lines of context', () => {
    const marked = '<<<<<<< current\nours\n||||||| base\nline 6\n=======\ntheirs\n>>>>>>> proposed\n';
    expect(mergeTexts(BASE, change(BASE, 6, 'ours'), change(BASE, 6, 'theirs'))).toEqual({
      clean: false,
      text: BASE.replace('line 6\n', marked),
      conflict: `@@ line 6 @@
line 3
line 4
line 5
<<<<<<< current
ours
||||||| base
line 6
=======
theirs
>>>>>>> proposed
line 7
line 8
line 9
`,
    });
  });

  it('shows only the conflicting regions, near ones together', () => {
    const base = `${BASE}${BASE.replaceAll('line', 'more')}`;
    const edit = (who: string): string =>
      base.replace('line 2\n', `${who}\n`).replace('line 7\n', `${who}\n`).replace('more 9\n', `${who}\n`);
    const merged = mergeTexts(base, edit('ours').replace('more 2\n', 'clean\n'), edit('theirs'));
    const { conflict } = merged as { conflict: string };
    expect(conflict.match(/^@@.*/gm)).toEqual(['@@ line 2 @@', '@@ line 21 @@']);
    expect(conflict.match(/^<<<<<<</gm)).toHaveLength(3);
    expect(conflict).toContain('line 6\n<<<<<<<');
    expect(conflict).not.toContain('clean');
  });

  it('is a conflict where one side removed what the other changed, or both added at one place', () => {
    expect(mergeTexts(BASE, BASE.replace('line 6\n', ''), change(BASE, 6))).toMatchObject({ clean: false });
    expect(mergeTexts(BASE, `${BASE}ours\n`, `${BASE}theirs\n`)).toMatchObject({ clean: false });
    expect(mergeTexts('', 'ours\n', 'theirs\n')).toMatchObject({ clean: false });
  });

  it('merges line ends and BOM each for itself', () => {
    const windows = `\ufeff${BASE.replaceAll('\n', '\r\n')}`;
    const merged = mergeTexts(BASE, windows, `${change(BASE, 3)}new\n`);
    expect(merged).toEqual({ clean: true, text: `${change(windows, 3).replace('line 3\r', 'changed 3\r')}new\r\n` });
    const converted = mergeTexts(BASE, change(BASE, 3), windows);
    expect((converted as { text: string }).text).toContain('line 2\r\nchanged 3\nline 4\r\n');
  });

  it('gives a line an end when another comes to stand behind it', () => {
    expect(mergeTexts('a\nb\nc', 'A\nb\nc', 'a\nb\nc\nd\n')).toEqual({ clean: true, text: 'A\nb\nc\nd\n' });
  });

  it('gives one side byte for byte where only that one changed, or both alike', () => {
    const property = fc.property(oddChange, ([base, changed]) => {
      expect(mergeTexts(base, base, changed)).toEqual({ clean: true, text: changed });
      expect(mergeTexts(base, changed, base)).toEqual({ clean: true, text: changed });
      expect(mergeTexts(base, changed, changed)).toEqual({ clean: true, text: changed });
    });
    fc.assert(property, runs(300));
  });

  it('gives a text for any three, and shows every conflict in it', () => {
    const property = fc.property(oddChange, oddText, ([base, changed], other) => {
      const merged = mergeTexts(base, changed, other);
      expect(typeof merged.text).toBe('string');
      if (merged.clean) return;
      const marks = (text: string) => text.match(/^\ufeff?(<{7} current|\|{7} base|>{7} proposed)\r?$/gm)?.length;
      expect(merged.conflict).toMatch(/^<<<<<<< current\n/m);
      expect(marks(merged.text)).toBe(marks(merged.conflict));
    });
    fc.assert(property, runs(300));
  });

  it('shows a conflict in a text with the line ends it has, and where the last line has none', () => {
    const { text } = mergeTexts('a\r\nb', 'a\r\nours', 'a\r\ntheirs');
    expect(text).toBe('a\r\n<<<<<<< current\r\nours\r\n||||||| base\r\nb\r\n=======\r\ntheirs\r\n>>>>>>> proposed\r\n');
  });
});
