import { type SqliteDatabase, sqliteFailure } from '../sqlite/index.ts';
import { chunksOf, type PostingChunk } from './postings.ts';
import { createTextIndex, type TextIndex } from './text-index.ts';

/** The index in a file; in memory when the file cannot be opened, or fails later. */
export interface GuardedIndex {
  /** When the file fails, `work` runs again: on a new file in place of a damaged one, else in memory. */
  use<T>(work: (index: TextIndex) => T): T;
  close(): void;
}

/** In memory without `open`. @param remove - Called once, for a damaged file, so that `open` creates it again. */
export function createGuardedIndex(open?: () => SqliteDatabase, remove?: () => void): GuardedIndex {
  let database: SqliteDatabase | undefined;
  let index: TextIndex | undefined;
  let [mayOpen, mayRemove] = [open, remove];
  const current = (): TextIndex => {
    if (index) return index;
    if (mayOpen) database = mayOpen();
    index = mayOpen && database ? createTextIndex(database) : createMemoryIndex();
    return index;
  };
  const use = <T>(work: (index: TextIndex) => T): T => {
    try {
      return work(current());
    } catch (error) {
      const failure = sqliteFailure(error);
      if (!mayOpen || failure === undefined) throw error;
      index = undefined;
      if (failure === 'damaged' && mayRemove) {
        const removeOnce = mayRemove;
        mayRemove = undefined;
        database?.close();
        removeOnce();
      } else {
        // The file is damaged or locked, the disk is full, or there is no SQLite: search must still work.
        mayOpen = undefined;
      }
      return use(work);
    }
  };
  return { use, close: () => database?.close() };
}

/** For this process alone. */
export function createMemoryIndex(): TextIndex {
  const numbers = new Map<string, number>();
  const lengths: Uint16Array[] = [];
  const chunks = new Map<string, PostingChunk[]>();
  const words = new Set<string>();
  let next = 0;
  return {
    numberOf: (key) => numbers.get(key),
    lengthsOf: (document) => lengths[document] ?? NONE,
    pairsOf: () => NO_PAIRS,
    size: () => next,
    postings: (term) => chunks.get(term) ?? [],
    words: () => [...words],
    add({ documents, terms, words: added }) {
      const first = next;
      next += documents.length;
      const isNew = documents.map(({ key }) => !numbers.has(key));
      for (const [term, { postings }] of terms) {
        const ofTerm = chunks.get(term) ?? [];
        for (const part of chunksOf(postings, first, isNew)) {
          const last = ofTerm.at(-1);
          // Joined, because a search goes through the parts of each term.
          if (last?.chunk === part.chunk) ofTerm[ofTerm.length - 1] = joined(last, part);
          else ofTerm.push(part);
        }
        chunks.set(term, ofTerm);
      }
      for (const [position, document] of documents.entries()) {
        if (!isNew[position]) continue;
        numbers.set(document.key, first + position);
        lengths[first + position] = document.lengths;
      }
      for (const word of added) words.add(word);
    },
    catchUp: () => {},
    generation: () => 0,
    atOnce: (read) => read(),
    // The index is lost with the process anyway.
    emptyWhenStale: () => {},
  };
}

// --- internal ---

const NONE = new Uint16Array(1);
const NO_PAIRS = new Uint32Array();

function joined(before: PostingChunk, { chunk, postings }: PostingChunk): PostingChunk {
  const both = new Uint32Array(before.postings.length + postings.length);
  both.set(before.postings);
  both.set(postings, before.postings.length);
  return { chunk, postings: both };
}
