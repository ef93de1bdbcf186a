import type { SqliteDatabase } from '../sqlite/index.ts';
import { type DocumentBatch, PLACE } from './document-batch.ts';
import { CHUNK_DOCUMENTS } from './posting-codec.ts';

/** Puts documents into the tables of the index. Every function throws what `sqliteFailure` tells apart. */
export interface IndexWriter {
  /**
   * Numbers are reserved first, then the postings of some terms are written at each step, the documents themselves at last:
   * what is cut short in between, or written by two processes at once, takes room and is never found.
   */
  add(batch: DocumentBatch): Iterator<undefined, void, undefined>;
}

/**
 * @param isKnown - Whether a document of this key is there, as of the last `catchUp`.
 */
export function createIndexWriter(
  database: SqliteDatabase,
  isKnown: (key: string) => boolean,
  catchUp: () => void,
): IndexWriter {
  const state = database.prepare<State>('SELECT generation, next FROM search_state');
  const reserve = database.prepare('UPDATE search_state SET next = next + ?');
  const addDocument = database.prepare('INSERT OR IGNORE INTO search_document (number, key, lengths) VALUES (?, ?, ?)');
  const append = database.prepare(
    'INSERT INTO search_posting (term, chunk, data) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET data = CAST(data || excluded.data AS BLOB)',
  );
  const addWord = database.prepare('INSERT OR IGNORE INTO search_word (word) VALUES (?)');

  const begin = ({ documents }: DocumentBatch): Reservation | undefined =>
    database.transaction(() => {
      catchUp();
      const isNew = documents.map(({ key }) => !isKnown(key));
      if (!isNew.includes(true)) return undefined;
      const { generation, next } = state.get() as State;
      reserve.run(documents.length);
      return { generation, first: next, isNew };
    });
  /** @returns false when somebody has emptied the index: the numbers are no longer ours. */
  const go = ({ generation }: Reservation, work: () => void): boolean =>
    database.transaction(() => {
      if (state.get()?.generation !== generation) return false;
      work();
      return true;
    });
  function* tryToAdd(batch: DocumentBatch): Generator<undefined, boolean, undefined> {
    const ours = begin(batch);
    if (!ours) return true;
    const { first, isNew } = ours;
    // In the order of the table, neighbours fall into the same pages.
    const terms = [...batch.terms.keys()].sort();
    for (let at = 0; at < terms.length; at += STEP_TERMS) {
      yield;
      const writeSome = (): void => {
        for (const term of terms.slice(at, at + STEP_TERMS)) {
          for (const { chunk, data } of chunksOf(batch.terms.get(term)?.postings ?? [], first, isNew))
            append.run(term, chunk, data);
        }
      };
      if (!go(ours, writeSome)) return false;
    }
    yield;
    return go(ours, () => {
      for (const word of new Set(batch.documents.flatMap(({ words }) => words))) addWord.run(word);
      for (const [place, { key, lengths }] of batch.documents.entries()) {
        if (!isNew[place]) continue;
        addDocument.run(first + place, key, bytesOf(lengths));
      }
    });
  }
  return {
    *add(batch) {
      while (!(yield* tryToAdd(batch))) yield;
      // Only what is committed counts.
      catchUp();
    },
  };
}

/**
 * The postings of one term, packed, by chunk.
 *
 * @param first - The number of the first document of the batch.
 * @param isNew - By place: whether a document is to be added.
 */
export function* chunksOf(
  postings: readonly number[],
  first: number,
  isNew: readonly boolean[],
): Generator<{ readonly chunk: number; readonly data: Buffer }> {
  let chunk = -1;
  let members: number[] = [];
  for (const posting of postings) {
    const place = Math.floor(posting / PLACE);
    if (!isNew[place]) continue;
    const number = first + place;
    const its = Math.floor(number / CHUNK_DOCUMENTS);
    if (its !== chunk) {
      if (members.length > 0) yield { chunk, data: bytesOf(Uint32Array.from(members)) };
      chunk = its;
      members = [];
    }
    members.push((number % CHUNK_DOCUMENTS) * PLACE + (posting % PLACE));
  }
  if (members.length > 0) yield { chunk, data: bytesOf(Uint32Array.from(members)) };
}

// --- internal ---

/** They take a few milliseconds. */
const STEP_TERMS = 1_000;

interface State {
  readonly generation: number;
  readonly next: number;
}

interface Reservation {
  readonly generation: number;
  /** The number of the first document of the batch; the others follow. */
  readonly first: number;
  /** By place: whether it was not there yet. */
  readonly isNew: readonly boolean[];
}

function bytesOf(values: Uint32Array | Uint16Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}
