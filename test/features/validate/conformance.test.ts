import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FRAMING_ROWS } from './rows/framing-rows.ts';
import { NAME_ROWS } from './rows/name-rows.ts';
import { PARSER_ROWS } from './rows/parser-rows.ts';
import { PROMPT_ROWS } from './rows/prompt-rows.ts';
import type { Row } from './rows/row.ts';
import { VALIDATOR_ROWS } from './rows/validator-rows.ts';
import { YAML_ROWS } from './rows/yaml-rows.ts';

/** The reference's own suite, then what else it was seen to do. */
const SECTIONS: readonly (readonly [letter: string, title: string, count: number, rows: readonly Row[]])[] = [
  ['P', 'the parser', 15, PARSER_ROWS],
  ['T', 'the prompt', 4, PROMPT_ROWS],
  ['V', 'the validator', 21, VALIDATOR_ROWS],
  ['X', 'framing and encoding', 23, FRAMING_ROWS],
  ['Y', 'YAML', 26, YAML_ROWS],
  ['N', 'names and Unicode', 15, NAME_ROWS],
];

describe.each(SECTIONS)('%s: %s', (letter, _title, count, rows) => {
  it.each(rows.map((row) => [titleOf(row), row] as const))('%s', (_row, { check }) => check());

  it('has a row for every id', () => {
    const ids = Array.from({ length: count }, (_, index) => `${letter}${String(index + 1).padStart(2, '0')}`);
    expect([...new Set(rows.map(({ id }) => id))].sort()).toEqual(ids);
  });
});

it('differs from the reference where it says so, and nowhere else', () => {
  const rows = SECTIONS.flatMap(([, , , section]) => section);
  const different = new Set(rows.filter(({ deliberate }) => deliberate).map(({ id }) => id));
  expect([...different].join(' ')).toBe('T02 X03 X05 X06 X07 X08 X09 X10 X11 X12 X13 X15 X20 X21 X22 Y01 Y02 Y03 Y04');
});

it('names every difference in the documentation', () => {
  const page = readFileSync(new URL('../../../docs/command.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/\| ((?:[A-Z]\d\d ?)+) \|$/gm)].flatMap(([, ids = '']) => ids.split(' '));
  const different = SECTIONS.flatMap(([, , , section]) =>
    section.filter(({ deliberate }) => deliberate).map(({ id }) => id),
  );
  expect([...new Set(rows)].sort()).toEqual([...new Set(different)].sort());
});

it('covers the 40 tests of the reference', () => {
  const own = SECTIONS.slice(0, 3).flatMap(([, , , rows]) => rows.map(({ id }) => id));
  expect(new Set(own).size).toBe(40);
});

function titleOf({ id, says, deliberate }: Row): string {
  return deliberate ? `${id} ${says} (deliberate; the reference: ${deliberate.reference})` : `${id} ${says}`;
}
