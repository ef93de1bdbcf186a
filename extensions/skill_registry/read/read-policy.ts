import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { realPathOf } from '../../../lib/files/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { findVisible, type Granted } from '../show/scope.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import { isSkillFileName } from '../sources/walk/find-skill-files.ts';
import type { ReadPolicy } from './types.ts';

/** What deciding about a path needs to know of the registry. */
export interface ReadSurroundings {
  snapshot(): Snapshot;
  sources(): readonly SkillSource[];
  granted(turn: TurnContext): Granted;
  /** Looks at the sources anew. */
  refresh(): Promise<unknown>;
}

/** See `readPolicies` of the registry. */
export async function readPoliciesOf(
  paths: readonly string[],
  turn: TurnContext,
  surroundings: ReadSurroundings,
): Promise<readonly (ReadPolicy | undefined)[]> {
  const lookUpAll = () => {
    const unknown = unknownSkills(surroundings.sources());
    return paths.map((path) => ownerOf(path, surroundings, turn) ?? unknown(path));
  };
  let owners = lookUpAll();
  // A skill that has come since the last look may be one that this turn does not see.
  if (owners.some((owner) => owner && 'folder' in owner)) {
    await surroundings.refresh();
    owners = lookUpAll();
  }
  return owners.map((owner, index) =>
    owner && 'folder' in owner ? unloadable(owner.folder, paths[index] as string, turn) : owner?.policy,
  );
}

// --- internal ---

/** The skills a path belongs to, decided; no policy where their file may be read as any other. */
interface Owner {
  readonly policy: ReadPolicy | undefined;
}

function ownerOf(path: string, { snapshot, granted }: ReadSurroundings, turn: TurnContext): Owner | undefined {
  const now = snapshot();
  const { folders, files } = placesOf(now);
  const sees = ({ qualifiedId }: Skill): boolean => {
    const { skill, refusal } = findVisible(now, qualifiedId, turn, granted(turn));
    return skill !== undefined && refusal === undefined;
  };
  const isWhole = (skill: Skill): boolean => skill.realFile !== null;
  const inFile = at(files, path);
  // A pack holds several skills, and cannot be read in part.
  if (inFile.length > 0 && !inFile.every(isWhole) && inFile.every(sees)) return { policy: undefined };
  const candidates = inFile.length > 0 ? inFile.map((skill) => ({ skill, below: 'SKILL.md' })) : within(path, folders);
  // Whichever of them the turn sees hands it over.
  const seen = inFile.every(isWhole) ? candidates.find(({ skill }) => sees(skill)) : undefined;
  const found = seen ?? candidates.find(({ skill }) => !sees(skill));
  if (!found) return undefined;
  const { skill, below } = found;
  const isFirst = turn.workflowState === undefined && now.byId.get(skill.id) === skill;
  return {
    policy: {
      skillId: isFirst ? skill.id : skill.qualifiedId,
      path: skill.dir !== null && below === basename(skill.file) ? 'SKILL.md' : below,
      visible: seen !== undefined,
    },
  };
}

/** A skill that cannot be loaded has no gates, and no scope but its id: who sees everything may read it. */
function unloadable(folder: string, path: string, { boundSkills, workflowState }: TurnContext): ReadPolicy | undefined {
  const skillId = basename(folder);
  if (!workflowState && (boundSkills?.includes(skillId) ?? true)) return undefined;
  return { skillId, path: pathFrom(folder, path), visible: false };
}

/** Finds the folder with a SKILL.md, in a source, that a path is or lies in, the nearest one. */
function unknownSkills(sources: readonly SkillSource[]): (path: string) => { readonly folder: string } | undefined {
  const known = new Map<string, boolean>();
  const isSkill = (folder: string): boolean => {
    const before = known.get(folder) ?? hasSkillFile(folder);
    known.set(folder, before);
    return before;
  };
  return (path) => {
    const isInSource = (folder: string): boolean => sources.some((source) => source.contains(folder));
    for (let folder = path; isInSource(folder) && dirname(folder) !== folder; folder = dirname(folder)) {
      if (isSkill(folder)) return { folder };
    }
    return undefined;
  };
}

function hasSkillFile(folder: string): boolean {
  try {
    return lstatSync(folder).isDirectory() && readdirSync(folder).some(isSkillFileName);
  } catch {
    return false;
  }
}

interface Index {
  readonly exact: ReadonlyMap<string, readonly Skill[]>;
  /** The same paths without letter case and forms of Unicode: some file systems make no difference. */
  readonly folded: ReadonlyMap<string, string>;
}

/** Which skills lie where. */
interface Places {
  /** By real folder, and by the place of a link that leads there. */
  readonly folders: Index;
  /** Those that are not written in a folder of their own, by the file they are written in. */
  readonly files: Index;
}

const places = new WeakMap<Snapshot, Places>();

function placesOf(snapshot: Snapshot): Places {
  const before = places.get(snapshot);
  if (before) return before;
  const exact = new Map<string, Skill[]>();
  const files = new Map<string, Skill[]>();
  for (const skill of snapshot.byQualifiedId.values()) {
    const { dir, file, realFile } = skill;
    if (dir === null || realFile !== join(dir, basename(file))) add(files, realFile ?? file, skill);
    if (dir !== null) {
      add(exact, dir, skill);
      const link = dirname(file) === dir ? dir : linkOf(dirname(file));
      if (link !== dir) add(exact, link, skill);
    }
  }
  const made = { folders: indexOf(exact), files: indexOf(files) };
  places.set(snapshot, made);
  return made;
}

function add(to: Map<string, Skill[]>, path: string, skill: Skill): void {
  const there = to.get(path);
  if (there) there.push(skill);
  else to.set(path, [skill]);
}

/** Where a folder was found, if only its own name is a link. */
function linkOf(found: string): string {
  return join(realPathOf(dirname(found)) ?? dirname(found), basename(found));
}

/** Every skill whose folder a path is or lies in, the innermost first, and the path below that; empty for the folder. */
function within(path: string, folders: Index): readonly { readonly skill: Skill; readonly below: string }[] {
  const found: { skill: Skill; below: string }[] = [];
  for (let folder = path; dirname(folder) !== folder; folder = dirname(folder)) {
    for (const skill of at(folders, folder)) found.push({ skill, below: pathFrom(folder, path) });
  }
  return found;
}

function indexOf(exact: ReadonlyMap<string, readonly Skill[]>): Index {
  return { exact, folded: new Map([...exact.keys()].map((path) => [fold(path), path])) };
}

function at({ exact, folded }: Index, path: string): readonly Skill[] {
  const there = exact.get(path);
  if (there) return there;
  const other = folded.get(fold(path));
  return other !== undefined && isSame(path, other) ? (exact.get(other) ?? []) : [];
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
