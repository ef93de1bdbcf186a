/** Occurrences of one term in the documents `chunk * 512` to `chunk * 512 + 511`. */
export interface PostingChunk {
  readonly chunk: number;
  readonly postings: Uint32Array;
}

/** A posting has 9 bits for the document within its chunk, 11 for the section (0: header), 12 for its frequency. */
export const CHUNK_DOCUMENTS = 512;
export const MAX_TIMES = 0xfff;

/** The number within the chunk. */
export function postingDocument(packed: number): number {
  return packed >>> 23;
}

export function postingSection(packed: number): number {
  return (packed >>> 12) & 0x7ff;
}

export function postingTimes(packed: number): number {
  return packed & MAX_TIMES;
}

/** Documents of a batch have no numbers yet: `position` is used, also over 511. Add 1 for each further time. */
export function batchPosting(position: number, section: number): number {
  return position * DOCUMENT_UNIT + (section << 12) + 1;
}

/** @param first - Number of the first document. @param isNew - By position; other documents are left out. */
export function chunksOf(
  postings: readonly number[],
  first: number,
  isNew: readonly boolean[],
): readonly PostingChunk[] {
  const chunks = new Map<number, number[]>();
  for (const posting of postings) {
    const position = Math.floor(posting / DOCUMENT_UNIT);
    if (!isNew[position]) continue;
    const chunk = Math.floor((first + position) / CHUNK_DOCUMENTS);
    const members = chunks.get(chunk) ?? [];
    members.push(((first + position) % CHUNK_DOCUMENTS) * DOCUMENT_UNIT + (posting % DOCUMENT_UNIT));
    chunks.set(chunk, members);
  }
  return [...chunks].map(([chunk, members]) => ({ chunk, postings: Uint32Array.from(members) }));
}

// --- internal ---

const DOCUMENT_UNIT: number = 2 ** 23;
