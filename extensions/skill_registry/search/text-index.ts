import type { SqliteDatabase } from '../open-database.ts';
import type { IndexDocument } from './document.ts';
import { createPostingCache } from './posting-cache.ts';
import { CHUNK_DOCUMENTS, readPostings } from './posting-codec.ts';

/** Occurrences of one term in the documents `chunk * 512` to `chunk * 512 + 511`. */
export interface PostingChunk {
  readonly chunk: number;
  readonly postings: Uint32Array;
}

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
  /** Adds those that are not there yet, in one short transaction. */
  add(documents: readonly IndexDocument[]): void;
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

/** Every function throws what better-sqlite3 throws when the file is damaged or cannot be written. */
export function createTextIndex(database: SqliteDatabase): TextIndex {
  const numbers = new Map<string, number>();
  const lengths: Uint16Array[] = [];
  let words: readonly string[] | undefined;
  let generation = -1;
  const state = database.prepare<[], { generation: number; since: number }>(
    'SELECT generation, since FROM search_state',
  );
  const cached = createPostingCache();
  const newer = database.prepare<[number], { number: number; key: string; lengths: Buffer }>(
    'SELECT number, key, lengths FROM search_document WHERE number >= ? ORDER BY number',
  );
  const chunksOf = database.prepare<[string], { chunk: number; data: Buffer }>(
    'SELECT chunk, data FROM search_posting WHERE term = ?',
  );
  const allWords = database.prepare<[], string>('SELECT word FROM search_word').pluck();
  const addDocument = database.prepare('INSERT INTO search_document (number, key, lengths) VALUES (?, ?, ?)');
  const append = database.prepare(
    'INSERT INTO search_posting (term, chunk, data) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET data = CAST(data || excluded.data AS BLOB)',
  );
  const addWord = database.prepare('INSERT OR IGNORE INTO search_word (word) VALUES (?)');

  const catchUp = (): void => {
    const found = state.get()?.generation ?? 0;
    if (found !== generation) {
      generation = found;
      numbers.clear();
      lengths.length = 0;
      words = undefined;
      cached.clear();
    }
    for (const row of newer.iterate(lengths.length)) {
      cached.clear();
      numbers.set(row.key, row.number);
      lengths[row.number] = new Uint16Array(Uint8Array.from(row.lengths).buffer);
      words = undefined;
    }
  };

  const write = database.transaction((documents: readonly IndexDocument[]): void => {
    catchUp();
    const fresh = new Map(documents.filter(({ key }) => !numbers.has(key)).map((document) => [document.key, document]));
    let next = lengths.length;
    for (const [chunk, members] of byChunk([...fresh.values()], next)) {
      for (const [term, postings] of joined(members)) append.run(term, chunk, bytesOf(Uint32Array.from(postings)));
      for (const { document } of members) addDocument.run(next++, document.key, bytesOf(document.lengths));
    }
    for (const word of new Set([...fresh.values()].flatMap((document) => document.words))) addWord.run(word);
  });

  const empty = database.transaction((live: number, now: number): void => {
    const { since = 0 } = state.get() ?? {};
    const { length } = lengths;
    if (length < live * STALE_TIMES || length < live + STALE_LEAST || now - since < WEEK_MS) return;
    database.exec('DELETE FROM search_document; DELETE FROM search_posting; DELETE FROM search_word;');
    database.prepare('UPDATE search_state SET generation = generation + 1, since = ?').run(now);
  });
  const atOnce = database.transaction((read: () => unknown): unknown => read());

  catchUp();
  return {
    numberOf: (key) => numbers.get(key),
    lengthsOf: (document) => lengths[document] ?? EMPTY,
    size: () => lengths.length,
    postings: (term) =>
      cached.get(term) ??
      cached.keep(
        term,
        chunksOf.all(term).map(({ chunk, data }) => ({ chunk, postings: readPostings(data) })),
      ),
    words() {
      words ??= allWords.all();
      return words;
    },
    add(documents) {
      write.immediate(documents);
      // Only what is committed counts.
      catchUp();
    },
    catchUp,
    generation: () => generation,
    atOnce: <T>(read: () => T): T => atOnce.deferred(read) as T,
    emptyWhenStale(live, now) {
      if (lengths.length >= live * STALE_TIMES && lengths.length >= live + STALE_LEAST) empty.immediate(live, now);
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

interface Member {
  readonly document: IndexDocument;
  readonly number: number;
}

function byChunk(documents: readonly IndexDocument[], first: number): ReadonlyMap<number, readonly Member[]> {
  const chunks = new Map<number, Member[]>();
  for (const [at, document] of documents.entries()) {
    const number = first + at;
    const chunk = Math.floor(number / CHUNK_DOCUMENTS);
    chunks.set(chunk, [...(chunks.get(chunk) ?? []), { document, number }]);
  }
  return chunks;
}

/** The postings of several documents by term, each with its place in the chunk. */
function joined(members: readonly Member[]): ReadonlyMap<string, readonly number[]> {
  const terms = new Map<string, number[]>();
  for (const { document, number } of members) {
    const place = (number % CHUNK_DOCUMENTS) * 2 ** 23;
    for (const [term, postings] of document.postings) {
      const known = terms.get(term);
      if (known) for (const posting of postings) known.push(place + posting);
      else
        terms.set(
          term,
          postings.map((posting) => place + posting),
        );
    }
  }
  return terms;
}

function bytesOf(values: Uint32Array | Uint16Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}
