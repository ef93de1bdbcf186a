/** Occurrences of one term in the documents `chunk * 512` to `chunk * 512 + 511`. */
export interface PostingChunk {
  readonly chunk: number;
  readonly postings: Uint32Array;
}

/**
 * One occurrence of a term is a 32-bit number: 9 bits which document of its chunk, 11 bits which section of it (0 is the
 * header: id, name, tags, trigger keywords, description), 12 bits how often.
 */
export const CHUNK_DOCUMENTS = 512;
export const MAX_TIMES = 0xfff;

/** Of `PostingChunk`; the document is the one within its chunk. */
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
 * A posting of a batch, which has no numbers of documents yet: the same bits, with the position in the batch instead of the
 * document and room for more than 512. It says that the term occurs once; each further time adds 1, up to `MAX_TIMES`.
 */
export function batchPosting(position: number, section: number): number {
  return position * DOCUMENT_UNIT + (section << 12) + 1;
}

/**
 * The postings of one term of a batch by chunk.
 *
 * @param first - The number of the first document of the batch.
 * @param isNew - By position in the batch: whether a document is to be added.
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
    const its = Math.floor(number / CHUNK_DOCUMENTS);
    if (its !== chunk) {
      if (members.length > 0) yield { chunk, postings: Uint32Array.from(members) };
      chunk = its;
      members = [];
    }
    members.push((number % CHUNK_DOCUMENTS) * DOCUMENT_UNIT + (posting % DOCUMENT_UNIT));
  }
  if (members.length > 0) yield { chunk, postings: Uint32Array.from(members) };
}

// --- internal ---

/** What one document more adds to a posting. */
const DOCUMENT_UNIT: number = 2 ** 23;
