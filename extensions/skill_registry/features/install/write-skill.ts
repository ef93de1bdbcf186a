import { isDeepStrictEqual } from 'node:util';
import { tellHowFar } from '../../../../lib/breaks/index.ts';
import { originRefused } from '../../../../lib/fetch/index.ts';
import { futureRealPath } from '../../../../lib/files/index.ts';
import type { InspectedSkill } from '../guard/inspect-files.ts';
import { LOCK_FILE, type LockScope } from '../guard/installed.ts';
import {
  type ChangeContext,
  type ConflictProposals,
  type FileConflict,
  freeLocation,
} from '../history/change-context.ts';
import { skillExists } from '../history/errors.ts';
import { archiveFolder } from '../history/journal/journal-entries.ts';
import type { PlannedChange } from '../history/journal/writer.ts';
import {
  agentFolders,
  checkValid,
  filePath,
  folderExists,
  folderOf,
  personFolders,
  type SkillLocation,
} from '../history/skill-location.ts';
import type { Actor } from '../history/types.ts';
import { planOutdated } from './errors.ts';
import { filesAt, scopeAt } from './find-installed.ts';
import { beginLock, lockedFiles, readLock } from './lock.ts';
import type { InstallContext } from './open-origin.ts';
import type { IncomingFile } from './opened-origin.ts';
import type { ChangedSkill, LockEntry } from './types.ts';

export interface SkillToWrite {
  readonly location: SkillLocation;
  readonly kind: 'created' | 'installed' | 'updated';
  /** Only files that are new or changed. */
  readonly files: readonly IncomingFile[];
  /** Of all files as they are written; of a skill with conflicts, also as they are with the other side of these. */
  readonly looked: readonly InspectedSkill[];
  readonly origin: string;
  /** The new lock entry, and the entry at the time of the plan. Absent for a skill that was made here. */
  readonly lock?: { readonly name: string; readonly entry: LockEntry; readonly before: LockEntry | undefined };
  readonly update?: {
    readonly gone: readonly string[];
    readonly conflicts: readonly FileConflict[];
    readonly planned: readonly IncomingFile[];
  };
}

/**
 * @param folder - Absolute: of a writable source, or of agents. Default: the first writable source.
 * @param scope - Has the lock that lists the skill, and must cover it. Absent: none does.
 */
export function locationFor(context: ChangeContext, id: string, folder?: string, scope?: LockScope): SkillLocation {
  const { root, sources } = context;
  const ofAgents = folder === undefined ? [] : [...agentFolders(root), ...personFolders(root, sources())];
  const folders = [...sources(), ...ofAgents].flatMap(({ id: source, writing }) =>
    writing ? [{ id: source, writing, real: futureRealPath(writing.folder) }] : [],
  );
  const named = folders.filter(({ real }) => folder === undefined || real === futureRealPath(folder));
  const remedy = `Add { path: ${JSON.stringify(folder)} } to \`sources\` in data/skill_registry/config.yaml.`;
  if (folder !== undefined && named.length === 0)
    throw originRefused(JSON.stringify(folder), `no source that may be written is this folder. ${remedy}`);
  const taken = named.filter(({ real }) => scope?.covers(real) ?? true);
  if (named[0] && taken.length === 0) {
    const why = 'it lies outside the root, and skills-lock.json of a root names nothing there.';
    const advice = 'Have { path: skills } in `sources`, and leave --to out.';
    throw originRefused(JSON.stringify(named[0].real), `${why} ${advice}`);
  }
  const both = 'add it to another source with --to';
  const remove = `To replace it, remove it first: skill-registry remove ${id}. To keep both, ${both}.`;
  return freeLocation(context, id, taken.length > 0 ? taken : context.sources(), both, remove);
}

export function isSameFiles(here: readonly IncomingFile[], planned: readonly IncomingFile[]): boolean {
  return lockedFiles(here).digest === lockedFiles(planned).digest;
}

/**
 * Writes each skill whole or not at all. If one fails, the skills installed before it are removed again.
 * @throws SHOWN_CHANGED when the files here or the lock have changed since the plan.
 */
