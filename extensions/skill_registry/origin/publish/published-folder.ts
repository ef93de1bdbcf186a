import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import {
  futureRealPath,
  isReserved,
  isTemporaryName,
  readContained,
  writeContained,
} from '../../../../lib/files/index.ts';
import { invalidArgument } from '../../skill/errors.ts';
import type { SkillSource } from '../../sources/source.ts';
import { MAX_ARCHIVE } from '../opened-origin.ts';
import { assertDigest, INDEX_PATH, type IndexEntry, MAX_INDEX, readIndex } from '../well-known/page-index.ts';
import { HEAD_PATH, MAX_HEAD, partAddress, readHead } from '../well-known/page-parts.ts';
import type { Artifact } from './artifact.ts';
import { INDEX_LIMITS, type IndexLimits, pageDocuments } from './page-documents.ts';

/** A folder that a web server serves as a page with skills. */
export interface PublishedFolder {
  /** Real path. */
  readonly path: string;
  /** What it serves at present; empty for a new folder. */
  readonly entries: readonly IndexEntry[];
  /** Addresses of the parts of its index, relative to that. */
  readonly parts: readonly string[];
}

/** @throws INVALID_ARGUMENT for a folder that belongs to something else; nothing was written. */
export function openPublished(to: string, sources: readonly SkillSource[]): PublishedFolder {
  const path = futureRealPath(to);
  const refused = (why: string) => invalidArgument(`Nothing can be published to ${to}: ${why}`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isDirectory()) throw refused('it is a file, expected a folder.');
  if (isReserved(path)) throw refused('it belongs to the registry itself. Choose another folder.');
  const source = sources.find((one) => one.contains(path));
  if (source)
    throw refused(
      `it is in the source "${source.id}" (${source.location}), so its files would be skills' files. Choose a folder outside of it.`,
    );
  if (!stats || readdirSync(path).length === 0) return { path, ...NOTHING };
  const served = existsSync(join(path, INDEX_PATH)) ? servedBy(path) : isBegun(path) ? NOTHING : undefined;
  if (!served)
    throw refused(
      `it is not empty, and was not made by publish. Choose an empty folder, a new one, or one that was published before.`,
    );
  return { path, ...served };
}

/**
 * Makes a folder serve these skills. Artifacts and parts of the index come first, under names that hold their digests, then the head of
 * the parts and the index, each in one step, so a process that ends at any moment leaves a folder that serves all of the old or all of
 * the new. What was named before stays until the next time: somebody may just be fetching it.
 *
 * @returns the names of what is new, and how many skills the index itself names.
 * @throws WRITE_FAILED, PATH_TRAVERSAL when something in it is a link.
 */
export async function writePublished(
  { path, ...before }: PublishedFolder,
  artifacts: readonly Artifact[],
  takeBreak: () => Promise<void>,
  limits: IndexLimits = INDEX_LIMITS,
): Promise<{ readonly changed: ReadonlySet<string>; readonly inIndex: number; readonly parts: number }> {
  const entries = artifacts.map(({ entry }) => entry);
  const { index, inIndex, head, parts } = pageDocuments(entries, limits);
  const files = [...artifacts.map(({ entry, bytes }) => ({ address: entry.url, bytes })), ...parts];
  const writeMissing = async (): Promise<void> => {
    for (const { address, bytes } of files) {
      await takeBreak();
      if (!isThere(path, address, bytes)) writeContained(path, `${FOLDER}/${address}`, bytes, PUBLIC);
    }
  };
  await writeMissing();
  if (head !== undefined) writeContained(path, HEAD_PATH, head, PUBLIC);
  writeContained(path, INDEX_PATH, index, PUBLIC);
  if (head === undefined) rmSync(join(path, HEAD_PATH), { force: true });
  const now = servedBy(path) ?? NOTHING;
  const kept = [...before.entries, ...now.entries].map(({ url }) => url);
  removeOthers(path, new Set([...kept, ...before.parts, ...now.parts, ...files.map(({ address }) => address)]));
  // Another publish into the same folder may have removed one before this index named it.
  await writeMissing();
  const had = new Set(before.entries.map(({ digest }) => digest));
  const changed = new Set(entries.flatMap(({ name, digest }) => (had.has(digest) ? [] : [name])));
  return { changed, inIndex, parts: parts.length };
}

// --- internal ---

/** Readable for the server, whatever user it runs as. */
const PUBLIC = { mode: 0o644 } as const;
const FOLDER = INDEX_PATH.slice(0, INDEX_PATH.lastIndexOf('/'));
const ARTIFACT = /^artifacts\/([a-z0-9-]{1,64}\.[0-9a-f]{64}\.(?:md|tar\.gz))$/;

const PART = /^parts\/[0-9a-f]{64}\.json$/;
type Served = Omit<PublishedFolder, 'path'>;
const NOTHING: Served = { entries: [], parts: [] };

/** What a folder serves, by relative addresses; undefined when publish did not make it. */
function servedBy(path: string): Served | undefined {
  // Only this tells whether addresses in it are relative.
  const base = 'http://localhost/';
  try {
    const index = readIndex(readContained(path, INDEX_PATH, MAX_INDEX), base);
    const parts = index.hasParts ? readHead(readContained(path, HEAD_PATH, MAX_HEAD), HEAD_PATH) : [];
    const read = parts.map((part) => {
      const bytes = readContained(path, `${FOLDER}/${partAddress(part)}`, MAX_INDEX);
      assertDigest(bytes, { digest: part.digest, name: partAddress(part) });
      return readIndex(bytes, base);
    });
    const all = index.hasParts ? read : [index];
    const entries = all.flatMap((one) => one.entries.map((entry) => ({ ...entry, url: entry.url.slice(base.length) })));
    const isOurs = all.every(({ refused }) => refused.length === 0) && entries.every(({ url }) => ARTIFACT.test(url));
    return isOurs ? { entries, parts: parts.map(partAddress) } : undefined;
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

/** Whether a folder has nothing but what a publish that was ended before its index has left. */
function isBegun(path: string): boolean {
  const folders: readonly string[] = [FOLDER.split('/', 1)[0] ?? '', FOLDER, `${FOLDER}/artifacts`, `${FOLDER}/parts`];
  return readdirSync(path, { recursive: true, withFileTypes: true }).every((entry) => {
    const below = join(entry.parentPath, entry.name).slice(path.length + 1);
    if (entry.isDirectory()) return folders.includes(below);
    const address = below.slice(FOLDER.length + 1);
    return below === HEAD_PATH || isTemporaryName(entry.name) || ARTIFACT.test(address) || PART.test(address);
  });
}

/** Compared byte by byte: a crash of the machine may have left a part. */
function isThere(path: string, address: string, bytes: Buffer): boolean {
  try {
    return readContained(path, `${FOLDER}/${address}`, MAX_ARCHIVE).equals(bytes);
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return false;
    throw error;
  }
}

/** Removes artifacts and parts that neither this index nor the one before names. */
function removeOthers(path: string, kept: ReadonlySet<string>): void {
  for (const folder of ['artifacts', 'parts'].filter((name) => existsSync(join(path, FOLDER, name))))
    for (const name of readdirSync(join(path, FOLDER, folder))) {
      const address = `${folder}/${name}`;
      const isOurs = ARTIFACT.test(address) || PART.test(address);
      if (isOurs && !kept.has(address)) rmSync(join(path, FOLDER, address), { force: true });
    }
}
