import { createHash } from 'node:crypto';
import { download, originRefused, unpack } from '../../../../lib/fetch/index.ts';
import type { WellKnownOrigin } from '../address.ts';
import { MAX_ARCHIVE } from '../archive.ts';
import type { Offer, OfferedEntry } from '../offer.ts';
import { INDEX_PATH, type IndexEntry, MAX_INDEX, readIndex } from './page-index.ts';

/**
 * The bytes an entry names, compared with its digest.
 *
 * @param from - Where the index is.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED.
 */
export async function fetchArtifact(
  { url, digest, name }: IndexEntry,
  from: string,
  signal?: AbortSignal,
): Promise<Buffer> {
  const bytes = await download(url, MAX_ARCHIVE, { from, ...(signal ? { signal } : {}) });
  assertDigest(bytes, { digest, name });
  return bytes;
}

/** @throws ORIGIN_REFUSED. */
export function assertDigest(bytes: Buffer, { digest, name }: Pick<IndexEntry, 'digest' | 'name'>): void {
  const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (found !== digest) throw originRefused(`"${name}"`, `the index says ${digest}, its bytes are ${found}.`);
}

/** The files an artifact has. @throws ORIGIN_REFUSED. */
export async function openArtifact(
  bytes: Buffer,
  { type, name }: IndexEntry,
): Promise<Pick<Offer, 'entries' | 'read'>> {
  if (type === 'archive') return unpack(bytes, `"${name}"`);
  const entry: OfferedEntry = { path: 'SKILL.md', size: bytes.length, kind: 'file', executable: false };
  return { entries: [entry], read: async (paths) => paths.map(() => bytes) };
}

/**
 * The skills of a page, each in a folder of its name.
 *
 * @param names - Only these are fetched. Default: all.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED.
 */
export async function openWellKnown(origin: WellKnownOrigin, names?: readonly string[]): Promise<Offer> {
  const url = `${origin.url}/${INDEX_PATH}`;
  const { entries: index, refused } = readIndex(await download(url, MAX_INDEX), url);
  if (index.length === 0) throw originRefused(url, `it has no skill that can be used. ${refused[0] ?? ''}`.trim());
  const parts = new Map<string, Pick<Offer, 'entries' | 'read'>>();
  for (const entry of index) {
    if (names === undefined || names.includes(entry.name))
      parts.set(entry.name, await openArtifact(await fetchArtifact(entry, url), entry));
  }
  const digests = new Map(index.map(({ name, digest }) => [name, digest]));
  return {
    ...{ origin, at: { digests }, name: 'skill', close: () => undefined },
    entries: [...parts].flatMap(([name, { entries }]) =>
      entries.map((one) => ({ ...one, path: `${name}/${one.path}` })),
    ),
    async read(paths) {
      const contents = new Map<string, Buffer>();
      for (const [name, part] of parts) {
        const inside = paths.filter((path) => path.startsWith(`${name}/`));
        const read = await part.read(inside.map((path) => path.slice(name.length + 1)));
        for (const [at, path] of inside.entries()) contents.set(path, read[at] as Buffer);
      }
      return paths.map((path) => contents.get(path) ?? Buffer.alloc(0));
    },
  };
}