export async function writeSkills(
  context: InstallContext,
  skills: readonly SkillToWrite[],
  actor: Actor,
): Promise<readonly ChangedSkill[]> {
  const { writer } = context;
  const asked = await Promise.all(skills.map((skill) => conflictsOf(context, skill)));
  const changed = await writer.exclusively(() => {
    // Report a broken lock before anything is written.
    const locks = skills.map(({ location, lock }) => (lock ? lockOf(context, location) : NO_ENTRIES));
    for (const { location } of skills) writer.assertFinished(location.key);
    const planned = skills.map((skill, at) => ({ skill, changes: changesOf(skill), proposals: asked[at] ?? [] }));
    for (const [at, skill] of skills.entries()) assertAsPlanned(skill, locks[at] ?? NO_ENTRIES);
    const done: ChangedSkill[] = [];
    try {
      for (const one of planned) {
        tellHowFar(done.length, planned.length);
        done.push(writeSkill(context, one, actor));
      }
    } catch (error) {
      for (const [at, skill] of [...skills.slice(0, done.length).entries()].reverse())
        takeOut(context, skill, locks[at] ?? NO_ENTRIES, actor);
      throw error;
    }
    return done;
  });
  await context.refresh();
  return changed;
}

// --- internal ---

type Entries = ReadonlyMap<string, LockEntry>;
const NO_ENTRIES: Entries = new Map();

function lockOf(context: ChangeContext, location: SkillLocation): Entries {
  const scope = scopeAt(context, folderOf(location));
  beginLock(scope);
  return readLock(scope.folder).skills;
}

interface PlannedWrite extends Pick<PlannedChange, 'changes'> {
  readonly skill: SkillToWrite;
  readonly proposals: readonly Awaited<ReturnType<ConflictProposals['prepare']>>[];
}

function writeSkill(
  { writer }: ChangeContext,
  { skill: { lock, location, kind, origin }, changes, proposals }: PlannedWrite,
  { by, reason = `from ${origin}` }: Actor,
): ChangedSkill {
  const alongside: PlannedChange['alongside'] = (database) => {
    for (const proposal of proposals) proposal.store(database);
  };
  const { number } = writer.apply({ location, changes, kind, by, reason, lock, alongside });
  return { id: location.skillId, revision: number, proposals: proposals.map(({ id }) => id) };
}

/** Undoes an installation; updates stay. */
function takeOut(
  { writer }: ChangeContext,
  { kind, location, lock }: SkillToWrite,
  locked: Entries,
  { by }: Actor,
): void {
  if (kind === 'updated') return;
  writer.apply({
    location,
    changes: [],
    move: { direction: 'out', folder: archiveFolder(location) },
    kind: 'removed',
    by,
    reason: 'another one could not be written',
    lock: lock && !locked.has(lock.name) ? { name: lock.name, entry: null } : undefined,
  });
}

/** Minutes may pass between the plan and the approval. @throws SHOWN_CHANGED. */
function assertAsPlanned({ location, update, lock }: SkillToWrite, locked: Entries): void {
  if (update && !(folderExists(location) && isSameFiles(filesAt(location), update.planned)))
    throw planOutdated(location.skillId, `${folderOf(location)} has changed`);
  if (lock && !isDeepStrictEqual(locked.get(lock.name), lock.before))
    throw planOutdated(location.skillId, `The entry "${lock.name}" in ${LOCK_FILE} has changed`);
}

async function conflictsOf(
  { conflicts: asked }: InstallContext,
  { location, update, origin }: SkillToWrite,
): Promise<PlannedWrite['proposals']> {
  if (!asked) return [];
  const justification = `An update from ${origin} changes the same lines as somebody did here.`;
  const conflicts = (update?.conflicts ?? []).map((one) => ({ ...one, path: filePath(one.path, location) }));
  return Promise.all(conflicts.map((conflict) => asked.prepare(location, conflict, justification)));
}

function changesOf({ location, kind, files, update }: SkillToWrite): PlannedChange['changes'] {
  if (kind !== 'updated' && folderExists(location))
    throw skillExists(location.skillId, `${folderOf(location)} is there already`);
  // SKILL.md last: the skill appears when its SKILL.md does.
  const isLast = ({ path }: IncomingFile): number => Number(path === 'SKILL.md');
  const sorted = files.toSorted((a, b) => isLast(a) - isLast(b));
  return [
    ...(update?.gone ?? []).map((path) => ({ path: filePath(path, location), after: null })),
    ...sorted.map(({ path, bytes, executable }) => {
      const target = filePath(path, location);
      checkValid(location, target, null, bytes);
      return { path: target, after: bytes, mode: executable ? 0o755 : 0o644 };
    }),
  ];
}
