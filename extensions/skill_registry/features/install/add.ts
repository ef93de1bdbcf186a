import { existsSync, lstatSync, mkdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { unlessCoded } from '../../../../lib/errors/index.ts';
import { originRefused } from '../../../../lib/fetch/index.ts';
import { futureRealPath } from '../../../../lib/files/index.ts';
import { slugOf } from '../../core/skill/skill.ts';
import { type LockScope, lockScopes } from '../guard/installed.ts';
import { assertNotRevoked } from '../guard/revoked.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { agentFolders, checkValid, folderOf, type SkillLocation } from '../history/skill-location.ts';
import {
  originOf,
  pageIn,
  parseOrigin,
  pinnedOrigin,
  shownOrigin,
  sourceFields,
  sourceKey,
  withHeaders,
} from './address.ts';
import { chooseSkills, type ReadableSkill } from './choose.ts';
import { originInvalid } from './errors.ts';
import { filesAt, findInstalled, type InstalledSkills, scopeAt, scopesOf } from './find-installed.ts';
import { applyOf, blockedAs, inspectIncoming, type PlannedSkill, planSkill } from './let-in.ts';
import { assertApproved, assertLock, computedHash, isAsLocked, isLockName, lockedFiles, readLock } from './lock.ts';
import { type InstallContext, openOrigin, withOrigins } from './open-origin.ts';
import {
  type IncomingFile,
  type OpenedOrigin,
  type OriginSkill,
  type OriginSkillFiles,
  readOriginSkills,
} from './opened-origin.ts';
import { agentsFor, folderNamed, knownAgents, makeLinks, planLinks } from './places.ts';
import type { AddOptions, AddPlan, ChangedSkill, LockEntry } from './types.ts';
import { locationFor, type SkillToWrite } from './write-skill.ts';

export async function planAdd(context: InstallContext, what: string, options: AddOptions): Promise<AddPlan> {
  const { root } = context;
  const folder = folderNamed(options.to, root);
  const scope = folder === undefined ? lockScopes(root)[0] : scopeAt(context, futureRealPath(folder));
  const agents = agentsFor(scope, folder, options.agents);
  const origin = withHeaders(parseOrigin(what, options.cwd ?? root), options.headers, true);
  const shown = shownOrigin(origin);
  if (options.link && origin.kind !== 'folder') throw originInvalid(what, 'only a folder can be linked.');
  const source = sourceKey(origin);
  assertNotRevoked(source);
  await context.assertMayCome(source, undefined, pageIn(origin));
  const opened = await openOrigin(context, origin, options.all ? undefined : (options.skills ?? []));
  try {
    const below = origin.kind === 'git' ? (origin.path ?? '') : '';
    const { chosen, alongWith, unreadable } = await chooseSkills(opened, below, options, shown);
    const { byId } = context.snapshot();
    const toAdd = chosen.filter(({ id }) => !alongWith.has(id) || !byId.has(id));
    const locked = readLock(scope.folder).skills;
    const from = sourceFields(origin, scope);
    const there = await findInstalled(context, scope);
    const isThere = (name: string) => isInstalledFrom(there, name, locked.get(name), from);
    const installed = new Set(toAdd.filter((skill) => isThere(lockName(skill))));
    const missing = toAdd.filter((skill) => !installed.has(skill));
    const ids = missing.map(({ id }) => id);
    const covering = options.link ? undefined : scope;
    const located = missing.map((skill) => ({ ...skill, location: locationFor(context, skill.id, folder, covering) }));
    const planned: PlannedSkill[] = [];
    const broken: string[] = [];
    for (const skill of await readOriginSkills(opened, located)) {
      const { location, files, skillFile } = skill;
      await takeBreak(planned.length, located.length, 'Inspecting what came');
      await context.assertMayCome(source, skill.id, pageIn(origin));
      if (isValid(files, location, options.all)) {
        const links = planLinks(scope, location, options.link ? [] : agents);
        const entry = lockEntryOf(opened, skill, scope, links.agents);
        const lock = { name: lockName(skill), entry, before: undefined };
        const write = { location, kind: 'installed', origin: shown, lock } as const;
        planned.push(await planSkill(context, skill, write, { ids, isAlong: alongWith.has(skill.id), links }));
      } else broken.push(skillFile);
    }
    const writes = planned.map(({ write }) => write);
    const isLink = options.link && origin.kind === 'folder';
    return {
      origin: shown,
      source,
      skills: planned.map(({ view }) => view),
      installed: [...installed].map(lockName),
      unreadable: [...unreadable, ...broken],
      apply: isLink
        ? applyOf(context, writes, (_, allowed) => linkSkills(context, origin.path, missing, allowed))
        : applyOf(context, writes),
    };
  } finally {
    opened.close?.();
  }
}

export function lockEntryOf(
  { origin, at: { commit, version, digest, digests } }: Pick<OpenedOrigin, 'origin' | 'at'>,
  { folder, skillFile, files }: OriginSkill & OriginSkillFiles,
  scope: LockScope,
  links: readonly string[] | undefined,
): LockEntry {
  const headers = origin.kind === 'well-known' ? origin.headers : undefined;
  return {
    ...sourceFields(origin, scope),
    skillPath: origin.kind === 'well-known' ? undefined : skillFile,
    version,
    wellKnownDigest: digests?.get(folder),
    archiveDigest: digest,
    computedHash: computedHash(files),
    registry: { commit, ...lockedFiles(files), ...(links && links.length > 0 && { links }), headers },
  };
}

export async function planRestore(context: InstallContext, to: string | undefined): Promise<AddPlan> {
  const [project] = lockScopes(context.root);
  const person = scopesOf(context).find(({ ofPerson }) => ofPerson);
  const unlinked = person ? [...(await lostOf(context, person)).unlinked] : [];
  if (unlinked.length === 0) assertLock(context.root);
  const { skills, broken } = readLock(context.root);
  if (unlinked.length === 0 || skills.size + broken.size > 0) assertApproved(context);
  const [unusable] = broken;
  if (unusable) throw originRefused(`"${unusable[0]}" in skills-lock.json`, `${unusable[1]}.`);
  const { absent, ...found } = await lostOf(context, project);
  unlinked.push(...found.unlinked);
  for (const [name, entry] of absent) {
    const origin = originOf(entry, context.root);
    assertNotRevoked(sourceKey(origin));
    await context.assertMayCome(sourceKey(origin), slugOf(name), pageIn(origin));
  }
  const fetched: PlannedSkill[] = [];
  const ids = absent.map(([name]) => slugOf(name));
  await withOrigins(context, async (open) => {
    for (const [name, entry] of absent) {
      const origin = pinnedOrigin(originOf(entry, context.root), entry);
      const incoming = await incomingOf(await open(origin, name), name, entry);
      if (!isAsLocked(incoming.files, entry)) {
        const what = entry.registry ? entry.registry.digest : `computedHash ${entry.computedHash}`;
        throw originRefused(`"${name}"`, `${shownOrigin(origin)} has other files than the lock says (${what}).`);
      }
      const folder = folderNamed(to, context.root) ?? folderOfTools(context.root, entry);
      const location = locationFor(context, incoming.id, folder, project);
      const links = planLinks(project, location, knownAgents(entry));
      const lock = { name, entry, before: entry };
      const write = { location, kind: 'installed', origin: shownOrigin(origin), lock } as const;
      fetched.push(await planSkill(context, incoming, write, { ids, isAlong: false, links }));
    }
  });
  const apply = applyOf(
    context,
    fetched.map(({ write }) => write),
  );
  return {
    origin: 'skills-lock.json',
    skills: fetched.map(({ view }) => view),
    installed: [],
    links: unlinked.flatMap(({ missing }) => missing),
    unreadable: [],
    async apply(...given) {
      for (const { scope, location, entry } of unlinked) makeLinks(scope, location, entry);
      return apply(...given);
    },
  };
}

export async function incomingOf(
  opened: OpenedOrigin,
  name: string,
  { skillPath }: LockEntry,
): Promise<ReadableSkill & OriginSkillFiles> {
  const folder = skillPath?.replace(/(^|\/)[^/]*$/, '') || name;
  const { chosen } = await chooseSkills(opened, '', { skills: [folder] }, shownOrigin(opened.origin));
  const [skill] = await readOriginSkills(opened, chosen.slice(0, 1));
  if (!skill) throw originRefused(`"${name}"`, 'its origin does not have it any more.');
  if (skill.id !== slugOf(name)) throw originRefused(`"${name}"`, `its origin calls it "${skill.id}" now.`);
  return skill;
}

// --- internal ---

/** @param mayLack - Returns false for an invalid skill instead of throwing SKILL_INVALID or NOT_TEXT. */
function isValid(files: readonly IncomingFile[], location: SkillLocation, mayLack = false): boolean {
  const bytes = files.find(({ path }) => path === 'SKILL.md')?.bytes ?? Buffer.alloc(0);
  const check = (): true => {
    checkValid(location, location.skillFile, null, bytes);
    return true;
  };
  return mayLack ? unlessCoded(check, false) : check();
}

/** The frontmatter's name, which other tools use; the id when that is no valid lock name. */
function lockName({ id, header: { name } }: ReadableSkill): string {
  return slugOf(name) === id && isLockName(name) ? name : id;
}

/** @throws ORIGIN_REFUSED when the skill was installed from another origin, or its files are gone. */
function isInstalledFrom(
  installed: InstalledSkills,
  name: string,
  entry: LockEntry | undefined,
  { source, sourceUrl, ref }: Pick<LockEntry, 'source' | 'sourceUrl' | 'ref'>,
): boolean {
  if (!entry) return false;
  // One host can have many pages with skills, so `source` alone does not identify a page.
  const isSame = source === entry.source && sourceUrl === entry.sourceUrl && ref === entry.ref;
  if (isSame && installed.find(name, entry)) return true;
  const at = entry.ref === undefined ? '' : ` at ${entry.ref}`;
  const why = isSame
    ? 'skills-lock.json says that it is installed from there, but its files are gone. To get them again:'
    : `it is installed from ${entry.sourceUrl ?? entry.source}${at}. Remove that one first:`;
  const command = isSame ? 'add --frozen' : `remove ${name}`;
  throw originRefused(JSON.stringify(name), `${why} skill-registry ${command}.`);
}

/** Linked files can change in their own folder, so they get no lock entry. */
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
function assertFound(context: ChangeContext, { skillId, source }: SkillLocation): void {
  const found = [...context.snapshot().byQualifiedId.values()];
  if (found.some((skill) => skill.id === skillId && skill.source === source)) return;
  const why = `the source "${source}" follows no link to it.`;
  const advice = 'Set allow_outside: true for that source, or leave --link out to copy it.';
  throw originRefused(`"${skillId}"`, `${why} ${advice}`);
}

/** What a lock lists and is not there; of a skill that was changed in the home directory nothing. */
async function lostOf(context: InstallContext, scope: LockScope) {
  const absent: (readonly [string, LockEntry])[] = [];
  const unlinked: { scope: LockScope; location: SkillLocation; entry: LockEntry; missing: readonly string[] }[] = [];
  const installed = await findInstalled(context, scope);
  for (const [name, entry] of readLock(scope.folder).skills) {
    const location = installed.find(name, entry)?.location;
    if (!location) {
      absent.push([name, entry]);
      continue;
    }
    const files = filesAt(location);
    if (!isAsLocked(files, entry)) {
      if (scope.ofPerson) continue;
      throw changedHere(name, folderOf(location));
    }
    const missing = planLinks(scope, location, knownAgents(entry)).links.filter((link) => !existsSync(link));
    // No other program is shown what is held.
    if (missing.length > 0 && blockedAs(location.skillId, [await inspectIncoming(files)]) === undefined)
      unlinked.push({ scope, location, entry, missing });
  }
  return { absent, unlinked };
}

function changedHere(name: string, folder: string): Error {
  const why = 'it has changed here (skill-registry verify says what), and --frozen writes over no change.';
  const advice = `To drop the change, move ${JSON.stringify(folder)} away; then try again`;
  return originRefused(`"${name}"`, `${why} ${advice}, with --to ${JSON.stringify(dirname(folder))}.`);
}

/** For entries of other tools: the folder where those tools look for skills, if it exists. */
function folderOfTools(root: string, { registry }: LockEntry): string | undefined {
  const [folder] = agentFolders(root).flatMap(({ id, writing }) => (id === 'agents' && writing ? writing.folder : []));
  return registry === undefined && folder !== undefined && existsSync(folder) ? folder : undefined;
}
