import { createHash } from 'node:crypto';
import { isCodedError, z } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { type DownloadOptions, download, downloadIfChanged, originRefused } from '../../../../lib/fetch/index.ts';
import { oneLine } from '../../../../lib/text/index.ts';
import type { Finding } from '../../core/skill/guard.ts';
import { INDEX_PATH } from '../install/opened-origin.ts';
import type { PublishedSkill } from './publish/types.ts';

/** The only version of the format that has digests. */
export const INDEX_SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
/** Bytes of an index, and of each of its parts. */
export const MAX_INDEX: number = 8 * 1024 * 1024;
export const MAX_ENTRIES = 10_000;
export const MAX_DESCRIPTION = 1024;
export const SKILL_NAME: RegExp = /^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/;

/** Limits of a page. Skills: as many as a machine keeps inspections of; bytes and files: of all skills, unpacked. */
export const MAX_PAGE_SKILLS = 100_000;
export const MAX_PAGE_BYTES: number = 2 * 1024 * 1024 * 1024;
export const MAX_PAGE_FILES = 200_000;

/**
 * Names the parts of a page with more skills than fit into one index. Each part is like the index. A skill
 * is always in the same part, so after a change a reader fetches only that part and the head.
 */
export const HEAD_NAME = 'index-parts.json';
export const HEAD_PATH: string = `.well-known/agent-skills/${HEAD_NAME}`;
export const MAX_HEAD: number = 64 * 1024;

/** In a page that is read, an `archive` may also be a .zip. */
export interface IndexEntry extends Pick<PublishedSkill, 'name' | 'type' | 'digest'> {
  readonly description: string;
  /** An index of a page has none. */
  readonly tags?: readonly string[] | undefined;
  /** Nor this: what people at the origin have seen and allowed in the artifact. */
  readonly allowed?: readonly Pick<Finding, 'rule' | 'file' | 'excerpt'>[] | undefined;
  /** Absolute. */
  readonly url: string;
}

export interface PageSkills {
  readonly entries: readonly IndexEntry[];
  /** Problems of the other entries. */
  readonly refused: readonly string[];
}

export interface PageIndex extends PageSkills {
  /** Whether the page has more skills than these. */
  readonly hasParts: boolean;
}

export interface IndexPart {
  readonly digest: string;
  readonly skills: number;
}

/** The index of a page, or the head of its parts, as received. */
export interface PageAnswer {
  /** Of `index`. */
  readonly etag?: string | undefined;
  readonly index: string;
  readonly inParts?: boolean | undefined;
}

export interface KeptParts {
  read(digest: string): Buffer | undefined;
  write(digest: string, bytes: Buffer): void;
}

/** @returns undefined when the page has not changed since `before`. @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED. */
export async function askPage(
  page: string,
  before: PageAnswer | undefined,
  how: DownloadOptions,
): Promise<PageAnswer | undefined> {
  const ask = async (inParts: boolean, etag?: string): Promise<PageAnswer | undefined> => {
    const [path, maxBytes] = inParts ? [HEAD_PATH, MAX_HEAD] : [INDEX_PATH, MAX_INDEX];
    const answer = await downloadIfChanged(`${page}/${path}`, maxBytes, { ...how, etag });
    return answer && { index: answer.bytes.toString('utf8'), etag: answer.etag, inParts };
  };
  try {
    if (before?.inParts) return await ask(true, before.etag);
  } catch (error) {
    // The page has no parts any more.
    if (!isCodedError(error, 'ORIGIN_UNAVAILABLE') || error.details.status !== 404) throw error;
  }
  const index = await ask(false, before?.inParts ? undefined : before?.etag);
  return index && readIndex(index.index, `${page}/${INDEX_PATH}`).hasParts ? ask(true) : index;
}

/** Fetches only parts that `kept` lacks. @throws ORIGIN_UNAVAILABLE; ORIGIN_REFUSED for a part unlike its entry. */
export async function readPage(
  page: string,
  { index, inParts }: PageAnswer,
  how: DownloadOptions,
  kept?: KeptParts,
): Promise<PageSkills & { readonly parts: readonly IndexPart[] }> {
  if (!inParts) return { ...readIndex(index, `${page}/${INDEX_PATH}`), parts: [] };
  const parts = readHead(index, `${page}/${HEAD_PATH}`);
  return { ...(await readParts(page, parts, how, kept)), parts };
}

/** @param url - Of the index. @throws ORIGIN_REFUSED for another format. */
export function readIndex(text: string, url: string): PageIndex {
  const document = indexDocument.safeParse(withFallback((): unknown => JSON.parse(text)));
  if (!document.success) throw originRefused(url, 'it is no index: expected { $schema, skills: [...] }.');
  const { $schema, skills, parts } = document.data;
  if ($schema !== INDEX_SCHEMA) {
    const found = $schema === undefined ? 'none, which is 0.1.0 and has no digests' : oneLine(String($schema), 100);
    throw originRefused(url, `expected $schema "${INDEX_SCHEMA}", found ${found}.`);
  }
  const entries = new Map<string, IndexEntry>();
  const refused: string[] = [];
  for (const [at, skill] of skills.entries()) {
    const entry = readIndexEntry(skill, at, url);
    if (typeof entry === 'string') refused.push(entry);
    else if (entries.has(entry.name)) refused.push(`"${entry.name}" is named a second time.`);
    else entries.set(entry.name, entry);
  }
  return { entries: [...entries.values()], refused, hasParts: parts === HEAD_NAME };
}

