import { isUtf8 } from 'node:buffer';
import { lstatSync, realpathSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { adoptLineEndings } from '../../../../lib/diff/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import {
  assertWritable,
  futureRealPath,
  holdsReserved,
  isInside,
  isReserved,
  isTemporaryName,
  readContained,
  relativeSegments,
  resourceNotFound,
} from '../../../../lib/files/index.ts';
import { hiddenCharacters } from '../../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../../core/config/config.ts';
import { PRESETS } from '../../core/config/preset-table.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import type { Profile } from '../../core/skill/profile.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';
import { hasPersonLock, lockScopes } from '../guard/installed.ts';
import { isLeftover } from '../guard/recorded-files.ts';
import { newErrors, newMissingParts } from './changed-text.ts';
import { noChange, quoted, sourceNotWritable } from './errors.ts';
import type { FileContent } from './types.ts';

export interface SkillLocation {
  readonly skillId: string;
  readonly source: string;
  /** Names the skill in the history: its folder, relative to the root or absolute outside it. SQL column: `place`. */
  readonly key: string;
  /** Real path of the source's folder. */
  readonly base: string;
  /** The skill's folder, relative to `base`; empty when it is `base`. */
  readonly below: string;
  /** SKILL.md, perhaps in other letter case. */
  readonly skillFile: string;
  /** Of its source. */
  readonly profile?: Profile | undefined;
  /** Its limits stand in no config. */
  readonly atHub?: true;
}

export type SkillFolder = Pick<SkillSource, 'id' | 'writing'>;

/**
 * Where agents look for skills: other tools install there what `skills-lock.json` names, also without a source. Leaves
 * out links, which may lead anywhere.
 */
export function agentFolders(root: string): readonly SkillFolder[] {
  const real = futureRealPath(root);
  return Object.entries(PRESETS).flatMap(([id, { project }]) => {
    const folder = join(real, project);
    return futureRealPath(folder) === folder ? [{ id, writing: { folder } }] : [];
  });
}

/** Where agents look in every project, as far as it is a source. A link there is the person's own. */
export function personFolders(root: string, sources: readonly SkillSource[]): readonly SkillFolder[] {
  const [, { covers }] = lockScopes(root);
  return sources.flatMap(({ id, kind, location: folder }) =>
    kind === 'directory' && covers(futureRealPath(folder)) ? [{ id, writing: { folder } }] : [],
  );
}

/** Folders that a change of an installed skill may be in. */
export function installFolders(root: string, sources: readonly SkillSource[]): readonly SkillFolder[] {
  return [...sources, ...agentFolders(root), ...(hasPersonLock() ? personFolders(root, sources) : [])];
}

export function locationOfSkill(skill: Skill, sources: readonly SkillSource[], root: string): SkillLocation {
  const source = sources.find(({ id }) => id === skill.source);
  const refuse = (why: string) => sourceNotWritable(skill.id, skill.source, why);
  const skillFile = basename(skill.file);
  if (skill.dir === null)
    throw refuse('it has no folder of its own. Change it in the file or the program it comes from.');
  const copy = 'copy its folder into a source that may be written';
  if (source?.kind !== 'directory') throw refuse(`its kind of source is never written. To change it, ${copy}.`);
  if (!source.writing) throw refuse(`set writable: true for the source in the config, or ${copy}.`);
  const base = realpathSync(source.writing.folder);
  if (!isInside(skill.dir, base)) throw refuse(`a link leads out of the source to ${skill.dir}. Change it there.`);
  if (skill.realFile !== join(skill.dir, skillFile))
    throw refuse('its SKILL.md is a link. Change the file it leads to, or put a copy of that file in its place.');
  const key = folderKey(skill.dir, root);
  const { profile } = source.writing;
  return { skillId: skill.id, source: source.id, key, base, below: relative(base, skill.dir), skillFile, profile };
}

/** Whether a new skill may be written into the folder of a source. */
export function takesNew({ writing }: Pick<SkillFolder, 'writing'>): boolean {
  return writing !== undefined && !isReserved(futureRealPath(writing.folder));
}

