import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { futureRealPath, isReserved, readContained, writeContained } from '../../../../lib/files/index.ts';
import { invalidArgument } from '../../skill/errors.ts';
import type { SkillSource } from '../../sources/source.ts';
import { MAX_ARCHIVE } from '../opened-origin.ts';
import { INDEX_PATH, INDEX_SCHEMA, type IndexEntry, MAX_INDEX, readIndex } from '../well-known/page-index.ts';
import type { Artifact } from './artifact.ts';

/** A folder that a web server serves as a page with skills. */
export interface PublishedFolder {
  /** Real path. */
  readonly path: string;
  /** What it serves at present; empty for a new folder. */
  readonly entries: readonly IndexEntry[];
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
  if (!stats || readdirSync(path).length === 0) return { path, entries: [] };
  const entries = existsSync(join(path, INDEX_PATH)) ? indexOf(path) : undefined;
  if (!entries)
    throw refused(
      `it is not empty, and was not made by publish. Choose an empty folder, a new one, or one that was published before.`,
    );
  return { path, entries };
}

/**
 * Makes a folder serve these skills. Artifacts come first, under names that hold their digests, then the index in one step, so a
 * process that ends at any moment leaves a folder that serves all of the old or all of the new. What the index before named stays
 * until the next time: somebody may just be fetching it.
 *
 * @throws WRITE_FAILED, PATH_TRAVERSAL when something in it is a link.
 */
export async function writePublished(
  { path, entries: before }: PublishedFolder,
  artifacts: readonly Artifact[],
  takeBreak: () => Promise<void>,
): Promise<{ readonly changed: ReadonlySet<string> }> {
  const changed = new Set<string>();
  const had = new Set(before.map(({ digest }) => digest));
  const writeMissing = async (): Promise<void> => {
    for (const { entry, bytes } of artifacts) {
      await takeBreak();
      if (isThere(path, entry, bytes)) continue;
      writeContained(path, pathOf(entry), bytes, PUBLIC);
    }
  };
  for (const { entry } of artifacts) if (!had.has(entry.digest)) changed.add(entry.name);
  await writeMissing();
  const index = { $schema: INDEX_SCHEMA, skills: artifacts.map(({ entry }) => entry) };
  writeContained(path, INDEX_PATH, `${JSON.stringify(index, null, 2)}\n`, PUBLIC);
  const kept = [...before, ...(indexOf(path) ?? []), ...artifacts.map(({ entry }) => entry)];
  removeOthers(path, new Set(kept.map(({ url }) => url)));
  // Another publish into the same folder may have removed one before this index named it.
  await writeMissing();
  return { changed };
}

// --- internal ---

/** Readable for the server, whatever user it runs as. */
const PUBLIC = { mode: 0o644 } as const;
const FOLDER = INDEX_PATH.slice(0, INDEX_PATH.lastIndexOf('/'));
const ARTIFACT = /^artifacts\/([a-z0-9-]{1,64}\.[0-9a-f]{64}\.(?:md|tar\.gz))$/;

function pathOf({ url }: Pick<IndexEntry, 'url'>): string {
  return `${FOLDER}/${url}`;
}

/** What the index in a folder names, by relative addresses; undefined when publish did not make it. */
function indexOf(path: string): readonly IndexEntry[] | undefined {
  // Only this tells whether addresses in it are relative.
  const base = 'http://localhost/';
  try {
    const { entries, refused } = readIndex(readContained(path, INDEX_PATH, MAX_INDEX), base);
    const relative = entries.map((entry) => ({ ...entry, url: entry.url.slice(base.length) }));
    return refused.length === 0 && relative.every(({ url }) => ARTIFACT.test(url)) ? relative : undefined;
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

/** Compared byte by byte: a crash of the machine may have left a part. */
function isThere(path: string, entry: IndexEntry, bytes: Buffer): boolean {
  try {
    return readContained(path, pathOf(entry), MAX_ARCHIVE).equals(bytes);
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return false;
    throw error;
  }
}

/** Removes artifacts that neither this index nor the one before names. */
function removeOthers(path: string, kept: ReadonlySet<string>): void {
  const folder = join(path, FOLDER, 'artifacts');
  for (const name of readdirSync(folder)) {
    const artifact = `artifacts/${name}`;
    if (ARTIFACT.test(artifact) && !kept.has(artifact)) rmSync(join(folder, name), { force: true });
  }
}
