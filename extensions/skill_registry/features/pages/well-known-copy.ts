import { createHash } from 'node:crypto';
import { appendFileSync, lstatSync, readdirSync, rmSync, type Stats, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import type { OriginHeaders } from '../../../../lib/fetch/index.ts';
import { isPrivatePath, readContained, relativeSegments, writeContained } from '../../../../lib/files/index.ts';
import type { IndexEntry, KeptParts, PageAnswer } from './page-index.ts';

/** The content of copy.json, which describes the copy of a page. */
export interface PageCopy extends PageAnswer {
  readonly format: typeof FORMAT;
  readonly url: string;
  /** Those that are here. */
  readonly skills: readonly CopiedSkill[];
  /** Of those that come when they are read. What has come since is in the journal. */
  readonly entries: readonly IndexEntry[];
  /** Why skills are missing, or older than the index says. */
  readonly faults: readonly string[];
}

export interface CopiedSkill {
  readonly name: string;
  readonly digest: string;
  /** `sha256:<64 hex> <bytes> <644 or 755> <path>` of each file, sorted by path. */
  readonly files: readonly string[];
  /** `stampOf` the files when their digests were last checked. */
  readonly stamp: string;
}

export interface CopiedFile {
  readonly digest: string;
  readonly size: number;
  readonly path: string;
}

/** A copy as it was read. What is added to it later is read from there on. */
export interface KnownCopy {
  readonly copy: PageCopy;
  /** Stats of copy.json that change when it is replaced. */
  readonly file: string;
  /** Bytes of the journal of changes. */
  readonly read: number;
}

/** Entries by name that others replace; null: there is none any more. */
export type ChangedEntries = readonly (readonly [name: string, entry: IndexEntry | null])[];

/** @returns whether it is complete. @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED; the copy is then unchanged. */
export type FetchCopy = (
  request: FetchOptions & {
    readonly before: KnownCopy | undefined;
    readonly damaged: ReadonlySet<string>;
    /** Waits for news where the origin can. Default: false. */
    readonly waits?: boolean;
  },
) => Promise<boolean>;

/** Fetches one skill into the copy. @throws ORIGIN_UNAVAILABLE; ORIGIN_REFUSED, also for another digest. */
export type FetchSkill = (request: FetchOptions & { readonly entry: IndexEntry }) => Promise<CopiedSkill>;

interface FetchOptions {
  readonly url: string;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly headers?: OriginHeaders | undefined;
}

const MAX_BYTES = 512 * 1024 * 1024;
/** The first one had no entries: every skill was here. */
const FORMAT = 2;
const FILE = 'copy.json';
const JOURNAL = 'fetched.jsonl';
/** Changes since copy.json was written, which would cost as much as all entries. */
const CHANGES = 'changes.jsonl';
/** A part of copy.json: with more changes it is written anew. */
const MOST_CHANGES = 1 / 16;

/** @param headers - A copy made with a secret is another one than that made without, or with another name of it. */
export function copyFolder(cacheDirectory: string, url: string, headers?: object): string {
  const name = headers === undefined ? url : JSON.stringify([url, Object.entries(headers).sort()]);
  return join(cacheDirectory, 'pages', createHash('sha256').update(name).digest('hex').slice(0, 32));
}

/** A folder is named by its content and never gets other bytes, so several processes can share a copy. */
export function skillFolder(folder: string, { digest, name }: Pick<CopiedSkill, 'digest' | 'name'>): string {
  return join(folder, 'skills', digest.slice('sha256:'.length), name);
}

/** Undefined when missing or unreadable: then it is fetched again. Unchanged, it has the `copy` of `before`. */
export function readCopy(folder: string, before?: KnownCopy): KnownCopy | undefined {
  const stats = statsOfCopy(folder);
  if (!stats) return undefined;
  // mtime is left out: it changes with every answer of the page.
  const file = `${stats.ino} ${stats.size} ${stats.birthtimeMs}`;
  if (before?.file === file) return withChanges(folder, before);
  const copy = readOr(undefined, () => {
    const { entries = [], faults = [], ...read } = JSON.parse(readOwn(folder, FILE).toString('utf8')) as PageCopy;
    const isKnown = (Number(read.format) === 1 || read.format === FORMAT) && faults.every(isText);
    return isKnown && read.skills.every(isUsable) && entries.every(isEntry) ? { ...read, entries, faults } : undefined;
  });
  return copy && withChanges(folder, { copy, file, read: 0 });
}

export function writeCopy(folder: string, copy: Omit<PageCopy, 'format'>): void {
  writeContained(folder, FILE, JSON.stringify({ format: FORMAT, ...copy }), { own: true });
}

/**
 * Where another process was faster, nothing is written: what it did not know comes with the next answer.
 * @returns false when there are so many changes that the copy is to be written anew, without them.
 */
export function addChanges(folder: string, before: KnownCopy, index: string, changes: ChangedEntries): boolean {
  const after = before.copy.index;
  if ((readCopy(folder, before)?.copy.index ?? after) !== after) return true;
  const line = JSON.stringify({ after, index, changes });
  const [all = 0, added = 0] = [FILE, CHANGES].map((file) => statsOfCopy(folder, file)?.size);
  if (added + line.length > all * MOST_CHANGES) return false;
  // Of a killed process, the last line may be incomplete.
  appendFileSync(join(folder, CHANGES), `\n${line}`, { mode: 0o600 });
  return true;
}

/** Unless another process has added some since. */
export function forgetChanges(folder: string, { read }: KnownCopy): void {
  if (statsOfCopy(folder, CHANGES)?.size === read) rmSync(join(folder, CHANGES), { force: true });
}

export function changed(entries: readonly IndexEntry[], changes: ChangedEntries): readonly IndexEntry[] {
  const left = new Map(changes);
  const now: IndexEntry[] = [];
  for (const entry of entries) {
    const change = left.get(entry.name);
    left.delete(entry.name);
    if (change !== null) now.push(change ?? entry);
  }
  for (const entry of left.values()) if (entry) now.push(entry);
  return now;
}

/** Of copy.json the time is that of the page's last answer. */
export function statsOfCopy(folder: string, file: string = FILE): Stats | undefined {
  return statSync(join(folder, file), { throwIfNoEntry: false });
}

export function copyKey({ name, digest }: Pick<CopiedSkill, 'name' | 'digest'>): string {
  return `${digest} ${name}`;
}

/** Records a fetched skill, so no process need fetch it again before the copy is replaced. */
export function noteFetched(folder: string, skill: CopiedSkill): void {
  appendFileSync(join(folder, JOURNAL), `${JSON.stringify(skill)}\n`, { mode: 0o600 });
}

/** Skills recorded since the copy was last replaced. Their digests are not checked yet. */
export function fetchedSkills(folder: string): readonly CopiedSkill[] {
  const text = readOr('', () => readOwn(folder, JOURNAL).toString('utf8'));
  return text.split('\n').flatMap((line) => skillOf(line) ?? []);
}

export function forgetFetched(folder: string): void {
  rmSync(join(folder, JOURNAL), { force: true });
}

/** Forgets all others. */
export function keepFetched(folder: string, skills: readonly CopiedSkill[]): void {
  const lines = skills.map((skill) => `${JSON.stringify(skill)}\n`);
  writeContained(folder, JOURNAL, lines.join(''), { own: true });
}

export function keptParts(folder: string): KeptParts {
  return {
    read: (digest) =>
      readOr(undefined, () => {
        const bytes = readOwn(folder, partFile(digest));
        return digestOf(bytes) === digest ? bytes : undefined;
      }),
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

/** Does not read files whose stats are unchanged. */
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
  return filesOfCopy(skill).every(({ path, digest, size }) =>
    readOr(false, () => digestOf(readOwn(base, path, size)) === digest),
  );
}

/** Covers size, times and inode of each file; '' when one is missing. */
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

/** Whether only this skill is unavailable, and not the whole server. */
export function isOfSkill(error: unknown): boolean {
  if (isCodedError(error, 'ORIGIN_REFUSED')) return true;
  const status = isCodedError(error, 'ORIGIN_UNAVAILABLE') ? Number(error.details.status) : 0;
  return status >= 400 && status < 500 && status !== 429;
}

// --- internal ---

const PARTS = 'parts';

function partFile(digest: string): string {
  return `${PARTS}/${digest.slice('sha256:'.length)}.json`;
}

const NAME = /^[a-z0-9-]{1,64}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const LINE = /^sha256:[0-9a-f]{64} \d{1,9} (644|755) (.+)$/s;

/** copy.json may be damaged, and its names become paths. @throws PATH_TRAVERSAL, INVALID_ARGUMENT. */
function isUsable({ name, digest, files, stamp }: CopiedSkill): boolean {
  const isPath = (line: string): boolean => {
    const path = LINE.exec(line)?.[2];
    return path !== undefined && relativeSegments(path).join('/') === path && !isPrivatePath(path);
  };
  return NAME.test(name) && DIGEST.test(digest) && typeof stamp === 'string' && files.every(isPath);
}

function isEntry({ name, digest, description, url, type, tags = [], allowed = [] }: IndexEntry): boolean {
  const isWhole = [description, url, type, ...tags].every(isText) && allowed.every((one) => Object(one) === one);
  return isWhole && NAME.test(name) && DIGEST.test(digest);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** A line counts that follows what is known: there may be some of other processes, and of an earlier copy. */
function withChanges(folder: string, known: KnownCopy): KnownCopy {
  if ((statsOfCopy(folder, CHANGES)?.size ?? 0) === known.read) return known;
  const bytes = readOr(Buffer.alloc(0), () => readOwn(folder, CHANGES));
  const now = { ...known, read: bytes.length };
  let { index } = known.copy;
  const changes: ChangedEntries[] = [];
  for (const line of bytes.toString('utf8').split('\n')) {
    const next = line.startsWith(JSON.stringify({ after: index }).slice(0, -1)) ? changeOf(line) : undefined;
    if (!next) continue;
    index = next.index;
    changes.push(next.changes);
  }
  if (changes.length === 0) return now;
  return { ...now, copy: { ...known.copy, index, entries: changed(known.copy.entries, changes.flat()) } };
}

function changeOf(line: string) {
  return readOr(undefined, () => {
    const change = JSON.parse(line) as { readonly index: string; readonly changes: ChangedEntries };
    const isRight = change.changes.every(([name, entry]) => !entry || (isEntry(entry) && entry.name === name));
    return isRight && typeof change.index === 'string' ? change : undefined;
  });
}

/** Undefined for a line that a killed process left incomplete. */
function skillOf(line: string): CopiedSkill | undefined {
  return readOr(undefined, () => {
    const skill = JSON.parse(line) as CopiedSkill;
    return isUsable(skill) ? skill : undefined;
  });
}

function readOwn(folder: string, path: string, maxBytes: number = MAX_BYTES): Buffer {
  return readContained(folder, path, maxBytes, { own: true });
}

/** @returns `otherwise` when the file is missing or damaged. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isCodedError(error) || error instanceof SyntaxError || error instanceof TypeError) return otherwise;
    throw error;
  }
}
