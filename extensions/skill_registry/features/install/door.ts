import type { Feature } from '../../core/seams.ts';

/** Skills from git, npm, archives and folders: add, lock, update, verify, remove. */
export const install: Feature = {
  id: 'install',
};
