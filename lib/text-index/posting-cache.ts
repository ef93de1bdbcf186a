import type { PostingChunk } from './posting-codec.ts';

/** The postings of terms that were asked for lately: the words of one conversation come again. */
export interface PostingCache {
  get(term: string): readonly PostingChunk[] | undefined;
  keep(term: string, chunks: readonly PostingChunk[]): readonly PostingChunk[];
  clear(): void;
}

/** Bytes of postings that are kept; one occurrence takes four. */
const MAX_BYTES = 6 * 1024 * 1024;
/** What a term takes beside its postings. */
const TERM_BYTES = 100;

export function createPostingCache(): PostingCache {
  const kept = new Map<string, readonly PostingChunk[]>();
  let bytes = 0;
  return {
    get(term) {
      const chunks = kept.get(term);
      // Used now, so the last to go.
      if (chunks && kept.delete(term)) kept.set(term, chunks);
      return chunks;
    },
    keep(term, chunks) {
      kept.set(term, chunks);
      bytes += sizeOf(chunks);
      for (const [oldest, old] of kept) {
        if (bytes <= MAX_BYTES) break;
        kept.delete(oldest);
        bytes -= sizeOf(old);
      }
      return chunks;
    },
    clear() {
      kept.clear();
      bytes = 0;
    },
  };
}

// --- internal ---

function sizeOf(chunks: readonly PostingChunk[]): number {
  return chunks.reduce((sum, { postings }) => sum + postings.byteLength, TERM_BYTES);
}
