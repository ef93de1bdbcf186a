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

export function packPosting(document: number, section: number, times: number): number {
  return (((document % CHUNK_DOCUMENTS) << 23) | (section << 12) | Math.min(times, MAX_TIMES)) >>> 0;
}

/** Of `packPosting`; the document is the one within its chunk. */
export function postingDocument(packed: number): number {
  return packed >>> 23;
}

export function postingSection(packed: number): number {
  return (packed >>> 12) & 0x7ff;
}

export function postingTimes(packed: number): number {
  return packed & MAX_TIMES;
}

/** A copy only where the bytes do not lie on a boundary of four. */
export function readPostings(data: Uint8Array): Uint32Array {
  const aligned = data.byteOffset % 4 === 0 ? data : data.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >>> 2);
}
