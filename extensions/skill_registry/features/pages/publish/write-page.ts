import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { unlessCoded } from '../../../../../lib/errors/index.ts';
import {
  futureRealPath,
  isReserved,
  isTemporaryName,
  readContained,
  writeContained,
} from '../../../../../lib/files/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import type { SkillSource } from '../../../core/sources/source.ts';
import { INDEX_PATH, MAX_ARCHIVE } from '../../install/opened-origin.ts';
import {
  assertDigest,
  HEAD_NAME,
  HEAD_PATH,
  INDEX_SCHEMA,
  type IndexEntry,
  MAX_ENTRIES,
  MAX_HEAD,
  MAX_INDEX,
  partAddress,
  partOf,
  readHead,
  readIndex,
} from '../page-index.ts';
import type { Artifact } from './artifact.ts';

export interface PublishedFolder {
  readonly path: string;
  /** Currently served, with relative addresses; empty for a new folder. */
  readonly entries: readonly IndexEntry[];
  readonly parts: readonly string[];
}

export interface IndexLimits {
  readonly bytes: number;
  readonly entries: number;
}

/** @throws INVALID_ARGUMENT for a folder that belongs to something else. */
export function openPublished(to: string, sources: readonly SkillSource[]): PublishedFolder {
  const path = futureRealPath(to);
  const refused = (why: string) => invalidArgument(`Nothing can be published to ${to}: ${why}`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isDirectory()) throw refused('it is a file, expected a folder.');
  if (isReserved(path)) throw refused('it belongs to the registry itself. Choose another folder.');
  const source = sources.find((one) => one.contains(path));
  if (source) {
    const where = `it is in the source "${source.id}" (${source.location}), so its files would be skills' files.`;
    throw refused(`${where} Choose a folder outside of it.`);
  }
  if (!stats || readdirSync(path).length === 0) return { path, ...NOTHING };
  const index = statSync(join(path, INDEX_PATH), { throwIfNoEntry: false });
  const served = index ? servedBy(path) : isBegun(path) ? NOTHING : undefined;
  if (served) return { path, ...served };
  if (index && index.size > MAX_INDEX)
    throw refused(
      `its ${INDEX_PATH} has ${index.size} bytes, more than the ${MAX_INDEX} that any reader takes. When an older release published it, remove ${join(path, FOLDER)} and publish again: the new index has parts.`,
    );
  const choice = 'Choose an empty folder, a new one, or one that was published before.';
  throw refused(`it is not empty, and was not made by publish. ${choice}`);
}

/**
 * The order keeps a running server consistent: first artifacts and parts, whose names contain their digests, then the
 * head and the index, each in one step. Files of the previous version stay until the next publish, because a reader may
 * still fetch them.
 */
export async function writePublished(
  { path, ...before }: PublishedFolder,
  artifacts: readonly Artifact[],
  limits: IndexLimits = { bytes: MAX_INDEX, entries: MAX_ENTRIES },
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
  // A parallel publish into the same folder may have removed a file before this index named it.
  await writeMissing();
  const had = new Set(before.entries.map(({ digest }) => digest));
  const changed = new Set(entries.flatMap(({ name, digest }) => (had.has(digest) ? [] : [name])));
  return { changed, inIndex, parts: parts.length };
}

// --- internal ---

/** Readable by a web server that runs as another user. */
const PUBLIC = { mode: 0o644 } as const;
const FOLDER = dirname(INDEX_PATH);
const ARTIFACT = /^artifacts\/([a-z0-9-]{1,64}\.[0-9a-f]{64}\.(?:md|tar\.gz))$/;
const PART = /^parts\/[0-9a-f]{64}\.json$/;

type Served = Omit<PublishedFolder, 'path'>;
const NOTHING: Served = { entries: [], parts: [] };

