import { chunksOf } from './index-writer.ts';
import type { PostingChunk } from './posting-codec.ts';
import { readPostings } from './posting-codec.ts';
import type { TextIndex } from './text-index.ts';

/** The same index without a database, for this process alone: where none can be opened, or its file has failed. */
export function createMemoryIndex(): TextIndex {
  const numbers = new Map<string, number>();
  const lengths: Uint16Array[] = [];
  const chunks = new Map<string, PostingChunk[]>();
  const words = new Set<string>();
  let next = 0;

  const append = (term: string, chunk: number, postings: Uint32Array): void => {
    const known = chunks.get(term) ?? [];
    const at = known.findIndex((one) => one.chunk === chunk);
    if (at < 0) known.push({ chunk, postings });
    else known[at] = { chunk, postings: joined((known[at] as PostingChunk).postings, postings) };
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
        for (const { chunk, data } of chunksOf(postings, first, isNew)) append(term, chunk, readPostings(data));
      }
      for (const [place, document] of documents.entries()) {
        if (!isNew[place]) continue;
        numbers.set(document.key, first + place);
        lengths[first + place] = document.lengths;
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
