/** Skills of a space come in from a tree of folders, and go out into one. */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { foldersAbove, futureRealPath, writeContained } from '../../../../../lib/files/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { skillExists } from '../../history/errors.ts';
import { openOrigin } from '../../install/open-origin.ts';
import { type OriginEntry, originSkills, readOriginSkills } from '../../install/opened-origin.ts';
import { assertMayPublish, publish } from './publish.ts';
import { filesOf, skillsOf, type Team } from './team.ts';

export interface ImportedTree {
  /** Ids of what was new, or another content. */
  readonly published: readonly string[];
  /** How many were there already, with the same files. */
  readonly same: number;
  readonly refused: readonly RefusedSkill[];
}

export interface RefusedSkill {
  readonly id: string;
  readonly code: string;
  readonly message: string;
  /** What `inspected` has to say of it, where only that keeps it out. */
  readonly digest?: unknown;
}

/**
 * Publishes each skill of the tree under the name of its folder, one by one; what is not in the tree stays. Files with
 * names of secrets and leftovers of editors are left out.
 * @param inspected - By id: what a person has looked at. @throws INVALID_ARGUMENT without one; FOUR_EYES where
 *   `four_eyes` is set, unless the space has never had a skill.
 */
export async function importTree(
  team: Team,
  folder: string,
  { by, inspected }: { readonly by: string; readonly inspected: ReadonlyMap<string, string> },
): Promise<ImportedTree> {
  const { head } = await team.store.state(team.space);
  if (head > 0) assertMayPublish(team);
  const origin = await openOrigin({}, { kind: 'folder', path: folder });
  const skills = originSkills(origin).map((skill) => ({ ...skill, id: basename(skill.folder) || origin.name }));
  if (skills.length === 0) throw invalidArgument(`${folder} has no folder with a SKILL.md.`);
  const entries = entriesOfEach(skills, origin.entries);
  const published: string[] = [];
  const seen = new Set<string>();
  const refused: RefusedSkill[] = [];
  let same = 0;
  for (const [index, skill] of skills.entries()) {
    const { id } = skill;
    await takeBreak(index, skills.length);
    try {
      if (seen.has(id)) throw skillExists(id, 'another folder of the tree', 'Give one of them another name.');
      seen.add(id);
      const [read] = await readOriginSkills({ ...origin, entries: entries.get(skill.folder) ?? [] }, [skill]);
      const actor = { by, reason: 'import', inspected: inspected.get(id) };
      await publish({ ...team, fourEyes: false }, id, read?.files ?? [], actor);
      published.push(id);
    } catch (error) {
      if (!isCodedError(error) || error.code === 'STORE_UNAVAILABLE') throw error;
      const { code, message, details } = error;
      if (code === 'PROPOSAL_NO_CHANGE') same += 1;
      else refused.push({ id, code, message, digest: details.inspected });
    }
  }
  return { published, same, refused };
}

export interface ExportedTree {
  readonly skills: number;
  readonly files: number;
  /** Ids of those whose files are not what was published. */
  readonly damaged: readonly string[];
}

/** Writes the files of every skill below a folder with its id. @param to - Empty or new. @throws INVALID_ARGUMENT. */
export async function exportTree({ store, space }: Pick<Team, 'store' | 'space'>, to: string): Promise<ExportedTree> {
  const found = await skillsOf(store, space);
  if (found.length === 0) throw invalidArgument(`The space ${space} has no skills.`);
  const base = futureRealPath(to);
  const there = statSync(base, { throwIfNoEntry: false });
  if (there && (!there.isDirectory() || readdirSync(base).length > 0))
    throw invalidArgument(`${to} is no empty folder. Give a new folder, or an empty one.`);
  mkdirSync(base, { recursive: true });
  const damaged: string[] = [];
  let count = 0;
  for (const [index, { id, digest }] of found.entries()) {
    await takeBreak(index, found.length);
    const artifact = await store.artifact(space, digest, { skillId: id });
    if (!artifact || digestOf(artifact.bytes) !== digest) {
      damaged.push(id);
      continue;
    }
    for (const { path, bytes, executable } of await filesOf(artifact)) {
      writeContained(base, `${id}/${path}`, bytes, { mode: executable ? 0o755 : 0o644 });
      count += 1;
    }
  }
  return { skills: found.length - damaged.length, files: count, damaged };
}

// --- internal ---

/** By folder of the skill: a list for each, so that no skill has to look through all. */
function entriesOfEach(
  skills: readonly { readonly folder: string }[],
  entries: readonly OriginEntry[],
): ReadonlyMap<string, readonly OriginEntry[]> {
  const found = new Map<string, OriginEntry[]>(skills.map(({ folder }) => [folder, []]));
  for (const entry of entries) for (const folder of ['', ...foldersAbove(entry.path)]) found.get(folder)?.push(entry);
  return found;
}
