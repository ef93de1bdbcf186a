import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { realPathOf } from '../../../../lib/files/index.ts';
import { onceFor } from '../../../../lib/recent-map/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { ALL_SKILLS } from '../show/visible.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import { isSkillFileName } from '../sources/walk/names.ts';
import type { ReadingContext } from './reading.ts';
import type { ReadPolicy } from './types.ts';

type Context = Pick<ReadingContext, 'catalog' | 'scopes'>;

export async function readPoliciesOf(
  paths: readonly string[],
  turn: TurnContext,
  context: Context,
): Promise<readonly (ReadPolicy | undefined)[]> {
  const lookUpAll = () => {
    const unknown = unknownSkills(context.catalog.sources());
    return paths.map((path) => ownerOf(path, context, turn) ?? unknown(path));
  };
  let owners = lookUpAll();
  // This turn may not be allowed to see a skill that is newer than the snapshot.
  if (owners.some((owner) => owner && 'folder' in owner)) {
    await context.catalog.refresh();
    owners = lookUpAll();
  }
  return owners.map((owner, index) =>
    owner && 'folder' in owner ? unloadable(owner.folder, paths[index] as string, turn, context) : owner?.policy,
  );
}

// --- internal ---

/** No policy: the file may be read like any other file. */
interface Owner {
  readonly policy: ReadPolicy | undefined;
}

function ownerOf(path: string, { catalog, scopes }: Context, turn: TurnContext): Owner | undefined {
  const { folders, files } = indexesOf(catalog.snapshot());
  const sees = ({ qualifiedId }: Skill): boolean => {
    const { skill, refusal } = scopes.find(qualifiedId, turn);
    return skill !== undefined && refusal === undefined;
  };
  const isWhole = (skill: Skill): boolean => skill.realFile !== null;
  const inFile = at(files, path);
  // The file of a pack contains several skills, so the turn must see all of them.
  if (inFile.length > 0 && !inFile.every(isWhole) && inFile.every(sees)) return { policy: undefined };
  const candidates = inFile.length > 0 ? inFile.map((skill) => ({ skill, below: 'SKILL.md' })) : within(path, folders);
  const seen = inFile.every(isWhole) ? candidates.find(({ skill }) => sees(skill)) : undefined;
  const found = seen ?? candidates.find(({ skill }) => !sees(skill));
  if (!found) return undefined;
  const { skill, below } = found;
  const isFirst = scopes.find(skill.id, turn).skill === skill;
  return {
    policy: {
      skillId: isFirst ? skill.id : skill.qualifiedId,
      path: skill.dir !== null && below === basename(skill.file) ? 'SKILL.md' : below,
      visible: seen !== undefined,
    },
  };
}

/** A skill that cannot be loaded has no gates; only its id says whether it is in scope. */
function unloadable(folder: string, path: string, turn: TurnContext, { scopes }: Context): ReadPolicy | undefined {
  const skillId = basename(folder);
  const isBound = scopes.declared(turn).boundSkills?.some((id) => id === skillId || id === ALL_SKILLS) ?? true;
  if (isBound && !scopes.narrowed(turn)) return undefined;
  return { skillId, path: pathFrom(folder, path), visible: false };
}

function unknownSkills(sources: readonly SkillSource[]): (path: string) => { readonly folder: string } | undefined {
  const checked = new Map<string, boolean>();
  const isSkill = (folder: string): boolean => {
    const hasSkillFile = () => lstatSync(folder).isDirectory() && readdirSync(folder).some(isSkillFileName);
    const is = checked.get(folder) ?? withFallback(hasSkillFile, false);
    checked.set(folder, is);
    return is;
  };
  return (path) => {
    const isInSource = (folder: string): boolean => sources.some((source) => source.contains(folder));
    for (let folder = path; isInSource(folder) && dirname(folder) !== folder; folder = dirname(folder)) {
      if (isSkill(folder)) return { folder };
    }
    return undefined;
  };
}

/** By path in lower case and one Unicode form, because some file systems ignore these differences. */
type Index = Map<string, { readonly path: string; readonly skill: Skill }[]>;

interface SkillIndexes {
  /** By real folder, and by the path of a link to it. */
  readonly folders: Index;
  /** By the file that contains the skill, for skills without their own SKILL.md in their folder. */
  readonly files: Index;
}

const indexesOf = onceFor((snapshot: Snapshot): SkillIndexes => {
  const made: SkillIndexes = { folders: new Map(), files: new Map() };
  for (const skill of snapshot.byQualifiedId.values()) {
    const { dir, file, realFile } = skill;
    const add = (to: Index, path: string): void => {
      const there = to.get(fold(path));
      if (there) there.push({ path, skill });
      else to.set(fold(path), [{ path, skill }]);
    };
    if (dir === null || realFile !== join(dir, basename(file))) add(made.files, realFile ?? file);
    if (dir === null) continue;
    add(made.folders, dir);
    if (dirname(file) === dir) continue;
    // Resolves links in the parents of the folder, but not the folder itself.
    const parent = dirname(dirname(file));
    const link = join(realPathOf(parent) ?? parent, basename(dirname(file)));
    if (link !== dir) add(made.folders, link);
  }
  return made;
});

/** Innermost first. `below`: `path` relative to the skill's folder, or ''. */
function within(path: string, folders: Index): readonly { readonly skill: Skill; readonly below: string }[] {
  const found: { skill: Skill; below: string }[] = [];
  for (let folder = path; dirname(folder) !== folder; folder = dirname(folder)) {
    for (const skill of at(folders, folder)) found.push({ skill, below: pathFrom(folder, path) });
  }
  return found;
}

function at(index: Index, path: string): readonly Skill[] {
  const there = index.get(fold(path)) ?? [];
  const exact = there.filter((one) => one.path === path);
  const found = exact.length > 0 ? exact : there.filter((one) => isSame(path, one.path));
  return found.map(({ skill }) => skill);
}

function pathFrom(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/');
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
