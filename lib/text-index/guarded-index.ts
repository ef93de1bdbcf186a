import { type SqliteDatabase, sqliteFailure } from '../sqlite/index.ts';
import { chunksOf, type PostingChunk } from './postings.ts';
import { createTextIndex, type TextIndex } from './text-index.ts';

/** The index, and one in memory instead of it where no database can be opened, and from the moment its file fails. */
export interface GuardedIndex {
  /** Runs `work`, a second time on the other index when the file failed under it. */
  use<T>(work: (index: TextIndex) => T): T;
  close(): void;
}

/** @param open - Opens the database on first use. */
export function createGuardedIndex(open: () => SqliteDatabase): GuardedIndex {
  let database: SqliteDatabase | undefined;
  let index: TextIndex | undefined;
  let inMemory = false;
  const current = (): TextIndex => {
    if (!index) {
      database = open();
      index = createTextIndex(database);
    }
    return index;
  };
  return {
    use(work) {
      try {
        return work(current());
      } catch (error) {
        if (inMemory || sqliteFailure(error) === undefined) throw error;
        // Damaged, full, held by somebody for seconds, or there is no SQLite: a cache is no reason to find nothing.
        inMemory = true;
        index = createMemoryIndex();
        return work(index);
      }
    },
    close: () => database?.close(),
  };
}

/** The same index without a database, for this process alone: where none can be opened, or its file has failed. */
export function createMemoryIndex(): TextIndex {
  const numbers = new Map<string, number>();
  const lengths: Uint16Array[] = [];
  const chunks = new Map<string, PostingChunk[]>();
  const words = new Set<string>();
  let next = 0;

  const append = (term: string, added: PostingChunk): void => {
    const known = chunks.get(term) ?? [];
    const at = known.findIndex(({ chunk }) => chunk === added.chunk);
    if (at < 0) known.push(added);
    else known[at] = { ...added, postings: joined((known[at] as PostingChunk).postings, added.postings) };
    chunks.set(term, known);
  };
  return {
    numberOf: (key) => numbers.get(key),
    lengthsOf: (document) => lengths[document] ?? NONE,
    size: () => next,
    postings: (term) => chunks.get(term) ?? [],
    words: () => [...words],
    *add({ documents, terms }) {
      const first = next;
      next += documents.length;
      const isNew = documents.map(({ key }) => !numbers.has(key));
      let step = 0;
      for (const [term, { postings }] of terms) {
        if (++step % STEP_TERMS === 0) yield;
        for (const one of chunksOf(postings, first, isNew)) append(term, one);
      }
      for (const [position, document] of documents.entries()) {
        if (!isNew[position]) continue;
        numbers.set(document.key, first + position);
        lengths[first + position] = document.lengths;
        for (const word of document.words) words.add(word);
      }
    },
    catchUp: () => {},
    generation: () => 0,
    atOnce: (read) => read(),
    // It ends with the process.
    emptyWhenStale: () => {},
  };
}

// --- internal ---

/** They take a few milliseconds. */
const STEP_TERMS = 1_000;
const NONE = new Uint16Array(1);

function joined(before: Uint32Array, after: Uint32Array): Uint32Array {
  const both = new Uint32Array(before.length + after.length);
  both.set(before);
  both.set(after, before.length);
  return both;
}
