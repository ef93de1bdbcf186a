import { isCodedError } from 'skill-registry/kernel';
import {
  type Archive,
  type DownloadOptions,
  download,
  type OriginHeaders,
  originRefused,
  originUnavailable,
  unpack,
} from '../../../../lib/fetch/index.ts';
import { parseSkill } from '../../core/skill/parse-skill.ts';
import { noSuchSkill, severalSkills } from '../install/errors.ts';
import {
  INDEX_PATH,
  MAX_ARCHIVE,
  MAX_SKILL_FILE,
  type OpenedOrigin,
  type WellKnownOrigin,
} from '../install/opened-origin.ts';
import { askPage, assertDigest, type IndexEntry, type PageAnswer, type PageSkills, readPage } from './page-index.ts';

/** @param how.from - Address of the index. @throws ORIGIN_UNAVAILABLE; ORIGIN_REFUSED, also for another digest. */
export async function fetchArtifact(
  { url, digest, name, type }: IndexEntry,
  how: DownloadOptions & { readonly from: string },
): Promise<Archive> {
  const bytes = await download(url, MAX_ARCHIVE, how);
  assertDigest(bytes, { digest, name });
  if (type === 'archive') return unpack(bytes, `"${name}"`);
  return {
    entries: [{ path: 'SKILL.md', size: bytes.length, kind: 'file', executable: false }],
    read: async (paths) => paths.map(() => bytes),
  };
}

/**
 * @param names - Fetches only these, and what they require; an empty list: the only skill. Default: all.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED; ORIGIN_INVALID for a name that the page does not have.
 */
export async function openWellKnown(
  origin: WellKnownOrigin,
  names?: readonly string[],
  headers?: OriginHeaders,
): Promise<OpenedOrigin> {
  const url = `${origin.url}/${INDEX_PATH}`;
  const { entries: index, refused } = await skillsOf(origin.url, url, headers);
  if (index.length === 0) throw originRefused(url, `it has no skill that can be used. ${refused[0] ?? ''}`.trim());
  const byName = new Map(index.map((entry) => [entry.name, entry]));
  const known = [...byName.keys()];
  const unknown = names?.find((name) => !byName.has(name));
  if (unknown !== undefined) throw noSuchSkill(url, unknown, known);
  if (names?.length === 0 && index.length > 1) throw severalSkills(url, known);
  const artifacts = new Map<string, Archive>();
  const wanted = [...(names?.length ? names : known)];
  for (const name of wanted) {
    const entry = byName.get(name);
    if (!entry || artifacts.has(name)) continue;
    const artifact = await fetchArtifact(entry, { from: url, headers });
    artifacts.set(name, artifact);
    wanted.push(...(await requiresOf(artifact, name)));
  }
  return {
    origin,
    at: { digests: new Map(index.map(({ name, digest }) => [name, digest])) },
    name: 'skill',
    entries: [...artifacts].flatMap(([name, { entries }]) =>
      entries.map((one) => ({ ...one, path: `${name}/${one.path}` })),
    ),
    read: (paths) => readFrom(artifacts, paths),
  };
}

// --- internal ---

async function skillsOf(page: string, url: string, headers: OriginHeaders | undefined): Promise<PageSkills> {
  try {
    return await readPage(page, (await askPage(page, undefined, { headers })) as PageAnswer, { headers });
  } catch (error) {
    const isNone = isCodedError(error, 'ORIGIN_UNAVAILABLE') && error.details.status === 404;
    if (!isNone || !error.message.includes(url)) throw error;
    const why =
      'there is nothing, so this is no page with skills (404). Of a git repository give the address that ends with .git, or add #branch; of an archive the one that ends with .tar.gz or .zip';
    throw originUnavailable(url, why, error, { status: 404 });
  }
}

async function requiresOf({ entries, read }: Archive, name: string): Promise<readonly string[]> {
  const isSmall = entries.some(({ path, size }) => path === 'SKILL.md' && size <= MAX_SKILL_FILE);
  const [text] = isSmall ? await read(['SKILL.md']) : [];
  return text ? (parseSkill(text.toString('utf8'), 'SKILL.md', name).header?.requires ?? []) : [];
}

async function readFrom(artifacts: ReadonlyMap<string, Archive>, paths: readonly string[]): Promise<readonly Buffer[]> {
  const contents = new Map<string, Buffer>();
  for (const [name, artifact] of artifacts) {
    const inside = paths.filter((path) => path.startsWith(`${name}/`));
    const read = await artifact.read(inside.map((path) => path.slice(name.length + 1)));
    for (const [at, path] of inside.entries()) contents.set(path, read[at] as Buffer);
  }
  return paths.map((path) => contents.get(path) ?? Buffer.alloc(0));
}
