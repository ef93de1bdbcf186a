import type { SqliteDatabase } from '../sqlite/index.ts';
import type { DocumentBatch } from './document-batch.ts';
import { createIndexWriter } from './index-writer.ts';
import type { PostingChunk } from './postings.ts';

/** The full-text index in the cache's database. Several processes may add to it at once. */
export interface TextIndex {
  /** Its number, when it is indexed, by this process or another one. */
  numberOf(key: string): number | undefined;
  /** Terms of the header, then of each section. */
  lengthsOf(document: number): Uint16Array;
  /** One more than the highest number. */
  size(): number;
  postings(term: string): readonly PostingChunk[];
  /** Words that occur in headers, for corrections; read once until documents come. */
  words(): readonly string[];
  /** Adds those that are not there yet. Each step is a short transaction; they are there after the last one. */
  add(batch: DocumentBatch): Iterator<undefined, void, undefined>;
  /** Looks for what other processes have added or emptied. */
  catchUp(): void;
  /** Counts up when somebody has emptied it: numbers then mean other documents. */
  generation(): number;
  /** Runs `read` on one state of the file. */
  atOnce<T>(read: () => T): T;
  /**
   * Empties it when most of it belongs to contents that are gone, at most once a week: other processes may see other skills.
   *
   * @param live - Documents that are needed.
   */
  emptyWhenStale(live: number, now: number): void;
}

/**
 * The tables of the full-text index. Raise the version with anything that changes terms or sections.
 *
 * A document is a content under an id, so what is unchanged is never indexed again. A posting row has the occurrences of one
 * term in 512 documents, appended as documents come; `postings.ts` says how. Numbers of documents are handed out first
 * (`next`) and their postings written, in any order between processes; a document is there when its row is, `seq` says in which
 * order they came. Postings of a number that never got its row mean nothing.
 */
export const SEARCH_INDEX: { readonly name: string; readonly version: number; readonly sql: string } = {
  name: 'search',
  version: 3,
  sql: `
CREATE TABLE search_document (
  seq INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  key TEXT NOT NULL UNIQUE,
  lengths BLOB NOT NULL
);
CREATE TABLE search_posting (
  term TEXT NOT NULL,
  chunk INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (term, chunk)
) WITHOUT ROWID;
CREATE TABLE search_word (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE search_state (generation INTEGER NOT NULL, since INTEGER NOT NULL, next INTEGER NOT NULL);
INSERT INTO search_state VALUES (0, 0, 0);
`,
};

/** Every function throws what `sqliteFailure` tells apart. */
export function createTextIndex(database: SqliteDatabase): TextIndex {
  const numbers = new Map<string, number>();
  const lengths: Uint16Array[] = [];
  let words: readonly string[] | undefined;
  let generation = -1;
  let lastSeq = 0;
  const state = database.prepare<State>('SELECT generation, since FROM search_state');
  const newer = database.prepare<{ seq: number; number: number; key: string; lengths: Uint8Array }>(
    'SELECT seq, number, key, lengths FROM search_document WHERE seq > ? ORDER BY seq',
  );
  const chunksOfTerm = database.prepare<{ chunk: number; data: Uint8Array }>(
    'SELECT chunk, data FROM search_posting WHERE term = ?',
  );
  const allWords = database.prepare<{ word: string }>('SELECT word FROM search_word');
  const catchUp = (): void => {
    const found = state.get()?.generation ?? 0;
    if (found !== generation) {
      generation = found;
      numbers.clear();
      lengths.length = 0;
      lastSeq = 0;
      words = undefined;
    }
    for (const row of newer.iterate(lastSeq)) {
      lastSeq = row.seq;
      numbers.set(row.key, row.number);
      lengths[row.number] = new Uint16Array(Uint8Array.from(row.lengths).buffer);
      words = undefined;
    }
  };

  catchUp();
  return {
    numberOf: (key) => numbers.get(key),
    lengthsOf: (document) => lengths[document] ?? EMPTY,
    size: () => lengths.length,
    postings: (term) => chunksOfTerm.all(term).map(({ chunk, data }) => ({ chunk, postings: readPostings(data) })),
    words() {
      words ??= allWords.all().map(({ word }) => word);
      return words;
    },
    add: createIndexWriter(database, (key) => numbers.has(key), catchUp),
    catchUp,
    generation: () => generation,
    atOnce: (read) => database.transaction(read, 'deferred'),
    emptyWhenStale(live, now) {
      if (lengths.length >= live * STALE_TIMES && lengths.length >= live + STALE_LEAST) {
        database.transaction(() => {
          if (now - (state.get()?.since ?? 0) >= WEEK_MS) empty(database, now);
        });
      }
      catchUp();
    },
  };
}

// --- internal ---

/** It is emptied when it has so many times what is needed, and so many documents more. */
const STALE_TIMES = 4;
const STALE_LEAST = 2000;
const WEEK_MS = 7 * 24 * 3_600_000;
const EMPTY = new Uint16Array(1);

interface State {
  readonly generation: number;
  /** When the index was emptied last, in milliseconds since 1970; 0 for never. */
  readonly since: number;
}

function empty(database: SqliteDatabase, now: number): void {
  database.exec('DELETE FROM search_document; DELETE FROM search_posting; DELETE FROM search_word;');
  database.prepare('UPDATE search_state SET generation = generation + 1, since = ?, next = 0').run(now);
}

/** A copy only where the bytes do not lie on a boundary of four. */
function readPostings(data: Uint8Array): Uint32Array {
  const aligned = data.byteOffset % 4 === 0 ? data : data.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >>> 2);
}
