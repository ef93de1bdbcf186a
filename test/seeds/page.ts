import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'yaml';

const HERE: string = import.meta.dirname;
const TESTS: string = join(HERE, '..');

/** How a promise of a design is kept here. `left out` is for rows of later code alone. */
export type How = 'met' | 'differently' | 'in part' | 'left out';

/** D: in the document of the design. M: in its code. L: in later code. A: in code that has moved. D≠: document and code differ. */
export const MARKS: readonly string[] = ['D', 'M', 'L', 'A', 'D,M', 'D,L', 'D≠M', 'D≠L'];

/** A title in a test file, whose path is relative to `test/`. */
export interface Proof {
  readonly file: string;
  readonly title: string;
}

/** One row of a design, one of its weaknesses, or one lesson. */
export interface Entry {
  /** `1a.7`: row 7 of the first design; `1d.7`: its seventh weakness; `8.7`: lesson 7. */
  readonly id: string;
  /** Where a row comes from, see `MARKS`; empty for weaknesses and lessons. */
  readonly mark: string;
  /** What was promised, or what is wrong. */
  readonly promise: string;
  readonly how: How;
  /** What is here instead and why; empty where a promise is met as it stands. */
  readonly why: string;
  readonly proofs: readonly Proof[];
}

export interface Design {
  readonly title: string;
  /** The design's own document. */
  readonly from: string;
  readonly rows: readonly Entry[];
  readonly weaknesses: readonly Entry[];
}

/** The designs in the order of their rows, and the lessons of all of them. */
export function readDesigns(): { readonly designs: readonly Design[]; readonly lessons: readonly Entry[] } {
  const titled = titlesById();
  const entries = (written: Written = {}): readonly Entry[] =>
    Object.entries(written).map(([id, fields]) => entryOf(id, fields, titled));
  const designs = readdirSync(HERE, { withFileTypes: true })
    .filter((folder) => folder.isDirectory())
    .map(({ name }) => readYaml(join(name, 'rows.yaml')) as WrittenDesign)
    .map(({ title, from, rows, weaknesses }) => ({ title, from, rows: entries(rows), weaknesses: entries(weaknesses) }))
    .sort((a, b) => ((a.rows[0]?.id ?? '') < (b.rows[0]?.id ?? '') ? -1 : 1));
  return { designs, lessons: entries(readYaml('lessons.yaml') as Written) };
}

/** Whether a test of this title stands in the file and is not skipped. */
export function isTested({ file, title }: Proof): boolean {
  return titlesIn(file).includes(title);
}

/** The text of docs/seeds.md. */
export function seedsPage(designs: readonly Design[]): string {
  const counts = designs.map(({ title, rows }) => countLine(title, rows));
  return [
    '# The five designs, row by row',
    '',
    'What each design promises, and what is here where that is not the same. **differently**: its purpose is met in another way. **in part**: a part is',
    'missing. **left out**: never a row of the document. D: the row is in the document of the design, M: in its code, L: in later code, A: in code that',
    'has moved. Every row but those left out has a test. `npm run seeds` writes this page from `test/seeds`, which also has weaknesses and lessons.',
    '',
    '| design | rows | met | differently | in part | left out | rows D, all tested |',
    '|---|---|---|---|---|---|---|',
    ...counts,
    countLine(
      'All',
      designs.flatMap(({ rows }) => rows),
    ),
    ...designs.flatMap(designText),
    '',
  ].join('\n');
}

// --- internal ---

type Written = Readonly<Record<string, WrittenEntry>>;

interface WrittenDesign extends Pick<Design, 'title' | 'from'> {
  readonly rows: Written;
  readonly weaknesses: Written;
}

const KEYS = ['mark', 'promise', 'differently', 'in part', 'left out', 'instead', 'test'];