export function readHead(text: string, url: string): readonly IndexPart[] {
  const head = headDocument.safeParse(withFallback((): unknown => JSON.parse(text)));
  if (!head.success) throw originRefused(url, 'it is no head: expected { parts: [{ digest, skills }] }, at most 256.');
  const { parts } = head.data;
  const skills = parts.reduce((sum, part) => sum + part.skills, 0);
  if (skills > MAX_PAGE_SKILLS) throw originRefused(url, `it names ${skills} skills, more than ${MAX_PAGE_SKILLS}.`);
  if (new Set(parts.map(({ digest }) => digest)).size < parts.length)
    throw originRefused(url, 'it names a part twice.');
  return parts;
}

/** The number of the part that has the skill, below `MAX_PARTS`. */
export function partOf(name: string): number {
  return createHash('sha256').update(name).digest()[0] as number;
}

export function partAddress({ digest }: Pick<IndexPart, 'digest'>): string {
  return `parts/${digest.slice('sha256:'.length)}.json`;
}

export function assertDigest(bytes: Buffer, { digest, name }: Pick<IndexEntry, 'digest' | 'name'>): void {
  const found = digestOf(bytes);
  if (found !== digest) throw originRefused(`"${name}"`, `the index says ${digest}, its bytes are ${found}.`);
}

/** Runs `use` for eight items at a time. The first failure stops the others and is thrown. */
export async function inParallel<T>(
  items: readonly T[],
  signal: AbortSignal = new AbortController().signal,
  use: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const queue = items.values();
  const work = async (): Promise<void> => {
    for (const item of queue) {
      if (ended.aborted) return;
      await use(item, ended);
    }
  };
  try {
    await Promise.all(Array.from({ length: 8 }, work));
  } catch (error) {
    failed.abort();
    throw error;
  }
  signal.throwIfAborted();
}

// --- internal ---

const MAX_PARTS = 256;
const MAX_ALL_PARTS = 256 * 1024 * 1024;

const digestText = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const indexDocument = z.object({
  $schema: z.unknown().optional(),
  parts: z.unknown().optional(),
  skills: z.array(z.unknown()).max(MAX_ENTRIES),
});
const indexEntry = z.object({
  name: z.string().regex(SKILL_NAME),
  type: z.enum(['skill-md', 'archive']),
  description: z.string().min(1).max(MAX_DESCRIPTION),
  url: z.string().min(1).max(2000),
  digest: digestText,
});
const indexPart = z.object({ digest: digestText, skills: z.number().int().min(1).max(MAX_ENTRIES) });
const headDocument = z.object({ parts: z.array(indexPart).min(1).max(MAX_PARTS) });

/** @returns the problem as a text when the entry is invalid. */
function readIndexEntry(value: unknown, at: number, url: string): IndexEntry | string {
  const parsed = indexEntry.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `Skill number ${at + 1} is no entry (${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'unknown'}).`;
  }
  if (!URL.canParse(parsed.data.url, url)) return `The address of "${parsed.data.name}" is none.`;
  const { href, username, password } = new URL(parsed.data.url, url);
  if (username !== '' || password !== '')
    return `The address of "${parsed.data.name}" has a user name or a password in it.`;
  return { ...parsed.data, url: href };
}

async function readParts(
  page: string,
  parts: readonly IndexPart[],
  how: DownloadOptions,
  kept: KeptParts | undefined,
): Promise<PageSkills> {
  const index = `${page}/${INDEX_PATH}`;
  const entries = new Map<string, IndexEntry>();
  const refused: string[] = [];
  let left = MAX_ALL_PARTS;
  await inParallel(parts, how.signal, async (part, signal) => {
    const url = new URL(partAddress(part), index).href;
    const bytes = kept?.read(part.digest) ?? (await fetchPart(url, part, { ...how, signal }, kept));
    left -= bytes.length;
    if (left < 0) throw originRefused(page, `the parts of its index have more than ${MAX_ALL_PARTS} bytes.`);
    const found = readIndex(bytes.toString('utf8'), index);
    const count = found.entries.length + found.refused.length;
    if (count !== part.skills) throw originRefused(url, `it has ${count} skills, and its head says ${part.skills}.`);
    for (const entry of found.entries) {
      if (entries.has(entry.name)) throw originRefused(url, `"${entry.name}" is in another part, too.`);
      entries.set(entry.name, entry);
    }
    refused.push(...found.refused);
  });
  return { entries: [...entries.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), refused };
}

async function fetchPart(url: string, { digest }: IndexPart, how: DownloadOptions, kept?: KeptParts): Promise<Buffer> {
  const bytes = await download(url, MAX_INDEX, how);
  assertDigest(bytes, { digest, name: url });
  kept?.write(digest, bytes);
  return bytes;
}
