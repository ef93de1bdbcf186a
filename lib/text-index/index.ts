export { createBatch, type DocumentBatch, MIN_CORRECTED } from './document-batch.ts';
export { createGuardedIndex, type GuardedIndex } from './guarded-index.ts';
export { SEARCH_INDEX } from './index-schema.ts';
export { CHUNK_DOCUMENTS, type PostingChunk, postingDocument, postingSection, postingTimes } from './posting-codec.ts';
export { sectionsOf } from './sections.ts';
export { type QueryTerms, queryTerms, termOf, termsOf } from './terms.ts';
export type { TextIndex } from './text-index.ts';
