import type { Feature } from '../../core/seams.ts';

/** Test cases of skills, their evidence, and skills that compete. */
export const evaluate: Feature = {
  id: 'evaluate',
};
