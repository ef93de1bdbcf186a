import type { Feature } from '../../core/seams.ts';

/** Changes that agents ask for, and what people decide about them. */
export const proposals: Feature = {
  id: 'proposals',
};
