import type { Feature } from '../../core/seams.ts';

/** npm packages and prompt packs as sources, and the workflows of packs. */
export const packs: Feature = {
  id: 'packs',
};
