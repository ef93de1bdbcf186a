import { type SqliteDatabase, SqliteRowsDamaged, type SqliteStatement } from '../sqlite/index.ts';
import type { DocumentBatch } from './document-batch.ts';
import { chunksOf, type PostingChunk } from './postings.ts';

/** In the database of the cache. Several processes may add documents at once. */
export interface TextIndex {
  /** Undefined when the document is not indexed. */
  numberOf(key: string): number | undefined;
  lengthsOf(document: number): Uint16Array;
  /** Sorted. Empty for the index in memory: pairs would be most of it. */
  pairsOf(document: number): Uint32Array;
  /** One more than the highest number of a document. */
  size(): number;
  /** A chunk may be given in several parts. */
  postings(term: string): readonly PostingChunk[];
  /** Of all headers, for corrections. Cached until documents are added. */
  words(): readonly string[];
  /** Skips documents that are indexed already. One transaction. */
  add(batch: DocumentBatch): void;
  /** Reads what other processes have added or emptied. */
  catchUp(): void;
  /** Increases when the index is emptied: earlier numbers of documents are invalid then. */
  generation(): number;
  /** Runs `read` on one state of the file. */
  atOnce<T>(read: () => T): T;
  /** When most documents are not `live`; at most once a week, because other processes may need them. */
  emptyWhenStale(live: number, now: number): void;
}

/**
 * Raise the version with every change of terms or sections.
 *
 * A document is one content of one id: unchanged skills are never indexed again. A process reserves numbers (`next`),
 * then appends postings (a row has those of one term in 512 documents), then adds rows to `search_document`; several do
 * this at once. A document is indexed when it has a row; postings of other numbers are ignored.
 *
 * After a change by hand the triggers remove the row of `search_state`, and the index is made again: otherwise a search
 * would not find what was deleted, and nothing would say so.
 */
export const SEARCH_INDEX: { readonly name: string; readonly version: number; readonly sql: string } = {
  name: 'search',
  version: 5,
  sql: `
CREATE TABLE search_document (
  seq INTEGER PRIMARY KEY,
  number INTEGER NOT NULL CHECK (number BETWEEN 0 AND 0x7fffffff),
  key TEXT NOT NULL UNIQUE,
  lengths BLOB NOT NULL CHECK (length(lengths) > 0 AND length(lengths) % 2 = 0)
) STRICT;
CREATE TABLE search_pair (
  number INTEGER PRIMARY KEY,
  pairs BLOB NOT NULL CHECK (length(pairs) > 0 AND length(pairs) % 4 = 0)
) STRICT;
CREATE TABLE search_posting (
  term TEXT NOT NULL,
  chunk INTEGER NOT NULL CHECK (chunk >= 0),
  data BLOB NOT NULL CHECK (length(data) > 0 AND length(data) % 4 = 0),
  PRIMARY KEY (term, chunk)
) STRICT, WITHOUT ROWID;
CREATE TABLE search_word (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE search_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  generation INTEGER NOT NULL,
  since INTEGER NOT NULL,
  next INTEGER NOT NULL
) STRICT;
INSERT INTO search_state VALUES (1, 0, 0, 0);
CREATE TRIGGER search_document_changed AFTER UPDATE ON search_document BEGIN DELETE FROM search_state; END;
CREATE TRIGGER search_pair_deleted AFTER DELETE ON search_pair BEGIN DELETE FROM search_state; END;
CREATE TRIGGER search_pair_changed AFTER UPDATE ON search_pair BEGIN DELETE FROM search_state; END;
CREATE TRIGGER search_posting_deleted AFTER DELETE ON search_posting BEGIN DELETE FROM search_state; END;
CREATE TRIGGER search_posting_changed AFTER UPDATE ON search_posting
WHEN new.term <> old.term OR new.chunk <> old.chunk OR substr(new.data, 1, length(old.data)) <> old.data
BEGIN DELETE FROM search_state; END;
CREATE TRIGGER search_word_deleted AFTER DELETE ON search_word BEGIN DELETE FROM search_state; END;
CREATE TRIGGER search_word_changed AFTER UPDATE ON search_word BEGIN DELETE FROM search_state; END;
`,
};

