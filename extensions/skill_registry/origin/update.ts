import { originRefused } from '../../../lib/fetch/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { slugOf } from '../sources/make-skill.ts';
import { entryOf } from './add.ts';
import { shownOrigin } from './address.ts';
import { chooseSkills } from './choose.ts';
import { lockedFiles } from './digest.ts';
import { type LockEntry, originOf, readLock } from './lock.ts';
import { type FileUpdate, mergeFiles } from './merge-files.ts';
import { type IncomingFile, type Offer, takeSkill } from './offer.ts';
import { openOrigin } from './open-origin.ts';
import { isAsLocked } from './verify.ts';
import { filesAt, installedLocation, type SkillToWrite } from './write-skill.ts';

/** What an update would do to one installed skill. */
export interface SkillUpdate {
  readonly id: string;
  /** In the lock. */
  readonly name: string;
  readonly origin: string;
  /**
   * `current`: there is nothing newer; `outdated`: `files` would change; `tag-moved`: the tag names another commit than when it was
   * installed, and is not followed; `absent`: it is not on disk; `failed`: `reason` says why it cannot be told.
   */
  readonly state: 'current' | 'outdated' | 'tag-moved' | 'absent' | 'failed';
  /** Somebody has changed it here since it was installed. */
  readonly drifted: boolean;
  readonly files: readonly FileUpdate[];
  readonly reason?: string;
}

/** An update that was looked at, with what is to be written. */
export interface PreparedUpdate {
  readonly view: SkillUpdate;
  readonly write?: SkillToWrite;
}

/**
 * Compares what is installed with what its origins have now. Writes nothing.
 *
 * @param ids - Ids or names. Default: all of the lock.
 * @throws LOCK_INVALID; ORIGIN_REFUSED for an id that the lock does not have.
 */
export async function prepareUpdates(
  context: ChangeContext,
  ids: readonly string[] | undefined,
): Promise<readonly PreparedUpdate[]> {
  const { skills } = readLock(context.root);
  const wanted = [...skills].filter(([name]) => !ids || ids.includes(name) || ids.includes(slugOf(name)));
  const unknown = ids?.find((id) => !wanted.some(([name]) => name === id || slugOf(name) === id));
  if (unknown !== undefined) throw originRefused(JSON.stringify(unknown), 'it is not in skills-lock.json.');
  const offers = new Map<string, Promise<Offer>>();
  try {
    const prepared: PreparedUpdate[] = [];
    for (const [name, entry] of wanted) prepared.push(await prepareOne(context, name, entry, offers));
    return prepared;
  } finally {
    for (const offer of offers.values()) (await offer.catch(() => undefined))?.close();
  }
}

/** The files an origin has of a locked skill now. @throws ORIGIN_INVALID, ORIGIN_REFUSED. */
export async function incomingOf(
  offer: Offer,
  name: string,
  { skillPath }: LockEntry,
): Promise<{ readonly files: readonly IncomingFile[]; readonly skill: Parameters<typeof entryOf>[1] }> {
  const folder = skillPath?.replace(/(^|\/)[^/]*$/, '');
  const wanted = folder === undefined || folder === '' ? name : folder;
  const { chosen } = await chooseSkills(offer, '', { skills: [wanted] }, shownOrigin(offer.origin));
  const skill = chosen[0];
  if (!skill) throw originRefused(`"${name}"`, 'its origin does not have it any more.');
  const { files } = await takeSkill(offer, skill);
  return { files, skill };
}

// --- internal ---

async function prepareOne(
  context: ChangeContext,
  name: string,
  entry: LockEntry,
  offers: Map<string, Promise<Offer>>,
): Promise<PreparedUpdate> {
  const id = slugOf(name);
  const known = { id, name, origin: entry.source, drifted: false, files: [] };
  const location = installedLocation(context, id);
  if (!location) return { view: { ...known, state: 'absent' } };
  const here = filesAt(location);
  const drifted = !isAsLocked(here, entry);
  try {
    const origin = originOf(entry, context.root);
    const key = JSON.stringify(origin);
    offers.set(key, offers.get(key) ?? openOrigin(origin, origin.kind === 'well-known' ? undefined : [name]));
    const offer = (await offers.get(key)) as Offer;
    const { files, skill } = await incomingOf(offer, name, entry);
    const view = { ...known, drifted };
    if (isAsLocked(files, entry)) return { view: { ...view, state: 'current' } };
    if (offer.at.isTag && entry.registry?.commit !== undefined) return { view: { ...view, state: 'tag-moved' } };
    const { updates, result, conflicts } = mergeFiles(context, here, entry, files);
    const { gone, kept } = changesBetween(here, result);
    return {
      view: { ...view, state: 'outdated', files: updates },
      write: {
        ...{ location, files: kept, gone, conflicts, kind: 'updated', name },
        entry: entryOf(offer, skill, files, context.root),
      },
    };
  } catch (error) {
    return { view: { ...known, drifted, state: 'failed', reason: (error as Error).message } };
  }
}

/** What has to be written so that the files here become others. */
function changesBetween(
  here: readonly IncomingFile[],
  wanted: readonly IncomingFile[],
): { readonly gone: readonly string[]; readonly kept: readonly IncomingFile[] } {
  const [before, after] = [lineByPath(here), lineByPath(wanted)];
  return {
    gone: here.map(({ path }) => path).filter((path) => !after.has(path)),
    kept: wanted.filter(({ path }) => before.get(path) !== after.get(path)),
  };
}

function lineByPath(files: readonly IncomingFile[]): ReadonlyMap<string, string> {
  return new Map(files.map((file) => [file.path, lockedFiles([file]).digest]));
}
