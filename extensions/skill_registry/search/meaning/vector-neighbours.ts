import type { Skill } from '../../skill/skill.ts';
import { documentKey } from '../document.ts';
import { nearestRows, signsOf, signWords } from './vector-signs.ts';
import type { VectorStore } from './vector-store.ts';

export interface Neighbour {
  readonly skill: Skill;
  /** -1 to 1. */
  readonly cosine: number;
}

/** So many are compared exactly: those whose signs differ least. */
const MAX_COMPARED = 400;
const MAX_NEIGHBOURS = 100;

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