/** Undefined when publish did not make the folder. */
function servedBy(path: string): Served | undefined {
  // A known base shows whether the addresses in it are relative.
  const base = 'http://localhost/';
  try {
    const index = readIndex(readContained(path, INDEX_PATH, MAX_INDEX).toString('utf8'), base);
    const parts = index.hasParts ? readHead(readContained(path, HEAD_PATH, MAX_HEAD).toString('utf8'), HEAD_PATH) : [];
    const read = parts.map((part) => {
      const bytes = readContained(path, `${FOLDER}/${partAddress(part)}`, MAX_INDEX);
      assertDigest(bytes, { digest: part.digest, name: partAddress(part) });
      return readIndex(bytes.toString('utf8'), base);
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

/** Whether the folder contains only files of a publish that ended before it wrote its index. */
function isBegun(path: string): boolean {
  const folders: readonly string[] = [dirname(FOLDER), FOLDER, `${FOLDER}/artifacts`, `${FOLDER}/parts`];
  return readdirSync(path, { recursive: true, withFileTypes: true }).every((entry) => {
    const below = join(entry.parentPath, entry.name).slice(path.length + 1);
    if (entry.isDirectory()) return folders.includes(below);
    return below === HEAD_PATH || isTemporaryName(entry.name) || isAddress(below.slice(FOLDER.length + 1));
  });
}

function isAddress(text: string): boolean {
  return ARTIFACT.test(text) || PART.test(text);
}

/** Compares all bytes: a crash of the machine may have left a partial file. */
function isThere(path: string, address: string, bytes: Buffer): boolean {
  const isSame = () => readContained(path, `${FOLDER}/${address}`, MAX_ARCHIVE).equals(bytes);
  return unlessCoded(isSame, false, 'RESOURCE_NOT_FOUND');
}

function removeOthers(path: string, kept: ReadonlySet<string>): void {
  for (const folder of ['artifacts', 'parts'].filter((name) => existsSync(join(path, FOLDER, name))))
    for (const name of readdirSync(join(path, FOLDER, folder))) {
      const address = `${folder}/${name}`;
      if (isAddress(address) && !kept.has(address)) rmSync(join(path, FOLDER, address), { force: true });
    }
}

/** If the index has no room for all skills, it has the first ones, and parts have all. */
function pageDocuments(entries: readonly IndexEntry[], limits: IndexLimits) {
  const whole = documentOf({ $schema: INDEX_SCHEMA, skills: entries });
  if (entries.length <= limits.entries && Buffer.byteLength(whole) <= limits.bytes)
    return { index: whole, inIndex: entries.length, head: undefined, parts: [] };
  const shown = entries.slice(0, countThatFits(entries, limits));
  const byPart = new Map<number, IndexEntry[]>();
  for (const entry of entries) {
    const number = partOf(entry.name);
    byPart.set(number, [...(byPart.get(number) ?? []), entry]);
  }
  const parts = [...byPart]
    .sort(([one], [other]) => one - other)
    .map(([, skills]) => {
      const bytes = Buffer.from(documentOf({ $schema: INDEX_SCHEMA, skills }));
      return { bytes, skills: skills.length, digest: digestOf(bytes) };
    });
  return {
    index: documentOf({ $schema: INDEX_SCHEMA, parts: HEAD_NAME, skills: shown }),
    inIndex: shown.length,
    head: documentOf({ parts: parts.map(({ digest, skills }) => ({ digest, skills })) }),
    parts: parts.map(({ digest, bytes }) => ({ address: partAddress({ digest }), bytes })),
  };
}

function documentOf(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Bytes of the document around the entries, and of one entry's indentation. */
const AROUND = 256;
const INDENTATION = 64;

function countThatFits(entries: readonly IndexEntry[], limits: IndexLimits): number {
  let left = limits.bytes - AROUND;
  const first = entries.findIndex((entry) => {
    left -= Buffer.byteLength(JSON.stringify(entry, null, 2)) + INDENTATION;
    return left < 0;
  });
  return Math.min(limits.entries, first === -1 ? entries.length : first);
}
