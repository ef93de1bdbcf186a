import { eachInSteps, type Steps } from '../breaks/index.ts';
import type { SqliteDatabase } from '../sqlite/index.ts';
import type { DocumentBatch } from './document-batch.ts';
import { chunksOf } from './postings.ts';

/**
 * Writes documents to the tables of the index. The numbers of the documents are reserved first, then each step writes the postings of
 * some terms or some words, and the last step writes the documents. A write that is interrupted, or made by two processes at once, leaves
 * postings that take space and are never found.
 */
export type IndexWriter = (batch: DocumentBatch) => Generator<undefined, void, undefined>;

/**
 * @param isKnown - Whether a document with this key was in the index at the last `catchUp`.
 * @returns A writer that throws errors which `sqliteFailure` classifies.
 */
export function createIndexWriter(
  database: SqliteDatabase,
  isKnown: (key: string) => boolean,
  catchUp: () => void,
): IndexWriter {
  const statements = prepare(database);
  const reserve = ({ documents }: DocumentBatch): Reservation | undefined =>
    database.transaction(() => {
      catchUp();
      const isNew = documents.map(({ key }) => !isKnown(key));
      if (!isNew.includes(true)) return undefined;
      // `catchUp` has found the row.
      const { generation, next } = statements.state.get() as State;
      statements.reserve.run(documents.length);
      return { generation, first: next, isNew };
    });
  return function* add(batch) {
    for (;;) {
      const reserved = reserve(batch);
      if (!reserved || (yield* write(database, statements, batch, reserved))) break;
      yield;
    }
    // Reads what was committed.
    catchUp();
  };
}

// --- internal ---

/** Rows of one step: a few milliseconds of work. */
const STEP_ROWS = 500;

interface State {
  readonly generation: number;
  readonly next: number;
}

interface Reservation {
  readonly generation: number;
  /** The number of the first document of the batch; the others follow. */
  readonly first: number;
  /** By position in the batch: whether the document is new. */
  readonly isNew: readonly boolean[];
}

type Statements = ReturnType<typeof prepare>;

function prepare(database: SqliteDatabase) {
  return {
    state: database.prepare<State>('SELECT generation, next FROM search_state'),
    reserve: database.prepare('UPDATE search_state SET next = next + ?'),
    addDocument: database.prepare('INSERT OR IGNORE INTO search_document (number, key, lengths) VALUES (?, ?, ?)'),
    append: database.prepare(
      'INSERT INTO search_posting (term, chunk, data) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET data = CAST(data || excluded.data AS BLOB)',
    ),
    addWord: database.prepare('INSERT OR IGNORE INTO search_word (word) VALUES (?)'),
  };
}

/** @returns False when another process has emptied the index: the reserved numbers are not valid any more. */
function* write(
  database: SqliteDatabase,
  { state, append, addWord, addDocument }: Statements,
  batch: DocumentBatch,
  { generation, first, isNew }: Reservation,
): Generator<undefined, boolean, undefined> {
  const commit = (work: () => void): boolean =>
    database.transaction(() => {
      if (state.get()?.generation !== generation) return false;
      work();
      return true;
    });
  const writeTerm = (term: string): void => {
    for (const { chunk, postings } of chunksOf(batch.terms.get(term)?.postings ?? [], first, isNew))
      append.run(term, chunk, bytesOf(postings));
  };
  const words = new Set(batch.documents.flatMap(({ words: some }) => some));
  for (const [rows, writeOne] of [
    [yield* sorted(batch.terms.keys()), writeTerm],
    [[...words], (word: string) => void addWord.run(word)],
  ] as const) {
    for (let at = 0; at < rows.length; at += STEP_ROWS) {
      yield;
      if (!commit(() => rows.slice(at, at + STEP_ROWS).forEach(writeOne))) return false;
    }
  }
  yield;
  return commit(() => {
    for (const [position, { key, lengths }] of batch.documents.entries()) {
      if (!isNew[position]) continue;
      addDocument.run(first + position, key, bytesOf(lengths));
    }
  });
}

/** In the order of the table, so that consecutive rows are in the same pages. A step sorts the terms with one first character. */
function* sorted(terms: Iterable<string>): Steps<readonly string[]> {
  const byFirst = new Map<string, string[]>();
  yield* eachInSteps(terms, (term) => {
    const first = term.charAt(0);
    const some = byFirst.get(first);
    if (some) some.push(term);
    else byFirst.set(first, [term]);
  });
  const all: string[] = [];
  for (const first of [...byFirst.keys()].sort()) {
    yield;
    for (const term of (byFirst.get(first) ?? []).sort()) all.push(term);
  }
  return all;
}

function bytesOf(values: Uint32Array | Uint16Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}
