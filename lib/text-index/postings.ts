/** Occurrences of one term in the documents `chunk * 512` to `chunk * 512 + 511`. */
export interface PostingChunk {
  readonly chunk: number;
  readonly postings: Uint32Array;
}

/**
 * A posting is a 32-bit number: 9 bits for the document within its chunk, 11 bits for the section (0 is the header:
 * id, name, tags, trigger keywords, description), 12 bits for how often the term occurs there.
 */
export const CHUNK_DOCUMENTS = 512;
export const MAX_TIMES = 0xfff;

/** Parts of a posting of `PostingChunk`; the document is its number within the chunk. */
export function postingDocument(packed: number): number {
  return packed >>> 23;
}

export function postingSection(packed: number): number {
  return (packed >>> 12) & 0x7ff;
}

export function postingTimes(packed: number): number {
  return packed & MAX_TIMES;
}

/**
 * A posting of a batch, whose documents have no numbers yet: the same bits, with the position in the batch instead of the document;
 * the position may be over 511. The term occurs once in it; add 1 for each further time, up to `MAX_TIMES`.
 */
export function batchPosting(position: number, section: number): number {
  return position * DOCUMENT_UNIT + (section << 12) + 1;
}

/**
 * Groups the postings of one term of a batch by chunk.
 *
 * @param first - The number of the first document of the batch.
 * @param isNew - By position in the batch: whether the document is added. Postings of the others are left out.
 */
export function* chunksOf(
  postings: readonly number[],
  first: number,
  isNew: readonly boolean[],
): Generator<PostingChunk> {
  let chunk = -1;
  let members: number[] = [];
  for (const posting of postings) {
    const position = Math.floor(posting / DOCUMENT_UNIT);
    if (!isNew[position]) continue;
    const number = first + position;
    const chunkOfNumber = Math.floor(number / CHUNK_DOCUMENTS);
    if (chunkOfNumber !== chunk) {
      if (members.length > 0) yield { chunk, postings: Uint32Array.from(members) };
      chunk = chunkOfNumber;
      members = [];
    }
    members.push((number % CHUNK_DOCUMENTS) * DOCUMENT_UNIT + (posting % DOCUMENT_UNIT));
  }
  if (members.length > 0) yield { chunk, postings: Uint32Array.from(members) };
}

// --- internal ---

/** The bits of a posting below those of the document. */
const DOCUMENT_UNIT: number = 2 ** 23;
