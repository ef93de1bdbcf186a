import type { SqliteDatabase } from '../sqlite/index.ts';
import type { DocumentBatch } from './document-batch.ts';
import { createIndexWriter } from './index-writer.ts';
import type { PostingChunk } from './postings.ts';

/** The full-text index in the database of the cache. Several processes may add to it at once. */
export interface TextIndex {
  /** The number of a document; undefined when it is not indexed. */
  numberOf(key: string): number | undefined;
  /** Number of terms of the header, then of each section. */
  lengthsOf(document: number): Uint16Array;
  /** One more than the highest number of a document. */
  size(): number;
  postings(term: string): readonly PostingChunk[];
  /** Words of all headers, for corrections. Cached until documents are added. */
  words(): readonly string[];
  /** Adds the documents that are not in the index. Each step is a short transaction; they can be found after the last step. */
  add(batch: DocumentBatch): Iterator<undefined, void, undefined>;
  /** Reads what other processes have added or emptied. */
  catchUp(): void;
  /** Increases each time the index is emptied: the numbers of documents from before are not valid then. */
  generation(): number;
  /** Runs `read` on one state of the file. */
  atOnce<T>(read: () => T): T;
  /**
   * Empties the index when most of its documents are not needed any more, at most once a week: other processes may need others.
   *
   * @param live - Documents that are needed.
   */
  emptyWhenStale(live: number, now: number): void;
}

/**
 * The tables of the full-text index. Increase the version with every change of terms or sections.
 *
 * A document is one content of one id, so unchanged skills are never indexed again. A row of `search_posting` holds the postings of
 * one term in 512 documents; new ones are appended (see postings.ts). Numbers of documents are reserved first (`next`), then
 * their postings are written, then their rows in `search_document`; several processes do this at the same time. A document is in the
 * index when it has a row, and `seq` is the order of the rows. Postings of a number without a row are ignored.
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

/** Every function throws errors that `sqliteFailure` classifies. */
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

/** The index is emptied when it has this many times the needed documents, and at least this many more. */
const STALE_TIMES = 4;
const STALE_LEAST = 2000;
const WEEK_MS = 7 * 24 * 3_600_000;
const EMPTY = new Uint16Array(1);

interface State {
  readonly generation: number;
  /** When the index was last emptied, in milliseconds since 1970; 0: never. */
  readonly since: number;
}

function empty(database: SqliteDatabase, now: number): void {
  database.exec('DELETE FROM search_document; DELETE FROM search_posting; DELETE FROM search_word;');
  database.prepare('UPDATE search_state SET generation = generation + 1, since = ?, next = 0').run(now);
}

/** Copies the bytes only when they are not aligned to four. */
function readPostings(data: Uint8Array): Uint32Array {
  const aligned = data.byteOffset % 4 === 0 ? data : data.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >>> 2);
}
