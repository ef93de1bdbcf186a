import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adoptLineEndings, splitLines } from '../../../lib/diff/lines.ts';
import { oddText, runs } from './odd-texts.ts';

describe('a whole proposed text', () => {
  it.each([
    ['takes over CRLF', 'a\r\nb\r\n', 'a\nc\n', 'a\r\nc\r\n'],
    ['takes over CR', 'a\rb\r', 'a\nc\n', 'a\rc\r'],
    ['loses CRLF in a file with LF', 'a\nb\n', 'a\r\nc\r\n', 'a\nc\n'],
    ['takes over the BOM', '\ufeffa\n', 'b\n', '\ufeffb\n'],
    ['loses a BOM the file has not', 'a\n', '\ufeffb\n', 'b\n'],
    ['keeps the mixed ends of unchanged lines', 'a\r\nb\nc\n', 'a\nb\nx\nc\n', 'a\r\nb\nx\nc\n'],
    ['gives new lines the end most lines have', 'a\r\nb\r\nc\n', 'a\nx\nb\nc\n', 'a\r\nx\r\nb\r\nc\n'],
    ['keeps the last line end of the file', 'a\nb\n', 'a\nc', 'a\nc\n'],
    ['may give the file a last line end', 'a\nb', 'a\nc\n', 'a\nc\n'],
    ['need not give it one', 'a\nb', 'a\nc', 'a\nc'],
    ['has its own ends where the file has none', 'a', 'a\r\nb\r\n', 'a\r\nb\r\n'],
    ['may be empty', '\ufeffa\n', '', '\ufeff'],
  ])('%s', (_, current, proposed, adopted) => {
    expect(adoptLineEndings(current, proposed)).toBe(adopted);
  });

  it('is the current text again when only line ends and BOM differ', () => {
    const property = fc.property(oddText, (current) => {
      expect(adoptLineEndings(current, current)).toBe(current);
      const normal = current.replace(/^\ufeff/, '').replace(/\r\n|\r/g, '\n');
      // A second BOM would become the first.
      if (!normal.startsWith('\ufeff')) expect(adoptLineEndings(current, normal)).toBe(current);
    });
    fc.assert(property, runs(300));
  });

  it('keeps its words', () => {
    const words = (text: string): readonly string[] => {
      const { lines } = splitLines(text);
      return lines.map((line) => line.replace(/[\r\n]+$/, ''));
    };
    const property = fc.property(oddText, oddText, (current, proposed) => {
      fc.pre(!proposed.startsWith('\ufeff\ufeff'));
      expect(words(adoptLineEndings(current, proposed))).toEqual(words(proposed));
    });
    fc.assert(property, runs(300));
  });
});
