import type { Origin } from './address.ts';
import { openArchive } from './archive.ts';
import { openFolder } from './folder.ts';
import { openGit } from './git.ts';
import { openNpm } from './npm.ts';
import type { Offer } from './offer.ts';
import { openWellKnown } from './well-known/open-page.ts';

/**
 * Looks at what an origin has. Nothing of it is run, and nothing is left on this disk once the offer is closed.
 *
 * @param names - Of a page only these are fetched. Default: all.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED.
 */
export async function openOrigin(origin: Origin, names?: readonly string[]): Promise<Offer> {
  switch (origin.kind) {
    case 'git':
      return openGit(origin);
    case 'npm':
      return openNpm(origin);
    case 'archive':
      return openArchive(origin);
    case 'well-known':
      return openWellKnown(origin, names);
    default:
      return openFolder(origin);
  }
}
