import { isCodedError } from 'skill-registry/kernel';
import { download, originRefused, originUnavailable, unpack } from '../../../../lib/fetch/index.ts';
import { parseSkill } from '../../skill/parse-skill.ts';
import { noSuchSkill, severalSkills } from '../errors.ts';
import {
  MAX_ARCHIVE,
  MAX_SKILL_FILE,
  type OpenedOrigin,
  type OriginEntry,
  type WellKnownOrigin,
} from '../opened-origin.ts';
import { assertDigest, INDEX_PATH, type IndexEntry, MAX_INDEX, type PageIndex, readIndex } from './page-index.ts';
import { readAllParts } from './page-parts.ts';

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

/** The files an artifact has. @throws ORIGIN_REFUSED. */
export async function openArtifact(bytes: Buffer, { type, name }: IndexEntry): Promise<Artifact> {
  if (type === 'archive') return unpack(bytes, `"${name}"`);
  const entry: OriginEntry = { path: 'SKILL.md', size: bytes.length, kind: 'file', executable: false };
  return { entries: [entry], read: async (paths) => paths.map(() => bytes) };
}

/**
 * The skills of a page, each in a folder of its name.
 *
 * @param names - Only these are fetched, and what they require; none: the only one. Default: all.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED; ORIGIN_INVALID for a name that it does not have.
 */
export async function openWellKnown(origin: WellKnownOrigin, names?: readonly string[]): Promise<OpenedOrigin> {
  const url = `${origin.url}/${INDEX_PATH}`;
  const { entries: index, refused } = await fetchIndex(origin.url, url);
  if (index.length === 0) throw originRefused(url, `it has no skill that can be used. ${refused[0] ?? ''}`.trim());
  const byName = new Map(index.map((entry) => [entry.name, entry]));
  const known = index.map(({ name }) => name);
  const unknown = names?.find((name) => !byName.has(name));
  if (unknown !== undefined) throw noSuchSkill(url, unknown, known);
  if (names?.length === 0 && index.length > 1) throw severalSkills(url, known);
  const parts = new Map<string, Artifact>();
  const wanted = [...(names?.length ? names : byName.keys())];
  for (const name of wanted) {
    const entry = byName.get(name);
    if (!entry || parts.has(name)) continue;
    const part = await openArtifact(await fetchArtifact(entry, url), entry);
    parts.set(name, part);
    wanted.push(...(await requiresOf(part, name)));
  }
  const digests = new Map(index.map(({ name, digest }) => [name, digest]));
  return {
    ...{ origin, at: { digests }, name: 'skill', close: () => undefined },
    entries: [...parts].flatMap(([name, { entries }]) =>
      entries.map((one) => ({ ...one, path: `${name}/${one.path}` })),
    ),
    read: async (paths) => readFrom(parts, paths),
  };
}

// --- internal ---

async function fetchIndex(page: string, url: string): Promise<Omit<PageIndex, 'hasParts'>> {
  const index = readIndex(await fetchDocument(url), url);
  return index.hasParts ? readAllParts(page) : index;
}

async function fetchDocument(url: string): Promise<Buffer> {
  try {
    return await download(url, MAX_INDEX);
  } catch (error) {
    if (!isCodedError(error, 'ORIGIN_UNAVAILABLE') || error.details.status !== 404) throw error;
    const why =
      'there is nothing, so this is no page with skills (404). Of a git repository give the address that ends with .git, or add #branch; of an archive the one that ends with .tar.gz or .zip';
    throw originUnavailable(url, why, error, { status: 404 });
  }
}

type Artifact = Pick<OpenedOrigin, 'entries' | 'read'>;

async function requiresOf({ entries, read }: Artifact, name: string): Promise<readonly string[]> {
  const isSmall = entries.some(({ path, size }) => path === 'SKILL.md' && size <= MAX_SKILL_FILE);
  const [text] = isSmall ? await read(['SKILL.md']) : [];
  return text ? (parseSkill(text.toString('utf8'), 'SKILL.md', name).header?.requires ?? []) : [];
}

async function readFrom(parts: ReadonlyMap<string, Artifact>, paths: readonly string[]): Promise<readonly Buffer[]> {
  const contents = new Map<string, Buffer>();
  for (const [name, part] of parts) {
    const inside = paths.filter((path) => path.startsWith(`${name}/`));
    const read = await part.read(inside.map((path) => path.slice(name.length + 1)));
    for (const [at, path] of inside.entries()) contents.set(path, read[at] as Buffer);
  }
  return paths.map((path) => contents.get(path) ?? Buffer.alloc(0));
}
