import { isUtf8 } from 'node:buffer';
import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CodedError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { withFallback } from '../../lib/errors/index.ts';
import {
  assertReadable,
  type FolderEntry,
  isReserved,
  listContained,
  readContained,
  relativeSegments,
  resourceNotFound,
  resourceTooLarge,
} from '../../lib/files/index.ts';
import { nameShownAs, showName } from '../../lib/text/index.ts';
import type { ReadPolicy, SkillRegistry } from '../skill_registry/api.ts';

export interface WorkspacePath {
  readonly shown: string;
  /** Real path of its first folder. */
  readonly base: string;
  readonly below: string;
  /** `below`, when that folder is `extensions/`. */
  readonly belowExtensions: string | undefined;
}

/**
 * Reads one file; a file of a skill only when this turn may see the skill, and with an event.
 * @throws SKILL_NOT_FOUND in a source for a missing, invisible or held file: a model must not tell which.
 */
export async function readWorkspaceFile(
  location: WorkspacePath,
  maxBytes: number,
  registry: SkillRegistry,
  turn: TurnContext,
): Promise<Uint8Array> {
  const { base, shown } = location;
  const { below, target } = realTarget(location, 'file');
  const [policy] = await registry.admin.readPolicies([target], turn);
  if (!policy) {
    const bytes = withSameError(location, target, registry, () => readContained(base, below, maxBytes));
    if (await registry.admin.mayGivePlainFile(target, bytes)) return bytes;
    throw notVisible(shown);
  }
  const slash = /\/\.?$/.test(below) ? '/' : '';
  const path = policy.path === 'SKILL.md' && slash === '' ? {} : { path: policy.path + slash };
  const countsAsLoad = (bytes: Uint8Array): boolean => {
    if (bytes.length > maxBytes) throw resourceTooLarge(shown, bytes.length, maxBytes);
    decodeText(bytes, shown);
    return true;
  };
  // Also when it is not visible, so that the attempt causes an event.
  const bytes = await registry.admin.readBytes(policy.skillId, { ...path, countsAsLoad }, turn).catch((error) => {
    throw policy.visible ? error : notVisible(shown);
  });
  if (!policy.visible) throw notVisible(shown);
  return bytes;
}

/** @throws NOT_TEXT. */
export function decodeText(bytes: Uint8Array, shown: string): string {
  if (isUtf8(bytes)) return Buffer.from(bytes).toString('utf8');
  throw new CodedError('NOT_TEXT', `"${shown}" is no UTF-8 text file.`, { path: shown });
}

interface WorkspaceList {
  readonly entries: readonly FolderEntry[];
  readonly left_out?: number;
}

/** In a skill, only entries with files of the skill. Leaves out skills that this turn may not see. */
export async function listWorkspaceFolder(
  location: WorkspacePath,
  registry: SkillRegistry,
  turn: TurnContext,
): Promise<WorkspaceList> {
  const { base, shown } = location;
  const { below, target: folder } = realTarget(location, 'folder');
  const [policy] = await registry.admin.readPolicies([folder], turn);
  if (policy && !policy.visible) throw notVisible(shown);
  if (policy) {
    // Inspects it: the names of its files come from its author as well.
    await registry.admin.readBytes(policy.skillId, { countsAsLoad: false }, turn);
    return listSkillFolder(policy, registry, shown, turn);
  }
  const entries = withSameError(location, folder, registry, () => listContained(base, below));
  const shownEntries = entries.filter(({ kind }) => kind !== 'private');
  const policies = await registry.admin.readPolicies(
    shownEntries.map(({ name }) => join(folder, name)),
    turn,
  );
  const leftOut = entries.length - shownEntries.length;
  const visible: FolderEntry[] = [];
  for (const [index, entry] of shownEntries.entries()) {
    const policy = policies[index];
    const isGiven = policy?.visible ?? (await registry.admin.mayGivePlainFile(join(folder, entry.name), NO_BYTES));
    if (isGiven) visible.push(entry);
  }
  return withShownNames(visible, leftOut);
}

/** False also for a name that the system does not allow. */
export function isThere(path: string): boolean {
  return withFallback(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined, false);
}

// --- internal ---

const NO_BYTES = new Uint8Array();

function realTarget(
  location: WorkspacePath,
  kind: 'file' | 'folder',
): { readonly below: string; readonly target: string } {
  const { base, shown } = location;
  const below = realNames(location);
  const segments = kind === 'folder' && below === '' ? [] : relativeSegments(below);
  assertReadable(kind === 'folder' ? [...segments, ''] : segments, shown);
  const target = join(base, ...segments);
  // The error is the same whether the file exists or not.
  if (isReserved(target, base)) throw resourceNotFound(shown, 'it belongs to the registry itself');
  return { below, target };
}

/** Writes hidden characters in names as `⟦U+202E⟧`, like `read_skill`. `realNames` reads them back. */
function withShownNames(entries: readonly FolderEntry[], leftOut: number): WorkspaceList {
  const shown = entries.map((entry) => ({ ...entry, name: showName(entry.name) }));
  return { entries: shown, ...(leftOut > 0 ? { left_out: leftOut } : {}) };
}

function realNames({ base, below }: WorkspacePath): string {
  if (!below.includes('⟦')) return below;
  const found: string[] = [];
  for (const shown of below.split('/')) {
    const there = withFallback(() => listContained(base, found.join('/')).map(({ name }) => name), []);
    found.push(nameShownAs(shown, there));
  }
  return found.join('/');
}

function listSkillFolder(
  { skillId, path }: ReadPolicy,
  registry: SkillRegistry,
  shown: string,
  turn: TurnContext,
): WorkspaceList {
  const prefix = path === '' ? '' : `${path}/`;
  const entries = new Map<string, FolderEntry>();
  const { byId, byQualifiedId } = registry.snapshot();
  const skill = byId.get(skillId) ?? byQualifiedId.get(skillId);
  if (skill && path === '') {
    const name = basename(skill.file);
    entries.set(name, { name, kind: 'file', size: skill.bytes });
  }
  for (const { path: file, size } of registry.admin.resources(skillId, turn)) {
    if (!file.startsWith(prefix)) continue;
    const [name = '', ...rest] = file.slice(prefix.length).split('/');
    entries.set(name, rest.length > 0 ? { name, kind: 'directory', size: 0 } : { name, kind: 'file', size });
  }
  if (entries.size === 0 && path !== '') throw resourceNotFound(shown, 'the skill has no files in such a folder');
  const leftOut = path === '' ? registry.admin.leftOutCount(skillId) : 0;
  const sorted = [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return withShownNames(sorted, leftOut);
}

/** In a source, a missing file gives the same error as a file that this turn may not see. */
function withSameError<T>({ shown }: WorkspacePath, target: string, registry: SkillRegistry, use: () => T): T {
  try {
    return use();
  } catch (error) {
    const isMissing = isCodedError(error, 'RESOURCE_NOT_FOUND') && !isThere(target);
    throw isMissing && registry.admin.writePolicy(target) ? notVisible(shown) : error;
  }
}

function notVisible(shown: string): CodedError {
  const path = shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
  const why = 'there is no such file, or it belongs to a skill that you may not use. Lists show those that are.';
  return new CodedError('SKILL_NOT_FOUND', `Nothing at "${path}" that you may see: ${why}`, { path });
}
