import { createHash } from 'node:crypto';
import { isCodedError, z } from 'skill-registry/kernel';
import { download, downloadIfChanged, originRefused } from '../../../../lib/fetch/index.ts';
import type { KeptParts, PageCopy } from '../../sources/kinds/well-known-copy.ts';
import { inParallel } from './in-parallel.ts';
import {
  assertDigest,
  HEAD_NAME,
  INDEX_PATH,
  type IndexEntry,
  MAX_ENTRIES,
  MAX_INDEX,
  MAX_PAGE_SKILLS,
  type PageIndex,
  readIndex,
} from './page-index.ts';

/**
 * A page with more skills than one index may have. Its index names as many as there is room for, which is what other programs see. All of
 * them are in parts, each a document like the index, under the name that its digest gives. A head names the parts. A skill is always
 * in the same part, so that one that changes costs a machine that part, and the head.
 */
export interface IndexPart {
  /** `sha256:<64 hex>` of its bytes. */
  readonly digest: string;
  /** How many skills it names. */
  readonly skills: number;
}

/** Below the page. */
export const HEAD_PATH: string = `${INDEX_PATH.slice(0, INDEX_PATH.lastIndexOf('/'))}/${HEAD_NAME}`;
/** Bytes of a head. */
export const MAX_HEAD: number = 64 * 1024;
/** The part in which a skill is named: a number below `MAX_PARTS`. */
export function partOf(name: string): number {
  return createHash('sha256').update(name).digest()[0] as number;
}

/** Relative to the index. */
export function partAddress({ digest }: Pick<IndexPart, 'digest'>): string {
  return `parts/${digest.slice('sha256:'.length)}.json`;
}

/** What a page has: its index, or the head of its parts, as it came. */
export type PageAnswer = Pick<PageCopy, 'index' | 'etag' | 'inParts'>;

/**
 * Asks for the head alone where there was one, else for the index, and for the head that it names.
 *
 * @param before - What the page answered last.
 * @returns undefined when it has not changed since.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED.
 */
export async function askPage(
  page: string,
  before: PageAnswer | undefined,
  signal: AbortSignal,
): Promise<PageAnswer | undefined> {
  const ask = async (inParts: boolean, etag?: string): Promise<PageAnswer | undefined> => {
    const [path, maxBytes] = inParts ? [HEAD_PATH, MAX_HEAD] : [INDEX_PATH, MAX_INDEX];
    const answer = await downloadIfChanged(`${page}/${path}`, maxBytes, { signal, etag });
    return answer && { index: answer.bytes.toString('utf8'), etag: answer.etag, inParts };
  };
  try {
    if (before?.inParts) return await ask(true, before.etag);
  } catch (error) {
    // The page has fewer skills again.
    if (!isCodedError(error, 'ORIGIN_UNAVAILABLE') || error.details.status !== 404) throw error;
  }
  const index = await ask(false, before?.inParts ? undefined : before?.etag);
  if (!index || !readIndex(Buffer.from(index.index), `${page}/${INDEX_PATH}`).hasParts) return index;
  return ask(true);
}

/** As `readParts`, of the head that is there now. */
export async function readAllParts(page: string): Promise<Omit<PageIndex, 'hasParts'>> {
  const url = `${page}/${HEAD_PATH}`;
  return readParts(page, readHead(await download(url, MAX_HEAD), url), new AbortController().signal);
}

/** @param url - Where it is. @throws ORIGIN_REFUSED. */
export function readHead(bytes: Buffer, url: string): readonly IndexPart[] {
  const head = headDocument.safeParse(jsonOf(bytes));
  if (!head.success) throw originRefused(url, 'it is no head: expected { parts: [{ digest, skills }] }, at most 256.');
  const { parts } = head.data;
  const skills = parts.reduce((sum, part) => sum + part.skills, 0);
  if (skills > MAX_PAGE_SKILLS) throw originRefused(url, `it names ${skills} skills, more than ${MAX_PAGE_SKILLS}.`);
  if (new Set(parts.map(({ digest }) => digest)).size < parts.length)
    throw originRefused(url, 'it names a part twice.');
  return parts;
}

/**
 * The skills of all parts. A part is only fetched when it is not among those that are kept.
 *
 * @param page - Its address.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED when one of the parts is missing, or is not what the head says.
 */
export async function readParts(
  page: string,
  parts: readonly IndexPart[],
  signal: AbortSignal,
  kept?: KeptParts,
): Promise<Omit<PageIndex, 'hasParts'>> {
  const index = `${page}/${INDEX_PATH}`;
  const entries = new Map<string, IndexEntry>();
  const refused: string[] = [];
  let left = MAX_ALL_PARTS;
  await inParallel(parts, signal, async (part, ended) => {
    const url = new URL(partAddress(part), index).href;
    const bytes = kept?.read(part.digest) ?? (await fetchPart(url, part, ended, kept));
    left -= bytes.length;
    if (left < 0) throw originRefused(page, `the parts of its index have more than ${MAX_ALL_PARTS} bytes.`);
    const found = readIndex(bytes, index);
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

// --- internal ---

const MAX_PARTS = 256;
/** Bytes. */
const MAX_ALL_PARTS = 256 * 1024 * 1024;

/** Undefined when it is none. */
function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const headDocument = z.object({
  parts: z
    .array(
      z.object({
        digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
        skills: z.number().int().min(1).max(MAX_ENTRIES),
      }),
    )
    .min(1)
    .max(MAX_PARTS),
});

async function fetchPart(url: string, { digest }: IndexPart, signal: AbortSignal, kept?: KeptParts): Promise<Buffer> {
  const bytes = await download(url, MAX_INDEX, { signal });
  assertDigest(bytes, { digest, name: url });
  kept?.write(digest, bytes);
  return bytes;
}
