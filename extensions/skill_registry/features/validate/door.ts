import type { Feature } from '../../core/seams.ts';

/** Checks of skills against profiles, properties and prompt blocks. */
export const validate: Feature = {
  id: 'validate',
};
