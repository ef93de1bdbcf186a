import type { Skill } from '../../skill/skill.ts';
import { documentKey } from '../document.ts';
import { CONTROL_TEXTS, controlKey } from './embedding-text.ts';
import { type Calibration, signsOf, signWords, type VectorStore } from './vector-store.ts';

/** How near skills come to a query by meaning, as far as that is more than chance. */
export interface Likeness {
  /** Above 0 to 1, which the nearest has. */
  readonly near: ReadonlyMap<Skill, number>;
  /** Those of them that are near enough to be found without a word in common. */
  readonly fitting: ReadonlySet<Skill>;
  /** 0 to 1: where the nearest stands between chance and the same text. */
  readonly confidence: number;
}

export interface Neighbour {
  readonly skill: Skill;
  /** -1 to 1. */
  readonly cosine: number;
}

/** So many are compared exactly: those whose signs differ least. */
const MAX_COMPARED = 400;
const MAX_NEIGHBOURS = 100;
/** A skill that comes less than so near as the nearest does not come in by meaning alone. */
const TAIL = 0.5;
/** What is near enough comes nearer than all controls but one, by so much of what is left to 1: a skill may be for one of them. */
const MARGIN = 0.05;

/**
 * Finds the skills whose vectors are nearest to one, best first, at most 100. What has no vector yet is passed over.
 *
 * What is read for a set of skills is kept as long as the array is.
 */
export function createNeighbours(
  store: VectorStore,
): (skills: readonly Skill[], vector: Float32Array) => readonly Neighbour[] {
  const tables = new WeakMap<readonly Skill[], Table>();
  const tableOf = (skills: readonly Skill[], dimensions: number): Table => {
    const known = tables.get(skills);
    if (known?.version === store.version()) return known;
    const table = makeTable(skills, store, dimensions);
    tables.set(skills, table);
    return table;
  };
  return (skills, vector) => {
    store.catchUp();
    const { numbers, members, signs } = tableOf(skills, vector.length);
    const rows = nearestRows(signs, signsOf(vector), MAX_COMPARED);
    const cosines = store.cosines(
      vector,
      rows.map((row) => numbers[row] as number),
    );
    return rows
      .flatMap((row) => {
        const cosine = cosines.get(numbers[row] as number);
        return cosine === undefined ? [] : [{ skill: members[row] as Skill, cosine }];
      })
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, MAX_NEIGHBOURS);
  };
}

/**
 * Rows of a table of signs that differ least from those of a query.
 *
 * @param table - One row after the other, each as long as `signs`.
 * @param most - So many at most; all that are as good as the last of them are among them.
 */
export function nearestRows(table: Uint32Array, signs: Uint32Array, most: number): readonly number[] {
  const words = signs.length;
  const count = table.length / words;
  const all = Array.from({ length: count }, (_, row) => row);
  if (count <= most) return all;
  const distances = new Uint16Array(count);
  for (let row = 0, at = 0; row < count; row++) {
    let different = 0;
    for (let word = 0; word < words; word++, at++) different += bitsIn((table[at] as number) ^ (signs[word] as number));
    distances[row] = different;
  }
  const limit = distances.slice().sort()[most - 1] as number;
  return all.filter((row) => (distances[row] as number) <= limit).slice(0, most * 2);
}

/** How near the nearest skill comes to texts that none is for; undefined when the vectors of these are not there. */
export async function calibrationOf(
  skills: readonly Skill[],
  store: VectorStore,
  neighbours: (skills: readonly Skill[], vector: Float32Array) => readonly Neighbour[],
  takeBreak: () => Promise<void>,
): Promise<Calibration | undefined> {
  const best: number[] = [];
  for (const text of CONTROL_TEXTS) {
    await takeBreak();
    const vector = store.vectorOf(controlKey(text));
    const [nearest] = vector ? neighbours(skills, vector) : [];
    if (nearest) best.push(nearest.cosine);
  }
  if (best.length < CONTROL_TEXTS.length) return undefined;
  best.sort((one, other) => one - other);
  const noise = best[best.length >> 1] as number;
  const highest = best.at(-2) as number;
  return { noise, least: highest + MARGIN * (1 - highest) };
}

/** Undefined when no skill comes nearer than one does by chance: then there is nothing to say. @param neighbours - Best first. */
export function likenessOf(neighbours: readonly Neighbour[], { noise, least }: Calibration): Likeness | undefined {
  const best = neighbours[0]?.cosine ?? -1;
  if (best < least) return undefined;
  const near = new Map<Skill, number>();
  const fitting = new Set<Skill>();
  for (const { skill, cosine } of neighbours) {
    const part = (cosine - noise) / (best - noise);
    if (part <= 0) break;
    near.set(skill, part);
    if (cosine >= least && part >= TAIL) fitting.add(skill);
  }
  return { near, fitting, confidence: Math.min(1, (best - noise) / (1 - noise)) };
}

// --- internal ---

interface Table {
  readonly version: number;
  readonly members: readonly Skill[];
  readonly numbers: readonly number[];
  readonly signs: Uint32Array;
}

function makeTable(skills: readonly Skill[], store: VectorStore, dimensions: number): Table {
  const version = store.version();
  const members: Skill[] = [];
  const rowOf = new Map<number, number>();
  for (const skill of skills) {
    const number = store.numberOf(documentKey(skill));
    // The same content under the same id in two sources is one skill; a shadowed one may be there twice.
    if (number === undefined || rowOf.has(number)) continue;
    rowOf.set(number, members.length);
    members.push(skill);
  }
  const words = signWords(dimensions);
  const signs = new Uint32Array(members.length * words);
  store.eachSigns((number, row) => {
    const at = rowOf.get(number);
    if (at !== undefined && row.length === words) signs.set(row, at * words);
  });
  return { version, members, numbers: [...rowOf.keys()], signs };
}

function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
