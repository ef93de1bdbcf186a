import type { SqliteDatabase } from '../sqlite/index.ts';
import type { DocumentBatch } from './document-batch.ts';
import { createIndexWriter } from './index-writer.ts';
import { createPostingCache } from './posting-cache.ts';
import { type PostingChunk, readPostings } from './posting-codec.ts';

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

/** Every function throws what `sqliteFailure` tells apart. */
export function createTextIndex(database: SqliteDatabase): TextIndex {
  const numbers = new Map<string, number>();
  const lengths: Uint16Array[] = [];
  let words: readonly string[] | undefined;
  let generation = -1;
  let lastSeq = 0;
  const state = database.prepare<{ generation: number; since: number }>('SELECT generation, since FROM search_state');
  const cached = createPostingCache();
  const newer = database.prepare<{ seq: number; number: number; key: string; lengths: Uint8Array }>(
    'SELECT seq, number, key, lengths FROM search_document WHERE seq > ? ORDER BY seq',
  );
  const chunksOf = database.prepare<{ chunk: number; data: Uint8Array }>(
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
      cached.clear();
    }
    for (const row of newer.iterate(lastSeq)) {
      cached.clear();
      lastSeq = row.seq;
      numbers.set(row.key, row.number);
      lengths[row.number] = new Uint16Array(Uint8Array.from(row.lengths).buffer);
      words = undefined;
    }
  };

  const writer = createIndexWriter(database, (key) => numbers.has(key), catchUp);

  const empty = (live: number, now: number): void => {
    const { since = 0 } = state.get() ?? {};
    const { length } = lengths;
    if (length < live * STALE_TIMES || length < live + STALE_LEAST || now - since < WEEK_MS) return;
    database.exec('DELETE FROM search_document; DELETE FROM search_posting; DELETE FROM search_word;');
    database.prepare('UPDATE search_state SET generation = generation + 1, since = ?, next = 0').run(now);
  };

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
      words ??= allWords.all().map(({ word }) => word);
      return words;
    },
    add: writer.add,
    catchUp,
    generation: () => generation,
    atOnce: (read) => database.transaction(read, 'deferred'),
    emptyWhenStale(live, now) {
      if (lengths.length >= live * STALE_TIMES && lengths.length >= live + STALE_LEAST) {
        database.transaction(() => empty(live, now));
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
