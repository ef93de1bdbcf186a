import { createHash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { eachInSteps, type Steps } from '../../../../lib/breaks/index.ts';
import { isReserved, listContained, readContained } from '../../../../lib/files/index.ts';
import type { Finding, InspectedFile } from '../../core/skill/guard.ts';
import type { ResourceInfo, Skill, SkillListing } from '../../core/skill/skill.ts';
import { presentSource, type SkillSource } from '../../core/sources/source.ts';
import { type FolderListing, filesBelow, shownOf } from '../../core/sources/walk/list-files.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';
import { inspectSkill } from './inspect/inspect-skill.ts';
import type { Inspection } from './inspect/rule.ts';
import { asInspected, readRecordedFiles } from './recorded-files.ts';

export interface Present {
  readonly stamp: string;
  readonly listing: SkillListing | undefined;
}

export interface SkillFiles {
  /** `stamp`: equal as long as no file has changed; empty when the stats cannot tell. `listing`: the files seen. */
  stamp(skill: Skill): Generator<undefined, Present, undefined>;
  /** SKILL.md first; findings are about what was not read; `undefined` is a break. @throws RESOURCE_NOT_FOUND. */
  read(skill: Skill): Iterable<InspectedFile | Finding | undefined>;
}

/** More than agents see listed: a file that is not listed can still be read by its path. */
const MOST = 2_000;
/** With SKILL.md, which is none of them, and with one that is too many. */
const EVERYTHING = { most: MOST + 1, everything: true };
const MAX_BYTES = 4 * 1024 * 1024;
/** A file that changed more recently could change again with the same time. */
const SETTLED_MS = 2_000;

/** All files that can be handed out, listed or not. @param most - Bytes of SKILL.md. */
export function filesForInspection(sources: () => readonly SkillSource[], most: number): SkillFiles {
  /** `below`: the whole folder, if the skill has one. */
  function* others(skill: Skill): Steps<{ files: readonly ResourceInfo[]; below?: FolderListing }> {
    // The copy of a page is in a folder of the registry, which no search for skills enters.
    if (skill.dir === null || isReserved(skill.dir)) return presentSource(skill, sources()).listing(skill);
    const below = yield* filesBelow(skill.dir, EVERYTHING);
    const skillFile = basename(skill.file);
    return { files: below.files.filter(({ path }) => path !== skillFile), below };
  }
  return {
    *stamp(skill) {
      const { files, below } = yield* others(skill);
      const { stamp, present } = yield* stampOf(skill, files);
      return { stamp, listing: below && shownOf({ ...below, files: present }) };
    },
    *read(skill) {
      const source = presentSource(skill, sources());
      yield { path: 'SKILL.md', bytes: source.readSkill(skill, most) };
      const { files, below } = yield* others(skill);
      yield* readAll(skill.dir, files, below, (path) => source.readResource(skill, path, MAX_BYTES));
    },
  };
}

/** An archived skill as inspected after its return. @param folder - Absolute, real. @param most - Bytes of SKILL.md. */
export function* archivedForInspection(folder: string, most: number): Generator<InspectedFile | Finding | undefined> {
  const read = (path: string, bytes = MAX_BYTES): Buffer => readContained(folder, path, bytes, { own: true });
  const skillFile = listContained(folder, '', { own: true }).find(({ name }) => isSkillFileName(name));
  if (skillFile) yield { path: 'SKILL.md', bytes: read(skillFile.name, most) };
  const below = yield* filesBelow(folder, { ...EVERYTHING, own: true });
  const others = below.files.filter(({ path }) => !isSkillFileName(path));
  yield* readAll(folder, others, below, (path) => read(path));
}

/** Files before they are written, read as `filesForInspection` reads them later, so both digests are equal. */
export function* asReadForInspection(files: readonly Required<InspectedFile>[]): Generator<InspectedFile | Finding> {
  for (const { path, bytes, executable } of files) {
    if (path === 'SKILL.md') yield { path, bytes };
    else if (bytes.length > MAX_BYTES) yield tooLarge(path, bytes.length);
    else yield { path, bytes, executable };
  }
}

/** Larger files of a folder are not read. */
const MAX_IN_FOLDER = 16 * 1024 * 1024;

/** Does not read links and private files. @param folder - Absolute. @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND. */
export async function inspectFolder(folder: string): Promise<Inspection> {
  const files = [...readRecordedFiles(realpathSync(folder), MAX_IN_FOLDER)].sort((a, b) => (a.path < b.path ? -1 : 1));
  return inspectSkill(files.flatMap(({ path, bytes, mode }) => (bytes ? [asInspected(path, bytes, mode)] : [])));
}

// --- internal ---

function* readAll(
  dir: string | null,
  files: readonly ResourceInfo[],
  below: FolderListing | undefined,
  readFile: (path: string) => Buffer,
): Generator<InspectedFile | Finding> {
  for (const file of files.slice(0, MOST)) yield* readIfThere(dir, file, readFile);
  if (files.length > MOST || (below?.folders ?? 0) >= EVERYTHING.most)
    yield notSearched('SKILL.md', `The skill has more than ${MOST} files or folders; the others were not searched.`);
}

function* readIfThere(
  dir: string | null,
  { path, size: listedSize }: ResourceInfo,
  readFile: (path: string) => Buffer,
): Generator<InspectedFile | Finding> {
  const stats = dir === null ? undefined : lstatSync(join(dir, path), { throwIfNoEntry: false });
  try {
    const { size, mode } = stats ?? { size: listedSize, mode: 0 };
    if (size > MAX_BYTES) yield tooLarge(path, size);
    else yield { path, bytes: readFile(path), executable: (mode & 0o111) !== 0 };
  } catch {
    // What was removed is not listed either.
    if (stats) yield notSearched(path, 'It could not be read, so it was not searched.');
  }
}

/**
 * `stamp`: of paths, sizes, times and inodes; empty when a file is so new that its next change may keep its time.
 * `present`: the files that still exist, with sizes.
 */
function* stampOf(
  { dir, file, realFile }: Skill,
  others: readonly ResourceInfo[],
): Steps<{ readonly stamp: string; readonly present: readonly ResourceInfo[] }> {
  if (realFile === null) return { stamp: '', present: others };
  const hash = createHash('sha256');
  const settledBefore = BigInt(Date.now() - SETTLED_MS) * 1_000_000n;
  let isSettled = true;
  const sizeOf = (path: string): number | undefined => {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    const text = stats && `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino} ${stats.mode}`;
    hash.update(`${path}\n${text ?? ''}\n`);
    if (stats && stats.ctimeNs >= settledBefore) isSettled = false;
    return stats?.isFile() ? Number(stats.size) : undefined;
  };
  sizeOf(realFile);
  const present: ResourceInfo[] = [];
  yield* eachInSteps(dir === null ? [] : others, ({ path }) => {
    const size = sizeOf(join(dir ?? '', path));
    if (size !== undefined) present.push({ path, size });
  });
  return { stamp: isSettled ? hash.update(file).digest('hex') : '', present };
}

function tooLarge(path: string, size: number): Finding {
  return notSearched(path, `It has ${size} bytes, more than ${MAX_BYTES}, so it was not searched.`);
}

function notSearched(file: string, message: string): Finding {
  return { rule: 'not-searched', level: 'warn', file, excerpt: '', message };
}
