import type { Feature } from '../../core/seams.ts';

/** The tools of five other designs. */
export const dialects: Feature = {
  id: 'dialects',
};
