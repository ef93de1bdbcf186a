import { createHash } from 'node:crypto';
import { z } from 'skill-registry/kernel';
import { download, originRefused, unpack } from '../../../lib/fetch/index.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import { CHOOSE, originInvalid } from './errors.ts';
import { MAX_ARCHIVE, MAX_SKILL_FILE, type Offer, type OfferedEntry } from './offer.ts';
import type { WellKnownOrigin } from './types.ts';

/** Of the one version of the format that has digests. */
export const INDEX_SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
/** Below the page. */
export const INDEX_PATH = '.well-known/agent-skills/index.json';
export const MAX_INDEX: number = 8 * 1024 * 1024;

/** One skill as the index of a page names it. */
export interface IndexEntry {
  /** 1-64 lower-case letters, digits and single hyphens. */
  readonly name: string;
  /** `skill-md`: the artifact is SKILL.md; `archive`: a .tar.gz or .zip with SKILL.md at its top. */
  readonly type: 'skill-md' | 'archive';
  readonly description: string;
  /** Absolute. */
  readonly url: string;
  /** `sha256:<64 hex>` of the bytes of the artifact. */
  readonly digest: string;
}

export interface PageIndex {
  readonly entries: readonly IndexEntry[];
  /** What is wrong with the others. */
  readonly refused: readonly string[];
}

/** @param url - Where the index is. @throws ORIGIN_REFUSED for another format. */
export function readIndex(bytes: Buffer, url: string): PageIndex {
  const document = indexDocument.safeParse(jsonOf(bytes));
  if (!document.success) throw originRefused(url, 'it is no index: expected { $schema, skills: [...] }.');
  const { $schema, skills } = document.data;
  if ($schema !== INDEX_SCHEMA) {
    const found = $schema === undefined ? 'none, which is 0.1.0 and has no digests' : oneLine(String($schema), 100);
    throw originRefused(url, `expected $schema "${INDEX_SCHEMA}", found ${found}.`);
  }
  const entries = new Map<string, IndexEntry>();
  const refused: string[] = [];
  for (const [at, skill] of skills.entries()) {
    const entry = entryOf(skill, at, url);
    if (typeof entry === 'string') refused.push(entry);
    else if (entries.has(entry.name)) refused.push(`"${entry.name}" is named a second time.`);
    else entries.set(entry.name, entry);
  }
  return { entries: [...entries.values()], refused };
}

/** The bytes an entry names, compared with its digest. @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED. */
export async function fetchArtifact({ url, digest, name }: IndexEntry): Promise<Buffer> {
  const bytes = await download(url, MAX_ARCHIVE);
  assertDigest(bytes, { digest, name });
  return bytes;
}

/** @throws ORIGIN_REFUSED. */
export function assertDigest(bytes: Buffer, { digest, name }: Pick<IndexEntry, 'digest' | 'name'>): void {
  const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (found !== digest) throw originRefused(`"${name}"`, `the index says ${digest}, its bytes are ${found}.`);
}

/** The files an artifact has. @throws ORIGIN_REFUSED. */
export async function openArtifact(bytes: Buffer, { type, name }: IndexEntry): Promise<Artifact> {
  if (type === 'archive') return unpack(bytes, `"${name}"`);
  const entry: OfferedEntry = { path: 'SKILL.md', size: bytes.length, kind: 'file', executable: false };
  return { entries: [entry], read: async (paths) => paths.map(() => bytes) };
}

/**
 * The skills of a page, each in a folder of its name.
 *
 * @param names - Only these are fetched, and what they require; none: the only one. Default: all.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED; ORIGIN_INVALID for a name that it does not have.
 */
export async function openWellKnown(origin: WellKnownOrigin, names?: readonly string[]): Promise<Offer> {
  const url = `${origin.url}/${INDEX_PATH}`;
  const { entries: index, refused } = readIndex(await download(url, MAX_INDEX), url);
  if (index.length === 0) throw originRefused(url, `it has no skill that can be used. ${refused[0] ?? ''}`.trim());
  const byName = new Map(index.map((entry) => [entry.name, entry]));
  const known = `${index
    .slice(0, MAX_LISTED)
    .map(({ name }) => name)
    .join(', ')}${index.length > MAX_LISTED ? ', ...' : ''}`;
  const unknown = names?.find((name) => !byName.has(name));
  if (unknown !== undefined) throw originInvalid(url, `it has no skill ${JSON.stringify(unknown)}. It has: ${known}.`);
  if (names?.length === 0 && index.length > 1)
    throw originInvalid(url, `it has ${index.length} skills: ${known}. ${CHOOSE}`);
  const parts = new Map<string, Artifact>();
  const wanted = [...(names?.length ? names : byName.keys())];
  for (const name of wanted) {
    const entry = byName.get(name);
    if (!entry || parts.has(name)) continue;
    const part = await openArtifact(await fetchArtifact(entry), entry);
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

/** Names in a message. */
const MAX_LISTED = 30;

type Artifact = Pick<Offer, 'entries' | 'read'>;

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

const indexDocument = z.object({ $schema: z.unknown().optional(), skills: z.array(z.unknown()).max(10_000) });
const indexEntry = z.object({
  name: z.string().regex(/^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/),
  type: z.enum(['skill-md', 'archive']),
  description: z.string().min(1).max(1024),
  url: z.string().min(1).max(2000),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** What is wrong with it instead. */
function entryOf(value: unknown, at: number, url: string): IndexEntry | string {
  const parsed = indexEntry.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `Skill number ${at + 1} is no entry (${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'unknown'}).`;
  }
  try {
    return { ...parsed.data, url: new URL(parsed.data.url, url).href };
  } catch {
    return `The address of "${parsed.data.name}" is none.`;
  }
}