/** Below the first source that may be written. @throws SOURCE_NOT_WRITABLE. */
export function locationForNew(skillId: string, sources: readonly SkillFolder[], root: string): SkillLocation {
  const source = sources.find(takesNew);
  if (!source?.writing) {
    const known = sources.map(({ id }) => id).join(', ') || 'none';
    const message = `No source takes the new skill "${skillId}", because none may be written (sources: ${known}). Add a folder to \`sources\` in data/skill_registry/config.yaml: { path: skills }.`;
    throw new CodedError('SOURCE_NOT_WRITABLE', message, { skill_id: skillId, source: known });
  }
  const { folder, profile } = source.writing;
  const base = futureRealPath(folder);
  const key = folderKey(join(base, skillId), root);
  return { skillId, source: source.id, key, base, below: skillId, skillFile: 'SKILL.md', profile };
}

/** Looks only in the present sources: no recorded path is trusted. @throws SOURCE_NOT_WRITABLE. */
export function locationOfKey(
  skillId: string,
  key: string,
  { sources, root }: { readonly sources: readonly SkillFolder[]; readonly root: string },
  sourceId?: string,
): SkillLocation {
  const dir = isAbsolute(key) ? resolve(key) : resolve(futureRealPath(root), key);
  for (const { id, writing } of sources) {
    if (!writing || (sourceId !== undefined && id !== sourceId)) continue;
    const base = futureRealPath(writing.folder);
    const below = relative(base, dir).split(sep).join('/');
    if (!isInside(dir, base) || below.split('/').some(isToolFolder)) continue;
    return { skillId, source: id, key, base, below, skillFile: 'SKILL.md', profile: writing.profile };
  }
  const why = `no source that may be written has the folder ${quoted(key)}. Add a source with that folder to \`sources\` again.`;
  throw sourceNotWritable(skillId, sourceId ?? key, why);
}

/** Whether the folder has files that tools run (`.git`, `node_modules`), or belongs to an unfinished change. */
export function isToolFolder(name: string): boolean {
  return name.toLowerCase() === '.git' || name.toLowerCase() === 'node_modules' || isTemporaryName(name);
}

/** The skill's folder, or its qualified id when it has none. */
export function skillKey(skill: Skill, root: string): string {
  return skill.dir === null ? `id:${skill.qualifiedId}` : folderKey(skill.dir, root);
}

/** Relative to the root: a root that moves keeps its history. */
export function folderKey(dir: string, root: string): string {
  const real = futureRealPath(root);
  return isInside(dir, real) ? relative(real, dir).split(sep).join('/') : dir;
}

/** Two sources may have the same folder. */
export function skillsAt(key: string, skills: Iterable<Skill>, root: string): readonly Skill[] {
  const folder = resolve(futureRealPath(root), key);
  const mayBe = [...skills].filter(({ dir }) => dir === null || dir === folder);
  return mayBe.filter((skill) => skillKey(skill, root) === key);
}

export function folderOf({ base, below }: Pick<SkillLocation, 'base' | 'below'>): string {
  return below === '' ? base : join(base, below);
}

/** No link below the source's folder is followed. */
export function pathInSource({ below }: Pick<SkillLocation, 'below'>, path: string): string {
  return below === '' ? path : `${below}/${path}`;
}

type Limits = SkillRegistryConfig['limits'];

/** @throws INVALID_ARGUMENT when the skill is the folder of its source, or contains files of the registry. */
export function assertRemovable(location: SkillLocation): void {
  if (location.below === '')
    throw invalidArgument('This skill is the folder of its source, which cannot be moved away.');
  if (holdsReserved(folderOf(location)))
    throw invalidArgument('The registry keeps its own files in this skill, so it cannot be moved away.');
}

export function folderExists(location: SkillLocation): boolean {
  return lstatSync(folderOf(location), { throwIfNoEntry: false }) !== undefined;
}

/** @param unknown - When it cannot be looked at. */
export function exists(path: string, unknown = true): boolean {
  return withFallback(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined, unknown);
}

