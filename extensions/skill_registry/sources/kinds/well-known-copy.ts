import { createHash } from 'node:crypto';
import { appendFileSync, lstatSync, readdirSync, rmSync, type Stats, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { isPrivatePath, readContained, relativeSegments, writeContained } from '../../../../lib/files/index.ts';

/** The copy of a well-known page, as copy.json in its folder says. */
export interface PageCopy {
  readonly format: typeof FORMAT;
  readonly url: string;
  /** Of what is asked for next time: the index, or the head of its parts. */
  readonly etag?: string | undefined;
  /** The index, or the head of its parts, as it came. */
  readonly index: string;
  readonly inParts?: boolean | undefined;
  readonly skills: readonly CopiedSkill[];
  /** What is wrong with the skills that are missing, or that are older than the index says. */
  readonly faults: readonly string[];
}

export interface CopiedSkill {
  readonly name: string;
  /** `sha256:<64 hex>` of the artifact that it was taken from. */
  readonly digest: string;
  /** `sha256:<64 hex> <bytes> <644 or 755> <path>` of each file, by path. */
  readonly files: readonly string[];
  /** Made of the stats of the files when they were compared with their digests (`stampOf`). */
  readonly stamp: string;
}

export interface CopiedFile {
  readonly digest: string;
  readonly size: number;
  readonly path: string;
}

/**
 * Brings a copy up to date.
 *
 * @returns whether the copy has everything that the page has.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED; then the copy is as it was.
 */
export type FetchCopy = (request: {
  readonly url: string;
  readonly folder: string;
  /** Digests of copied skills that are to be fetched again. */
  readonly damaged: ReadonlySet<string>;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}) => Promise<{ readonly isComplete: boolean }>;

const MAX_BYTES = 64 * 1024 * 1024;
const FORMAT = 1;
const FILE = 'copy.json';
const JOURNAL = 'fetched.jsonl';

/** The folder of a page's copy in the user's cache directory, by its address. */
export function copyFolder(cacheDirectory: string, url: string): string {
  return join(cacheDirectory, 'pages', createHash('sha256').update(url).digest('hex').slice(0, 32));
}

/** The same bytes are never in two folders, and a folder never gets other bytes: so several processes can share a copy. */
export function skillFolder(folder: string, { digest, name }: Pick<CopiedSkill, 'digest' | 'name'>): string {
  return join(folder, 'skills', digest.slice('sha256:'.length), name);
}

/** Undefined when there is none, or it cannot be read: then it is fetched anew. @param folder - Real path. */
export function readCopy(folder: string): PageCopy | undefined {
  try {
    const copy = JSON.parse(readContained(folder, FILE, MAX_BYTES, { own: true }).toString('utf8')) as PageCopy;
    return copy.format === FORMAT && copy.skills.every(isUsable) ? copy : undefined;
  } catch (error) {
    if (isCodedError(error) || error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

export function writeCopy(folder: string, copy: Omit<PageCopy, 'format'>): void {
  writeContained(folder, FILE, JSON.stringify({ format: FORMAT, ...copy }), { own: true });
}

/** The stats of copy.json, which tell whether it was replaced. Its time is when the page last answered with what it says. */
export function statsOfCopy(folder: string): Stats | undefined {
  return statSync(join(folder, FILE), { throwIfNoEntry: false });
}

/** Notes a skill that was fetched, so that it need not be fetched again when this process ends before the copy is replaced. */
export function noteFetched(folder: string, skill: CopiedSkill): void {
  appendFileSync(join(folder, JOURNAL), `${JSON.stringify(skill)}\n`, { mode: 0o600 });
}

/** What was noted since the copy was last replaced. Its files are not compared with their digests yet. */
export function fetchedSkills(folder: string): readonly CopiedSkill[] {
  try {
    const text = readContained(folder, JOURNAL, MAX_BYTES, { own: true }).toString('utf8');
    return text.split('\n').flatMap((line) => skillOf(line) ?? []);
  } catch (error) {
    if (isCodedError(error)) return [];
    throw error;
  }
}

export function forgetFetched(folder: string): void {
  rmSync(join(folder, JOURNAL), { force: true });
}

export interface KeptParts {
  read(digest: string): Buffer | undefined;
  write(digest: string, bytes: Buffer): void;
}

export function keptParts(folder: string): KeptParts {
  return {
    read(digest) {
      try {
        const bytes = readContained(folder, partFile(digest), MAX_BYTES, { own: true });
        return digestOf(bytes) === digest ? bytes : undefined;
      } catch (error) {
        if (isCodedError(error)) return undefined;
        throw error;
      }
    },
    write: (digest, bytes) => writeContained(folder, partFile(digest), bytes, { own: true }),
  };
}

export function forgetOtherParts(folder: string, digests: ReadonlySet<string>): void {
  const stay = new Set([...digests].map(partFile));
  for (const name of readdirSync(join(folder, PARTS)))
    if (!stay.has(`${PARTS}/${name}`)) rmSync(join(folder, PARTS, name), { force: true });
}

export function confirmCopy(folder: string): void {
  const now = new Date();
  utimesSync(join(folder, FILE), now, now);
}

/**
 * Compares the files of copied skills with their digests. A file whose stats are those of the last time is not read.
 *
 * @returns the skills of which a file is missing or has other bytes.
 */
export async function damagedSkills(folder: string, skills: readonly CopiedSkill[]): Promise<ReadonlySet<CopiedSkill>> {
  const damaged = new Set<CopiedSkill>();
  for (const skill of skills) {
    await takeBreak();
    if (stampOf(folder, skill) !== skill.stamp && !isIntact(folder, skill)) damaged.add(skill);
  }
  return damaged;
}

export function isIntact(folder: string, skill: Omit<CopiedSkill, 'stamp'>): boolean {
  const base = skillFolder(folder, skill);
  return filesOfCopy(skill).every(({ path, digest, size }) => {
    try {
      return digestOf(readContained(base, path, size, { own: true })) === digest;
    } catch (error) {
      if (isCodedError(error)) return false;
      throw error;
    }
  });
}

/** Size, times and inode of each file; '' when one is missing. A file that is changed has others. */
export function stampOf(folder: string, skill: Omit<CopiedSkill, 'stamp'>): string {
  const base = skillFolder(folder, skill);
  let stamps = '';
  for (const { path } of filesOfCopy(skill)) {
    const stats = lstatSync(`${base}/${path}`, { throwIfNoEntry: false });
    if (!stats?.isFile()) return '';
    stamps += `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}\n`;
  }
  return createHash('sha256').update(stamps).digest('hex').slice(0, 32);
}

export function filesOfCopy({ files }: Pick<CopiedSkill, 'files'>): readonly CopiedFile[] {
  return files.map((line) => {
    const [digest = '', size = '', , ...path] = line.split(' ');
    return { digest, size: Number(size), path: path.join(' ') };
  });
}

// --- internal ---

const PARTS = 'parts';

function partFile(digest: string): string {
  return `${PARTS}/${digest.slice('sha256:'.length)}.json`;
}

const NAME = /^[a-z0-9-]{1,64}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const LINE = /^sha256:[0-9a-f]{64} \d{1,9} (644|755) (.+)$/s;

/** The file may be damaged, and names and paths in it become paths. @throws PATH_TRAVERSAL, INVALID_ARGUMENT. */
function isUsable({ name, digest, files, stamp }: CopiedSkill): boolean {
  const isPath = (line: string): boolean => {
    const path = LINE.exec(line)?.[2];
    return path !== undefined && relativeSegments(path).join('/') === path && !isPrivatePath(path);
  };
  return NAME.test(name) && DIGEST.test(digest) && typeof stamp === 'string' && files.every(isPath);
}

/** Undefined for a line that a killed process has cut off. */
function skillOf(line: string): CopiedSkill | undefined {
  try {
    const skill = JSON.parse(line) as CopiedSkill;
    return isUsable(skill) ? skill : undefined;
  } catch {
    return undefined;
  }
}
