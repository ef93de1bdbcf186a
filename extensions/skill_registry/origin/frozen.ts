import { originRefused } from '../../../lib/fetch/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import type { Actor, Revision } from '../history/types.ts';
import { slugOf } from '../sources/make-skill.ts';
import { gitOrigin, npmOrigin, type Origin } from './address.ts';
import { type LockEntry, originOf, readLock } from './lock.ts';
import type { Offer } from './offer.ts';
import { openOrigin } from './open-origin.ts';
import { incomingOf } from './update.ts';
import { isAsLocked } from './verify.ts';
import { filesAt, installedLocation, locationFor, type SkillToWrite, writeSkills } from './write-skill.ts';

/**
 * Makes the disk what the lock says: what is absent is fetched at the commit, version or digest that the lock names, and compared
 * before anything is written. All of it, or nothing.
 *
 * @param to - Folder of the source that is to have what is absent. Default: the first source that may be written.
 * @throws LOCK_INVALID, ORIGIN_UNAVAILABLE; ORIGIN_REFUSED for what has changed here, and for an origin that has other bytes now.
 */
export async function installFrozen(context: ChangeContext, actor: Actor, to?: string): Promise<readonly Revision[]> {
  const { skills, broken } = readLock(context.root);
  const [unusable] = broken;
  if (unusable) throw originRefused(`"${unusable[0]}" in the lock`, unusable[1]);
  const writes: SkillToWrite[] = [];
  for (const [name, entry] of skills) {
    const location = installedLocation(context, slugOf(name));
    if (!location) writes.push(await fetchLocked(context, name, entry, to));
    else if (!isAsLocked(filesAt(location), entry))
      throw originRefused(
        `"${name}"`,
        'it was changed here since; see skill-registry verify, then update or remove it.',
      );
  }
  return writes.length === 0 ? [] : writeSkills(context, writes, actor);
}

// --- internal ---

async function fetchLocked(
  context: ChangeContext,
  name: string,
  entry: LockEntry,
  to: string | undefined,
): Promise<SkillToWrite> {
  const offer = await openOrigin(exactly(originOf(entry, context.root), entry), [name]);
  try {
    const { files } = await incomingOf(offer, name, entry);
    if (!isAsLocked(files, entry)) throw originRefused(`"${name}"`, whyOther(offer, entry));
    const location = locationFor(context, slugOf(name), to);
    return { location, files, gone: [], conflicts: [], kind: 'installed', name, entry };
  } finally {
    offer.close();
  }
}

/** The very thing that was installed, whatever a branch, a tag or a range names today. */
function exactly(origin: Origin, { registry, version }: LockEntry): Origin {
  if (origin.kind === 'git' && registry?.commit !== undefined)
    return gitOrigin(origin.url, registry.commit, origin.path);
  if (origin.kind === 'npm' && version !== undefined) return npmOrigin(`${origin.name}@${version}`);
  return origin;
}

function whyOther({ origin }: Offer, { registry }: LockEntry): string {
  const what = registry ? registry.digest : 'its computedHash';
  return `what its origin (${origin.kind}) has now is not what the lock says (${what}).`;
}