/** As the history records it. @throws PATH_TRAVERSAL; INVALID_ARGUMENT, also for a path that is never written. */
export function filePath(path: string, location: SkillLocation): string {
  const { skillFile } = location;
  if (/\/\.?$/.test(path)) throw invalidArgument(`${quoted(path)} names a folder; give a file.`);
  const segments = relativeSegments(path);
  // In a review, a line end in a name looks like a line of the diff, and a direction mark changes the text.
  if (/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(path))
    throw invalidArgument(`${quoted(path)} has a control character in it. Give a name without it.`);
  const tool = segments.find(isToolFolder);
  if (tool) throw invalidArgument(`Nothing is written below ${tool}, which belongs to a tool. Give a path outside it.`);
  assertWritable(folderOf(location), segments);
  const joined = segments.join('/');
  if (isLeftover(joined)) {
    const what = 'is a name of temporary files, which the history does not keep. Take another name.';
    throw invalidArgument(`${quoted(joined)} ${what}`);
  }
  return isSkillFileName(joined) ? skillFile : joined;
}

/** A name with invisible characters would look like another. @throws INVALID_ARGUMENT. */
export function checkNewName(path: string): void {
  if (hiddenCharacters(path).next().done) return;
  throw invalidArgument(`${quoted(path)} has a character that nobody sees. Give a name without it.`);
}

/** null when it does not exist. @throws PATH_TRAVERSAL, RESOURCE_TOO_LARGE. */
export function bytesAt(location: SkillLocation, path: string, limits: Limits): Buffer | null {
  try {
    return readContained(location.base, pathInSource(location, path), limitOf(location, path, limits));
  } catch (error) {
    // A folder or device of that name is an error.
    const isGone = isCodedError(error, 'RESOURCE_NOT_FOUND') && !exists(join(folderOf(location), path), false);
    if (isGone || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export function decodeText(bytes: Buffer, path: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new CodedError('NOT_TEXT', `${quoted(path)} is no UTF-8 text, so it cannot be changed as text.`);
}

/** Keeps BOM and line ends. @throws NOT_TEXT, RESOURCE_NOT_FOUND when a function has no file to change. */
export function bytesAfter(before: Buffer | null, content: FileContent, path: string): Buffer | null {
  if (content === null) return null;
  if (before === null) {
    if (typeof content === 'string') return Buffer.from(content);
    throw resourceNotFound(path);
  }
  const present = decodeText(before, path);
  return Buffer.from(adoptLineEndings(present, typeof content === 'string' ? content : content(present)));
}

/** @param unreviewed - As of `checkValid`. @throws PROPOSAL_NO_CHANGE, RESOURCE_TOO_LARGE, SKILL_INVALID. */
export function checkChange(
  location: SkillLocation,
  path: string,
  { before, after }: { readonly before: Buffer | null; readonly after: Buffer | null },
  limits: Limits,
  unreviewed = false,
): void {
  if (after === null ? before === null : before?.equals(after)) throw noChange(path);
  if (after === null) return;
  checkSize(location, path, after, limits);
  checkValid(location, path, before, after, unreviewed);
}

export function checkSize(location: SkillLocation, path: string, bytes: Buffer, limits: Limits): void {
  const limit = limitOf(location, path, limits);
  if (bytes.length <= limit) return;
  const key = path === location.skillFile ? 'file_bytes' : 'resource_bytes';
  const raise = location.atHub ? '' : `, or a person raises limits.${key} in the config of the registry`;
  const message = `${quoted(path)} would have ${bytes.length} bytes, more than the limit of ${limit}. Write less${raise}.`;
  throw new CodedError('RESOURCE_TOO_LARGE', message, { path, size: bytes.length, limit });
}

/** @param unreviewed - No person reviews the change before models read it. @throws SKILL_INVALID for SKILL.md. */
export function checkValid(
  { skillId, skillFile, profile }: Pick<SkillLocation, 'skillId' | 'skillFile' | 'profile'>,
  path: string,
  before: Buffer | null,
  after: Buffer,
  unreviewed = false,
): void {
  if (path !== skillFile) return;
  const [was, is] = [before?.toString('utf8') ?? null, decodeText(after, path)];
  const lacks = unreviewed ? newMissingParts(was, is, skillId) : [];
  const errors = [...newErrors(was, is, skillId, profile), ...lacks];
  if (errors.length === 0) return;
  const shown = ['', ...errors.slice(0, 10)].join('\n- ');
  const message = `"${skillId}" would not be a valid skill after this change; nothing was written.${shown}`;
  throw new CodedError('SKILL_INVALID', message, { reasons: errors });
}

// --- internal ---

function limitOf({ skillFile }: SkillLocation, path: string, { file_bytes, resource_bytes }: Limits): number {
  return path === skillFile ? file_bytes : resource_bytes;
}
