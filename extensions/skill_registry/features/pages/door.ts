import type { Feature } from '../../core/seams.ts';

/** Pages with skills: as a source, to install from, and to publish. */
export const pages: Feature = {
  id: 'pages',
};
