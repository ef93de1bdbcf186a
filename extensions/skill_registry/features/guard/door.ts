import type { Feature } from '../../core/seams.ts';

/** Inspection of skills, and what people decided about them. */
export const guard: Feature = {
  id: 'guard',
};
