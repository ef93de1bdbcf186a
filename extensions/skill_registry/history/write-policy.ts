import { lstatSync } from 'node:fs';
import { basename, dirname, relative, sep } from 'node:path';
import { futureRealPath, isInside } from '../../../lib/files/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import { isSkillFileName } from '../sources/walk/find-skill-files.ts';
import { newLacks } from '../validate/validate-skill.ts';
import type { WritePolicy } from './types.ts';

/**
 * What the owner allows to do with a path in a source; undefined outside of all sources.
 *
 * To create is to add a skill and touch nothing that is there. A path changes something (`update`) when it exists, lies in a
 * skill or is read as one, or when a SKILL.md there would take the place of skills that are known. What nobody could undo is
 * denied: nothing is written where no history is kept.
 *
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
  const touches = exists(path) || [...byQualifiedId.values()].some((skill) => isTouched(skill, path));
  const action = touches ? 'update' : 'create';
  const target = targetOf(path, action, source, byQualifiedId);
  const policy = writes[action];
  const skillId = basename(dirname(path));
  const reason =
    policy === 'deny' ? undefined : whyNever(path, source, policy === 'allow' && action === 'update' && !target);
  return {
    ...{ action, policy: reason === undefined ? policy : 'deny', source: source.id },
    ...(reason === undefined ? {} : { reason }),
    ...(target ? { target } : {}),
    ...(!target && isSkillFileName(basename(path)) ? { lacks: (text) => newLacks(null, text, skillId) } : {}),
  };
}

// --- internal ---

function whyNever(path: string, { writing }: SkillSource, overwrites: boolean): string | undefined {
  if (!writing) return 'nothing is written in that source';
  if (/^\.(git)?ignore$/i.test(basename(path))) return 'it would hide skills, and that is for a person to decide';
  return overwrites
    ? 'it would change or hide what is there, without being a file of a skill that can be loaded, so no history would have what was there'
    : undefined;
}

/** The file of a skill that a path is, for a proposal; none for what is neither in a skill nor a new one. */
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

function isTouched({ id, dir, file, realFile }: Skill, path: string): boolean {
  if (path === realFile || path === file) return true;
  if (dir !== null && isInside(path, dir)) return true;
  if (basename(path).toLowerCase() !== 'skill.md') return false;
  // A SKILL.md hides every skill below it, and a folder of the same name may come first and win the id.
  const folder = dirname(path);
  return (dir !== null && isInside(dir, folder)) || basename(folder) === id;
}

/** What may not be looked at may be there. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
