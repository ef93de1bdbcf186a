import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isTested, MARKS, readDesigns, seedsPage } from './page.ts';

/** How many entries each table has. */
const ROWS = { '1a': 41, '2a': 59, '3a': 40, '4a': 32, '5a': 16 };
const WEAKNESSES = { '1d': 8, '2d': 12, '3d': 11, '4d': 14, '5d': 9 };
const LESSONS = 12;

const { designs, lessons } = readDesigns();
const all = [...designs.flatMap(({ rows, weaknesses }) => [...rows, ...weaknesses]), ...lessons];
const idsOf = (tables: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(tables).flatMap(([table, count]) => Array.from({ length: count }, (_, at) => `${table}.${at + 1}`));

it('docs/seeds.md is what npm run seeds writes', () => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/seeds.md'), 'utf8')).toBe(seedsPage(designs));
});

it('has an entry for every row, weakness and lesson, in their order, and no other one', () => {
  expect(designs.flatMap(({ rows }) => rows.map(({ id }) => id))).toEqual(idsOf(ROWS));
  expect(designs.flatMap(({ weaknesses }) => weaknesses.map(({ id }) => id))).toEqual(idsOf(WEAKNESSES));
  expect(lessons.map(({ id }) => id)).toEqual(idsOf({ '8': LESSONS }));
  expect(designs.flatMap(({ rows }) => rows).filter(({ mark }) => !MARKS.includes(mark))).toEqual([]);
});

it('shows with a test what is here, and leaves out no row that stands in the document of a design', () => {
  const untested = all.filter(({ how, proofs }) => how !== 'left out' && proofs.length === 0);
  expect(untested.map(({ id }) => id)).toEqual([]);
  expect(all.filter(({ mark, how }) => mark.includes('D') && how === 'left out').map(({ id }) => id)).toEqual([]);
});

it('says of every row that is not met what is here instead, and of every weakness what is done', () => {
  expect(all.filter(({ how, why }) => how !== 'met' && why === '').map(({ id }) => id)).toEqual([]);
  const weaknesses = designs.flatMap((design) => design.weaknesses);
  expect(weaknesses.filter(({ why }) => why === '').map(({ id }) => id)).toEqual([]);
});

it('names only tests that are there and are not skipped', () => {
  expect(
    all.flatMap(({ id, proofs }) => proofs.filter((proof) => !isTested(proof)).map((proof) => [id, proof])),
  ).toEqual([]);
});

it('goes through public doors only', () => {
  const tests = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  const inner = tests.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    return [...text.matchAll(/from '((?:\.\.\/){3}(?:extensions|kernel|lib|cli)\/.*)'/g)].map(
      ([, path]) => `${file} ${path}`,
    );
  });
  expect(inner).toEqual([]);
});