/** Functions throw errors that `sqliteFailure` classifies. */
export function createTextIndex(database: SqliteDatabase): TextIndex {
  const numbers = new Map<string, number>();
  const lengths: Uint16Array[] = [];
  let words: readonly string[] | undefined;
  let generation = -1;
  let lastSeq = 0;
  const state = database.prepare<State>('SELECT generation, since, next FROM search_state');
  const newer = database.prepare<{ seq: number; number: number; key: string; lengths: Uint8Array }>(
    'SELECT seq, number, key, lengths FROM search_document WHERE seq > ? ORDER BY seq',
  );
  const pairsOf = database.prepare<{ pairs: Uint8Array }>('SELECT pairs FROM search_pair WHERE number = ?');
  const chunksOfTerm = database.prepare<{ chunk: number; data: Uint8Array }>(
    'SELECT chunk, data FROM search_posting WHERE term = ?',
  );
  const allWords = database.prepare<{ word: string }>('SELECT word FROM search_word');
  const catchUp = (): void => {
    const found = stateIn(state);
    if (found.generation !== generation) {
      generation = found.generation;
      numbers.clear();
      lengths.length = 0;
      lastSeq = 0;
      words = undefined;
    }
    for (const row of newer.iterate(lastSeq)) {
      if (!(row.number >= 0)) throw new SqliteRowsDamaged('A document has no valid number.');
      lastSeq = row.seq;
      numbers.set(row.key, row.number);
      lengths[row.number] = new Uint16Array(bufferOf(row.lengths, 2));
      words = undefined;
    }
  };

  // In one state of the file: each document has a number below `next`.
  database.transaction(() => {
    catchUp();
    if (lengths.length > stateIn(state).next) throw new SqliteRowsDamaged('A number was not reserved.');
  }, 'deferred');
  return {
    numberOf: (key) => numbers.get(key),
    lengthsOf: (document) => lengths[document] ?? EMPTY,
    pairsOf(document) {
      const row = pairsOf.get(document);
      return row ? new Uint32Array(bufferOf(row.pairs, 4)) : NO_PAIRS;
    },
    size: () => lengths.length,
    postings: (term) =>
      chunksOfTerm.all(term).map(({ chunk, data }) => ({ chunk, postings: new Uint32Array(bufferOf(data, 4)) })),
    words() {
      words ??= allWords.all().map(({ word }) => word);
      return words;
    },
    add(batch) {
      database.transaction(() => {
        catchUp();
        const isNew = batch.documents.map(({ key }) => !numbers.has(key));
        if (isNew.includes(true)) write(database, batch, isNew, stateIn(state).next);
      });
      catchUp();
    },
    catchUp,
    generation: () => generation,
    atOnce: (read) => database.transaction(read, 'deferred'),
    emptyWhenStale(live, now) {
      if (lengths.length >= live * STALE_TIMES && lengths.length >= live + STALE_LEAST) {
        database.transaction(() => {
          const { since, generation } = stateIn(state);
          if (now - since >= WEEK_MS) empty(database, now, generation + 1);
        });
      }
      catchUp();
    },
  };
}

// --- internal ---

/** The index is stale with this many times the needed documents, and this many more. */
const STALE_TIMES = 4;
const STALE_LEAST = 2000;
const WEEK_MS = 7 * 24 * 3_600_000;
const EMPTY = new Uint16Array(1);
const NO_PAIRS = new Uint32Array();

interface State {
  readonly generation: number;
  /** When the index was last emptied, in milliseconds since 1970; 0: never. */
  readonly since: number;
  readonly next: number;
}

/** @param isNew - By position in the batch. @param first - Number of the first document; the others follow. */
function write(database: SqliteDatabase, batch: DocumentBatch, isNew: readonly boolean[], first: number): void {
  const append = database.prepare(
    `INSERT INTO search_posting (term, chunk, data) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET data = CAST(data || excluded.data AS BLOB)`,
  );
  const addWord = database.prepare('INSERT OR IGNORE INTO search_word (word) VALUES (?)');
  const addDocument = database.prepare('INSERT OR IGNORE INTO search_document (number, key, lengths) VALUES (?, ?, ?)');
  const addPairs = database.prepare('INSERT OR IGNORE INTO search_pair (number, pairs) VALUES (?, ?)');
  // In the order of the table: consecutive rows are in the same pages.
  for (const term of [...batch.terms.keys()].sort()) {
    for (const { chunk, postings } of chunksOf(batch.terms.get(term)?.postings ?? [], first, isNew))
      append.run(term, chunk, bytesOf(postings));
  }
  for (const [position, { key, lengths, pairs }] of batch.documents.entries()) {
    if (!isNew[position]) continue;
    if (pairs.length > 0) addPairs.run(first + position, bytesOf(pairs));
    addDocument.run(first + position, key, bytesOf(lengths));
  }
  for (const word of [...batch.words].sort()) addWord.run(word);
  database.prepare('UPDATE search_state SET next = next + ?').run(batch.documents.length);
}

function bytesOf(values: Uint32Array | Uint16Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

/** @throws SqliteRowsDamaged after a change by hand: see the triggers. */
function stateIn(statement: SqliteStatement<State>): State {
  const found = statement.get();
  if (found) return found;
  throw new SqliteRowsDamaged('The index was changed by hand.');
}

function empty(database: SqliteDatabase, now: number, generation: number): void {
  database.exec(
    'DELETE FROM search_document; DELETE FROM search_pair; DELETE FROM search_posting; DELETE FROM search_word; DELETE FROM search_state',
  );
  database.prepare('INSERT INTO search_state VALUES (1, ?, ?, 0)').run(generation, now);
}

/** A copy, which is aligned. @throws SqliteRowsDamaged for something other than bytes in units of `size`. */
function bufferOf(data: unknown, size: number): ArrayBuffer {
  if (data instanceof Uint8Array && data.length > 0 && data.length % size === 0) return new Uint8Array(data).buffer;
  throw new SqliteRowsDamaged('A row of the index has other values than were written.');
}
