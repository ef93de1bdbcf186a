import { basename, dirname, relative, sep } from 'node:path';
import { futureRealPath, isInside } from '../../../../lib/files/index.ts';
import type { Snapshot } from '../../core/catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../../core/config/config.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';
import { exists } from './skill-location.ts';
import type { WritePolicy } from './types.ts';

/**
 * `create` changes nothing that exists. `update`: the path exists, lies in a skill or is its SKILL.md, or a SKILL.md
 * there would hide a known skill. A write without a history could not be undone, so it is denied.
 * @param path - Absolute, real; it need not exist.
 */
export function writePolicyOf(
  path: string,
  { byQualifiedId }: Pick<Snapshot, 'byQualifiedId'>,
  sources: readonly SkillSource[],
  writes: SkillRegistryConfig['writes'],
): WritePolicy | undefined {
  const source = sources.find(({ isCode }) => isCode?.(path)) ?? sources.find((candidate) => candidate.contains(path));
  if (!source) return undefined;
  const skillId = skillIdAt(path, sources);
  const touches = exists(path) || [...byQualifiedId.values()].some((skill) => isTouched(skill, path, skillId));
  const action = touches ? 'update' : 'create';
  const target = targetOf(path, action, source, byQualifiedId);
  const policy = writes[action];
  const reason =
    policy === 'deny' ? undefined : whyNever(path, source, policy === 'allow' && action === 'update' && !target);
  return {
    action,
    source: source.id,
    ...(reason === undefined ? { policy } : { policy: 'deny', reason }),
    ...(target ? { target } : skillId !== undefined && { skillId }),
  };
}

/** undefined for a file that no source reads as a skill. */
export function skillIdAt(path: string, sources: readonly SkillSource[]): string | undefined {
  if (isSkillFileName(basename(path))) return basename(dirname(path));
  return sources.map((source) => source.bareSkillId?.(path)).find((id) => id !== undefined);
}

// --- internal ---

function whyNever(path: string, { writing, bareSkillId }: SkillSource, overwrites: boolean): string | undefined {
  if (!writing) return 'that source is not writable';
  if (/^\.(git)?ignore$/i.test(basename(path))) return 'it could hide skills, and only a person may decide that';
  if (overwrites && bareSkillId?.(path) !== undefined)
    return 'a skill that is a single file has no folder of its own, so only a person changes it';
  return overwrites
    ? 'it would change or hide a file that belongs to no loadable skill, and no history would keep the old content'
    : undefined;
}

/** undefined when a proposal for the path is not possible. */
function targetOf(
  path: string,
  action: WritePolicy['action'],
  { writing }: SkillSource,
  byQualifiedId: Snapshot['byQualifiedId'],
): WritePolicy['target'] {
  if (!writing) return undefined;
  const owner = [...byQualifiedId.values()].find(({ dir }) => dir !== null && path !== dir && isInside(path, dir));
  if (owner?.dir)
    return { kind: 'update', skillId: owner.qualifiedId, path: relative(owner.dir, path).split(sep).join('/') };
  const folder = dirname(path);
  const isNew =
    action === 'create' && basename(path) === 'SKILL.md' && dirname(folder) === futureRealPath(writing.folder);
  return isNew ? { kind: 'create', skillId: basename(folder), path: 'SKILL.md' } : undefined;
}

function isTouched({ id, dir, file, realFile }: Skill, path: string, newId: string | undefined): boolean {
  if (path === realFile || path === file) return true;
  if (dir !== null && isInside(path, dir)) return true;
  // A new skill may take another's id, and a SKILL.md hides every skill below its folder.
  if (newId === id) return true;
  return isSkillFileName(basename(path)) && dir !== null && isInside(dir, dirname(path));
}
