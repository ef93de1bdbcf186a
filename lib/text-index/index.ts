export { createBatch, MIN_CORRECTED, type OpenBatch, sectionsOf } from './document-batch.ts';
export { createGuardedIndex, type GuardedIndex } from './guarded-index.ts';
export { CHUNK_DOCUMENTS, type PostingChunk, postingDocument, postingSection, postingTimes } from './postings.ts';
export { type QueryTerms, queryTerms, runsOf, termOf, termsOf } from './terms.ts';
export { SEARCH_INDEX, type TextIndex } from './text-index.ts';
