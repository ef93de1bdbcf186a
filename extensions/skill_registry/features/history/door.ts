import type { Feature } from '../../core/seams.ts';

/** The one writer of skills, its journal, revisions, and the way back. */
export const history: Feature = {
  id: 'history',
};
