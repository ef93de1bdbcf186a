import { lstatSync, mkdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { originRefused } from '../../../lib/fetch/index.ts';
import { countTokens } from '../../../lib/text/index.ts';
import { confusableIds } from '../catalog/confusable-ids.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { checkValid, folderOf, type SkillLocation } from '../history/skill-location.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import { slugOf } from '../skill/skill.ts';
import type { InspectedSkill } from '../trust/inspect-files.ts';
import { assertNotRevoked } from '../trust/sources.ts';
import { textProblems } from '../validate/changed-text.ts';
import { parseOrigin, shownOrigin, sourceFields, sourceKey } from './address.ts';
import { chooseSkills, type ReadableSkill } from './choose.ts';
import { originInvalid } from './errors.ts';
import { findInstalled, type InstalledSkills } from './find-installed.ts';
import { blockedAs, inspectIncoming, writeAllowed } from './let-in.ts';
import { computedHash, isLockName, lockedFiles, readLock } from './lock.ts';
import { openOrigin } from './open-origin.ts';
import { type IncomingFile, type OpenedOrigin, type OriginSkillFiles, readOriginSkills } from './opened-origin.ts';
import type { AddOptions, AddPlan, ChangedSkill, LockEntry, SkillToAdd } from './types.ts';
import { locationFor, type SkillToWrite, writeSkills } from './write-skill.ts';

/** @throws as `Origins.add`. */
export async function planAdd(context: ChangeContext, what: string, options: AddOptions): Promise<AddPlan> {
  const origin = parseOrigin(what, options.cwd ?? context.root);
  const shown = shownOrigin(origin);
  if (options.link && origin.kind !== 'folder') throw originInvalid(what, 'only a folder can be linked.');
  const source = sourceKey(origin);
  assertNotRevoked(source);
  const opened = await openOrigin(origin, options.all ? undefined : (options.skills ?? []));
  try {
    const below = origin.kind === 'git' ? (origin.path ?? '') : '';
    const { chosen: all, alongWith, unreadable } = await chooseSkills(opened, below, options, shown);
    const { byId } = context.snapshot();
    const toAdd = all.filter(({ id }) => !alongWith.has(id) || !byId.has(id));
    const locked = readLock(context.root).skills;
    const from = sourceFields(origin, context.root);
    const there = findInstalled(context);
    const isThere = (skill: ReadableSkill): boolean => {
      const entry = locked.get(lockName(skill));
      return entry !== undefined && isInstalledFrom(there, lockName(skill), entry, from);
    };
    const installed = toAdd.filter(isThere).map(lockName);
    const chosen = toAdd.filter((skill) => !isThere(skill));
    const located = chosen.map((skill) => ({
      skill,
      location: locationFor(context, skill.id, options.to, !options.link),
    }));
    const taken = await readOriginSkills(opened, chosen);
    const skills: SkillToAdd[] = [];
    const writes: SkillToWrite[] = [];
    const broken: string[] = [];
    for (const [at, { skill, location }] of located.entries()) {
      const { files, leftOut } = taken[at] as OriginSkillFiles;
      if (!isValid(files, location, options.all)) {
        broken.push(skill.skillFile);
        continue;
      }
      const looked = await inspectIncoming(files);
      const along = { ids: chosen.map(({ id }) => id), isAlong: alongWith.has(skill.id), leftOut, looked };
      skills.push(await skillToAdd(context, location, skill.header, files, along));
      const entry = lockEntryOf(opened, skill, files, context.root);
      const lock = { name: lockName(skill), entry, before: undefined };
      writes.push({ location, files, gone: [], conflicts: [], kind: 'installed', looked, origin: shown, lock });
    }
    return {
      ...{ origin: shown, source, skills, installed, unreadable: [...unreadable, ...broken] },
      apply: (actor, allowed = {}) =>
        writeAllowed(writes, actor, allowed, async (taken) =>
          options.link && origin.kind === 'folder'
            ? linkSkills(context, origin.path, chosen, taken)
            : writeSkills(context, taken, actor),
        ),
    };
  } finally {
    opened.close();
  }
}

/** What the lock says of a skill. */
export function lockEntryOf(
  { origin, at }: Pick<OpenedOrigin, 'origin' | 'at'>,
  { folder, skillFile }: Pick<ReadableSkill, 'folder' | 'skillFile'>,
  files: readonly IncomingFile[],
  root: string,
): LockEntry {
  const { commit, version, digest, digests } = at;
  const wellKnownDigest = digests?.get(folder);
  return {
    ...sourceFields(origin, root),
    ...(origin.kind === 'well-known' ? {} : { skillPath: skillFile }),
    ...(version === undefined ? {} : { version }),
    ...(wellKnownDigest === undefined ? {} : { wellKnownDigest }),
    ...(digest === undefined ? {} : { archiveDigest: digest }),
    computedHash: computedHash(files),
    registry: { ...(commit === undefined ? {} : { commit }), ...lockedFiles(files) },
  };
}

/** What a person is shown of a skill before it is installed. */
export async function skillToAdd(
  context: ChangeContext,
  location: SkillLocation,
  header: ReadableSkill['header'],
  files: readonly IncomingFile[],
  along: {
    readonly ids: readonly string[];
    readonly isAlong: boolean;
    readonly leftOut: number;
    readonly looked: InspectedSkill;
  },
): Promise<SkillToAdd> {
  const { skillId: id, validation } = location;
  const { byId, skills } = context.snapshot();
  const text = files.find(({ path }) => path === 'SKILL.md')?.bytes.toString('utf8') ?? '';
  const isNamed = { id, file: join(folderOf(location), 'SKILL.md') };
  return {
    ...{ id, name: header.name, description: header.description, leftOut: along.leftOut },
    tokens: await countTokens(bodyOf(text)),
    files: files.map(({ path, bytes }) => ({ path, size: bytes.length })),
    scripts: files.filter(isScript).map(({ path }) => path),
    allowedTools: header.allowedTools,
    requires: header.requires,
    missing: header.requires.filter((one) => !byId.has(one) && !along.ids.includes(one)),
    alongWith: along.isAlong,
    folder: folderOf(location),
    collides: collisionWith(context, location),
    findings: along.looked.inspection.findings,
    blocked: blockedAs(id, along.looked),
    problems: [
      ...textProblems(text, id, validation),
      ...(await confusableIds([...skills.filter((one) => one.id !== id), isNamed])).filter(
        ({ file }) => file === isNamed.file,
      ),
    ],
  };
}

// --- internal ---

/** @param mayLack - True: returns false for a skill that would be invalid here. Default: throws. @throws SKILL_INVALID. */
function isValid(files: readonly IncomingFile[], location: SkillLocation, mayLack = false): boolean {
  const bytes = files.find(({ path }) => path === 'SKILL.md')?.bytes ?? Buffer.alloc(0);
  try {
    checkValid(location, location.skillFile, null, bytes);
    return true;
  } catch (error) {
    if (mayLack && (isCodedError(error, 'SKILL_INVALID') || isCodedError(error, 'NOT_TEXT'))) return false;
    throw error;
  }
}

/** The name of a skill in the lock: its frontmatter name, as other tools use it, or its id when that name cannot be an id. */
function lockName({ id, header: { name } }: ReadableSkill): string {
  return slugOf(name) === id && isLockName(name) ? name : id;
}

/** What happens when an existing skill has the id of the new one, as a sentence. */
function collisionWith(context: ChangeContext, { skillId, source }: SkillLocation): string | undefined {
  const there = context.snapshot().byId.get(skillId);
  if (!there) return undefined;
  const other = `The skill ${there.qualifiedId} has this id as well`;
  if (context.collision === 'error') return `${other}, so agents will see neither of them (collision: error).`;
  const order = context.sources().map(({ id }) => id);
  const isFirst = order.indexOf(source) < order.indexOf(there.source);
  return isFirst === (context.collision === 'first')
    ? `${other}: agents will see the new skill, and can read the other skill only by that name.`
    : `${other} and comes first: agents will not see the new one under its id.`;
}

/** Whether a skill of the lock was installed from this origin. @throws ORIGIN_REFUSED if not, or when its files are gone. */
function isInstalledFrom(
  installed: InstalledSkills,
  name: string,
  entry: LockEntry,
  { source, sourceUrl, ref }: Pick<LockEntry, 'source' | 'sourceUrl' | 'ref'>,
): boolean {
  // `source` alone is not enough: one host may have many pages with skills.
  const isSame = source === entry.source && sourceUrl === entry.sourceUrl && ref === entry.ref;
  if (isSame && installed.find(name, entry)) return true;
  const at = entry.ref === undefined ? '' : ` at ${entry.ref}`;
  const why = isSame
    ? 'skills-lock.json says that it is installed from there, but its files are gone. To get them again: skill-registry add --frozen'
    : `it is installed from ${entry.sourceUrl ?? entry.source}${at}. Remove that one first: skill-registry remove ${name}`;
  throw originRefused(JSON.stringify(name), `${why}.`);
}

/** Links to the skills instead of copying them. Their files can change in their own folder, so they get no entry in the lock. */
async function linkSkills(
  context: ChangeContext,
  folder: string,
  chosen: readonly ReadableSkill[],
  writes: readonly SkillToWrite[],
): Promise<readonly ChangedSkill[]> {
  const made: string[] = [];
  try {
    for (const { location } of writes) {
      const link = folderOf(location);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(folder, chosen.find(({ id }) => id === location.skillId)?.folder ?? ''), link, 'dir');
      made.push(link);
    }
    await context.refresh();
    for (const { location } of writes) assertFound(context, location);
  } catch (error) {
    for (const link of made) if (lstatSync(link).isSymbolicLink()) unlinkSync(link);
    await context.refresh();
    throw error;
  }
  return writes.map(({ location }) => ({ id: location.skillId, revision: undefined, proposals: [] }));
}

/** By default a source follows no link that leads out of its folder, so the skill may be missing. */
function assertFound(context: ChangeContext, location: SkillLocation): void {
  const found = [...context.snapshot().byQualifiedId.values()];
  if (found.some(({ id, source }) => id === location.skillId && source === location.source)) return;
  const why = `the source "${location.source}" follows no link to it. Set allow_outside: true for that source, or leave --link out to copy it.`;
  throw originRefused(`"${location.skillId}"`, why);
}

function isScript({ path, executable, bytes }: IncomingFile): boolean {
  return (
    executable ||
    /\.(sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|ps1|bat|cmd|exe)$/i.test(path) ||
    bytes.subarray(0, 2).toString() === '#!'
  );
}
