import { type Archive, type ArchiveEntry, originRefused, type PackedFile } from '../../../../lib/fetch/index.ts';
import { foldersAbove, isPlainPath, isPrivatePath } from '../../../../lib/files/index.ts';
import { isLeftover } from '../guard/recorded-files.ts';
import type { SecretHeaders } from './secret-headers.ts';

export const MAX_SKILL_FILES = 1_000;
/** Bytes per skill, unpacked. */
export const MAX_UNPACKED: number = 50 * 1024 * 1024;
/** Bytes of an archive or package as sent. */
export const MAX_ARCHIVE: number = 50 * 1024 * 1024;

export const MAX_SKILL_FILE: number = 1024 * 1024;

export type Origin = GitOrigin | NpmOrigin | FolderOrigin | ArchiveOrigin | WellKnownOrigin;

export interface GitOrigin {
  readonly kind: 'git';
  /** `https:`, `ssh:`, `file:`, `git@host:path`, or `http:` on this machine. */
  readonly url: string;
  /** A branch, tag or commit. Absent: HEAD of the repository. */
  readonly ref?: string;
  readonly path?: string;
}

export interface NpmOrigin {
  readonly kind: 'npm';
  readonly name: string;
  readonly range: string;
}

export interface FolderOrigin {
  readonly kind: 'folder';
  readonly path: string;
}

export interface ArchiveOrigin {
  readonly kind: 'archive';
  /** An absolute path, or an `https:` address (`http:` on this machine). */
  readonly location: string;
}

/** Of the index of a page with skills. */
export const INDEX_PATH = '.well-known/agent-skills/index.json';

export interface WellKnownOrigin {
  readonly kind: 'well-known';
  /** The page that has `INDEX_PATH`; no trailing slash. */
  readonly url: string;
  readonly headers?: SecretHeaders | undefined;
  /** The caller has just named the headers; they do not come from a lock. */
  readonly isNamed?: boolean;
}

export interface OriginEntry extends Omit<ArchiveEntry, 'kind'> {
  /** `other`: a submodule, a device. */
  readonly kind: 'file' | 'link' | 'other';
}

export interface OpenedOrigin extends Pick<Archive, 'read'> {
  readonly origin: Origin;
  readonly at: {
    readonly commit?: string;
    readonly isTag?: boolean;
    readonly version?: string;
    readonly digest?: string;
    /** `sha256:<hex>` of each artifact of a page, by skill name. */
    readonly digests?: ReadonlyMap<string, string>;
  };
  readonly entries: readonly OriginEntry[];
  /** Names a skill in the top folder: the name of the repository, archive or package. */
  readonly name: string;
  /** Deletes temporary files. */
  close?(): void;
}

/** Its path is relative to the skill, and checked. */
export interface IncomingFile extends PackedFile {
  readonly bytes: Buffer;
}

export interface OriginSkill {
  /** '' is the top folder. */
  readonly folder: string;
  readonly skillFile: string;
}

/** Sorted by path. A SKILL.md inside a skill is a file of that skill. */
export function originSkills({ entries }: Pick<OpenedOrigin, 'entries'>, below = ''): readonly OriginSkill[] {
  const found = new Map<string, string>();
  for (const { path, kind } of entries) {
    const slash = path.lastIndexOf('/');
    const folder = path.slice(0, Math.max(slash, 0));
    if (kind !== 'file' || path.slice(slash + 1).toLowerCase() !== 'skill.md') continue;
    if (below !== '' && folder !== below && !folder.startsWith(`${below}/`)) continue;
    if (folder.split('/').some((name) => NO_SKILLS.has(name))) continue;
    if (!found.has(folder) || path.endsWith('/SKILL.md')) found.set(folder, path);
  }
  const isInner = (folder: string): boolean =>
    folder !== '' && ['', ...foldersAbove(folder)].some((above) => found.has(above));
  return [...found]
    .filter(([folder]) => !isInner(folder))
    .map(([folder, skillFile]) => ({ folder, skillFile }))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

export interface OriginSkillFiles {
  readonly files: readonly IncomingFile[];
  /** Number of files left out: names of secrets, and leftovers of editors and systems. */
  readonly leftOut: number;
}

/**
 * Takes all skills in one call, because each call unpacks an archive from its start.
 * @throws ORIGIN_REFUSED for links, devices, submodules, paths outside the skill, or more than 1,000 files or 50 MiB.
 */
export async function readOriginSkills<S extends OriginSkill>(
  { entries, read }: Pick<OpenedOrigin, 'entries' | 'read'>,
  skills: readonly S[],
): Promise<readonly (S & OriginSkillFiles)[]> {
  const wanted = skills.map((skill) => ({ skill, ...wantedFiles(entries, skill) }));
  const contents = await read(wanted.flatMap(({ files }) => files.map(({ entry }) => entry.path)));
  let next = 0;
  return wanted.map(({ skill, files, leftOut }) => ({
    ...skill,
    files: files.map(({ path, entry: { executable } }) => ({ path, bytes: contents[next++] as Buffer, executable })),
    leftOut,
  }));
}

// --- internal ---

const NO_SKILLS: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__']);

function wantedFiles(entries: readonly OriginEntry[], { folder, skillFile }: OriginSkill) {
  const below = folder === '' ? 0 : folder.length + 1;
  const isOfTool = (path: string): boolean => path.split('/').some((name) => NO_SKILLS.has(name));
  const inside = entries.filter(
    ({ path }) => (folder === '' || path.startsWith(`${folder}/`)) && !isOfTool(path.slice(below)),
  );
  const wanted = inside.filter(({ path }) => !isLeftover(path) && !isPrivatePath(path.slice(below)));
  const named = `The skill in ${JSON.stringify(folder === '' ? '.' : folder)}`;
  if (folder !== '' && !isPlainPath(folder)) throw originRefused(named, 'its folder is no relative path.');
  if (wanted.length > MAX_SKILL_FILES)
    throw originRefused(named, `it has ${wanted.length} files, more than ${MAX_SKILL_FILES}.`);
  const size = wanted.reduce((sum, entry) => sum + entry.size, 0);
  if (size > MAX_UNPACKED) throw originRefused(named, `it has ${size} bytes, more than ${MAX_UNPACKED}.`);
  const files = wanted.map((entry) => ({ entry, path: checkedPath(entry, below, skillFile, named) }));
  const folded = new Set(files.map(({ path }) => path.normalize('NFKC').toLowerCase()));
  if (folded.size < files.length) throw originRefused(named, 'two of its files differ only in letter case.');
  const both = [...folded].flatMap(foldersAbove).find((above) => folded.has(above));
  if (both !== undefined) throw originRefused(named, `${JSON.stringify(both)} is a file and a folder.`);
  return { files, leftOut: inside.length - wanted.length };
}

function checkedPath({ path, kind }: OriginEntry, below: number, skillFile: string, named: string): string {
  const inner = path.slice(below);
  const shown = JSON.stringify(inner.slice(0, 200));
  if (kind === 'link') throw originRefused(named, `${shown} is a link, which may lead to any file.`);
  if (kind === 'other') throw originRefused(named, `${shown} is no file.`);
  if (!isPlainPath(inner)) throw originRefused(named, `${shown} is no path below a skill.`);
  if (/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(inner))
    throw originRefused(named, `${shown} has a control character in it.`);
  // It would be installed under another name.
  if (inner.includes('\ufffd')) throw originRefused(named, `${shown} is no UTF-8 text.`);
  return path === skillFile ? 'SKILL.md' : inner;
}