/** At most one of `differently`, `in part` and `left out`; none of them: met. A weakness and a lesson have no mark. */
interface WrittenEntry {
  readonly mark?: string;
  readonly promise: string;
  readonly differently?: string;
  readonly 'in part'?: string;
  readonly 'left out'?: string;
  /** Of a weakness: what is done here. */
  readonly instead?: string;
  /** `path below test/ or test/slow/: title`, when the test is not one of `test/seeds` whose title begins with the id. */
  readonly test?: string | readonly string[];
}

/** All values are texts: as a number, 8.10 would be 8.1. */
function readYaml(file: string): unknown {
  return parse(readFileSync(join(HERE, file), 'utf8'), { schema: 'failsafe' });
}

function entryOf(id: string, written: WrittenEntry, titled: ReadonlyMap<string, readonly Proof[]>): Entry {
  const unknown = Object.keys(written).filter((key) => !KEYS.includes(key));
  if (unknown.length > 0)
    throw new Error(`${id}: unknown key ${JSON.stringify(unknown[0])}; quote a text with a comma.`);
  const how = (['differently', 'in part', 'left out'] as const).find((key) => written[key] !== undefined) ?? 'met';
  const why = written[how as 'differently'] ?? written.instead ?? '';
  const elsewhere = [written.test ?? []].flat().map((text): Proof => {
    const [file = '', ...rest] = text.split(': ');
    const title = rest.join(': ');
    // A test that takes long lies below slow/ by the same path.
    const found = [file, join('slow', file)].find((one) => isTested({ file: one, title }));
    return { file: found ?? file, title };
  });
  const proofs = [...(titled.get(id) ?? []), ...elsewhere];
  return { id, mark: written.mark ?? '', promise: written.promise, how, why, proofs };
}

/** The tests of `test/seeds` by the ids their titles begin with: `1a.7, 1d.2 files may lie in any folder`. */
function titlesById(): ReadonlyMap<string, readonly Proof[]> {
  const found = new Map<string, Proof[]>();
  const files = readdirSync(HERE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  for (const file of files.map((name) => relative(TESTS, join(HERE, name))).sort()) {
    for (const title of titlesIn(file)) {
      const [ids = ''] = /^(?:(?:[1-5][ad]|8)\.\d+(?:, | (?=\S)))+/.exec(title) ?? [];
      for (const id of ids.split(/, | /).filter(Boolean)) {
        found.set(id, [...(found.get(id) ?? []), { file, title }]);
      }
    }
  }
  return found;
}

const titles = new Map<string, readonly string[]>();

/** The titles of the tests in a file; those that are skipped are none. */
function titlesIn(file: string): readonly string[] {
  const path = join(TESTS, file);
  if (!existsSync(path)) return [];
  const known = titles.get(file) ?? titlesOf(readFileSync(path, 'utf8'));
  titles.set(file, known);
  return known;
}

function titlesOf(text: string): readonly string[] {
  if (/\bdescribe\.(?:skip|todo)/.test(text)) return [];
  // A test, one that needs a terminal, or the second pair of brackets of an `each`.
  const found = text.matchAll(/(?:^\s*(?:it|test|onTerminal)|^\s*\]?\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/gm);
  return [...found].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1'));
}

function designText({ title, from, rows }: Design): readonly string[] {
  return ['', `## ${title}`, '', from, '', ...rows.map(lineOf)];
}

/** `- 1a.2 D: Name and description are required. **differently**: A skill without them is loaded.` */
function lineOf({ id, mark, promise, how, why }: Entry): string {
  const here = why && `**${how}**: ${linked(why)}`;
  return `- ${[id, mark].join(' ').trim()}: ${linked(promise)} ${here}`.trim();
}

function countLine(name: string, rows: readonly Entry[]): string {
  const count = (how: How): number => rows.filter((row) => row.how === how).length;
  const stated = rows.filter(({ mark }) => mark.includes('D')).length;
  return `| ${[name, rows.length, count('met'), count('differently'), count('in part'), count('left out'), stated].join(' | ')} |`;
}

function linked(text: string): string {
  return text.trim().replaceAll(/\((decisions? [\d and]+)\)/g, '([$1](decisions.md))');
}
