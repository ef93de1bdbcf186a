import type { Feature } from '../../core/seams.ts';

/** Search by meaning, with an endpoint for embeddings. */
export const meaning: Feature = {
  id: 'meaning',
};
