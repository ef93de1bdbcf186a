import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';
import { ROOT, sourceFiles } from './imports.ts';

/** Code that ships, and what builds it. Data of the package that is written as code, as the rules of inspections, is in it. */
const FOLDERS = ['lib', 'kernel', 'extensions', 'cli', 'scripts'];
/** They are lowered with every piece of work that takes code away, and raised by nothing else than an issue that says by how much. */
const MOST = { lines: 68_839, characters: 3_191_830 };
const COLUMNS = 120;
/** What is no literal in a line that is longer because of one: its name, a call, a condition. */
const BESIDE_A_LITERAL = 60;

const files = FOLDERS.flatMap((folder) => sourceFiles(folder)).map((file) => ({
  file,
  text: readFileSync(join(ROOT, file), 'utf8'),
}));

it('stays within its lines and characters', () => {
  const count = {
    lines: files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0),
    characters: files.reduce((sum, { text }) => sum + text.length, 0),
  };
  expect(count.lines, JSON.stringify(count)).toBeLessThanOrEqual(MOST.lines);
  expect(count.characters, JSON.stringify(count)).toBeLessThanOrEqual(MOST.characters);
});

it('has no line over 120 columns but for one address, one regular expression or one message', () => {
  expect(files.flatMap(longLines)).toEqual([]);
});

it('spreads no literal to save a line', () => {
  const wrong = files.flatMap(({ file, text }) => (/^\s*\.\.\.\{ /m.test(text) ? [file] : []));
  expect(wrong).toEqual([]);
});

// --- internal ---

function longLines({ file, text }: { file: string; text: string }): string[] {
  const lines = text.split('\n');
  if (lines.every(({ length }) => length <= COLUMNS)) return [];
  const literals = literalsOf(file, text);
  let start = 0;
  return lines.flatMap((line, index) => {
    const [from, to] = [start, start + line.length];
    start = to + 1;
    if (line.length <= COLUMNS || /https?:\/\/\S{40}/.test(line)) return [];
    const inLine = literals.map((one) => Math.min(to, one.end) - Math.max(from, one.start));
    const beside = line.trim().length - Math.max(0, ...inLine);
    return beside <= BESIDE_A_LITERAL ? [] : [`${file}:${index + 1}`];
  });
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Texts, templates and regular expressions. */
function literalsOf(file: string, text: string): readonly Span[] {
  const spans: Span[] = [];
  const keep = ({ start, end }: Span): void => void spans.push({ start, end });
  new Visitor({ Literal: keep, TemplateLiteral: keep }).visit(parseSync(file, text).program);
  return spans;
}
