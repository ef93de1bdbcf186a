import type { Feature } from '../../core/seams.ts';

/** What agents did with skills. */
export const usage: Feature = {
  id: 'usage',
};
