import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CodedError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import {
  assertReadable,
  isReserved,
  listContained,
  readContained,
  relativeSegments,
  resourceNotFound,
  resourceTooLarge,
} from '../../lib/files/index.ts';
import type { ReadPolicy, SkillRegistry } from '../skill_registry/api.ts';

/** A path as the model gave it, and where that is. */
export interface WorkspacePath {
  readonly shown: string;
  /** Real. */
  readonly base: string;
  readonly below: string;
}

/**
 * One file; in a skill as `read_skill_resource` hands it over: in scope, through its gates, and told of.
 *
 * @throws SKILL_NOT_FOUND in a source for what is not there, and for what this turn may not see: nobody can tell one from the
 *   other. Else as `readContained`.
 */
export async function readWorkspaceFile(
  place: WorkspacePath,
  maxBytes: number,
  registry: SkillRegistry,
  turn: TurnContext,
): Promise<Uint8Array> {
  const { base, below, shown } = place;
  const segments = relativeSegments(below);
  assertReadable(segments, shown);
  const target = join(base, ...segments);
  assertNotReserved(target, place);
  const [policy] = await registry.admin.readPolicies([target], turn);
  if (!policy) return orNotThere(place, target, registry, () => readContained(base, below, maxBytes));
  const slash = /\/\.?$/.test(below) ? '/' : '';
  const path = policy.path === 'SKILL.md' && slash === '' ? {} : { path: policy.path + slash };
  // Also of what is not visible, so that the attempt is told of.
  const bytes = await registry.admin.readBytes(policy.skillId, path, turn).catch((error) => {
    throw policy.visible ? error : notThere(shown);
  });
  if (!policy.visible) throw notThere(shown);
  if (bytes.length > maxBytes) throw resourceTooLarge(shown, bytes.length, maxBytes);
  return bytes;
}

export interface WorkspaceEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
}

/** The direct children of a folder; in a skill those that its files are in. Skills this turn may not see are not there. */
export async function listWorkspaceFolder(
  place: WorkspacePath,
  registry: SkillRegistry,
  turn: TurnContext,
): Promise<{ readonly entries: readonly WorkspaceEntry[]; readonly left_out?: number }> {
  const { base, below, shown } = place;
  const segments = below === '' ? [] : relativeSegments(below);
  assertReadable([...segments, ''], shown);
  const folder = join(base, ...segments);
  assertNotReserved(folder, place);
  const [policy] = await registry.admin.readPolicies([folder], turn);
  if (policy && !policy.visible) throw notThere(shown);
  if (policy) return listSkillFolder(policy, registry, shown);
  const entries = orNotThere(place, folder, registry, () => listContained(base, below));
  const shownEntries = entries.filter(({ kind }) => kind !== 'private');
  const policies = await registry.admin.readPolicies(
    shownEntries.map(({ name }) => join(folder, name)),
    turn,
  );
  const leftOut = entries.length - shownEntries.length;
  return {
    entries: shownEntries.filter((_, index) => policies[index]?.visible !== false) as WorkspaceEntry[],
    ...(leftOut > 0 ? { left_out: leftOut } : {}),
  };
}

/** False also for a name that the system takes nowhere. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

// --- internal ---

/** As `read_skill` lists them, level by level. */
function listSkillFolder(
  { skillId, path }: ReadPolicy,
  registry: SkillRegistry,
  shown: string,
): { readonly entries: readonly WorkspaceEntry[]; readonly left_out?: number } {
  const prefix = path === '' ? '' : `${path}/`;
  const entries = new Map<string, WorkspaceEntry>();
  const { byId, byQualifiedId } = registry.snapshot();
  const skill = byId.get(skillId) ?? byQualifiedId.get(skillId);
  if (skill && path === '') {
    const name = basename(skill.file);
    entries.set(name, { name, kind: 'file', size: skill.bytes });
  }
  for (const { path: file, size } of registry.admin.resources(skillId)) {
    if (!file.startsWith(prefix)) continue;
    const [name = '', ...rest] = file.slice(prefix.length).split('/');
    entries.set(name, rest.length > 0 ? { name, kind: 'directory', size: 0 } : { name, kind: 'file', size });
  }
  if (entries.size === 0 && path !== '') throw resourceNotFound(shown, 'the skill has no files in such a folder');
  const leftOut = path === '' ? registry.admin.leftOut(skillId) : 0;
  const sorted = [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { entries: sorted, ...(leftOut > 0 ? { left_out: leftOut } : {}) };
}

/** Beside the skills of a source, what is not there is answered as a skill is that may not be seen. */
function orNotThere<T>({ shown }: WorkspacePath, target: string, registry: SkillRegistry, use: () => T): T {
  try {
    return use();
  } catch (error) {
    const isMissing = isCodedError(error, 'RESOURCE_NOT_FOUND') && !isThere(target);
    throw isMissing && registry.admin.writePolicy(target) ? notThere(shown) : error;
  }
}

/** Whether it is there or not: nobody learns what lies in `data/`. */
function assertNotReserved(target: string, { base, shown }: WorkspacePath): void {
  if (isReserved(target, base)) throw resourceNotFound(shown, 'the registry keeps it for itself');
}

function notThere(shown: string): CodedError {
  const path = shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
  const message = `Nothing at "${path}" that you may see: there is no such file, or it is of a skill that is not yours to use. Lists show those that are.`;
  return new CodedError('SKILL_NOT_FOUND', message, { path });
}
