import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isCodedError, z } from 'skill-registry/kernel';
import { readContained, removeContained, writeContained } from '../../../lib/files/index.ts';
import { gitOrigin, npmOrigin, type Origin, pageOrigin, parseOrigin } from './address.ts';
import type { LockedFiles } from './digest.ts';
import { lockInvalid } from './errors.ts';

export const LOCK_FILE = 'skills-lock.json';

/** What is kept of one installed skill; other tools read and write the same fields. Unknown ones are kept as they are. */
export interface LockEntry {
  /** `owner/repo`, an address, a folder relative to the root, `npm:name@range`, `wellknown/<host>`. */
  readonly source: string;
  /** `github`, `gitlab`, `git`, `local`, `npm`, `download`, `well-known`, or another tool's. */
  readonly sourceType: string;
  readonly sourceUrl?: string | undefined;
  readonly ref?: string | undefined;
  /** Of SKILL.md in the source. */
  readonly skillPath?: string | undefined;
  readonly version?: string | undefined;
  readonly computedHash: string;
  readonly wellKnownDigest?: string | undefined;
  /** Ours. Absent where another tool has written the entry. */
  readonly registry?: (LockedFiles & { readonly commit?: string | undefined }) | undefined;
  readonly [unknown: string]: unknown;
}

/** `skills-lock.json` of a root. */
export interface Lock {
  /** By the name the skill gives itself. */
  readonly skills: ReadonlyMap<string, LockEntry>;
  /** Names of entries that break the format, with the reason; they are kept as they are. */
  readonly broken: ReadonlyMap<string, string>;
  /** Everything in the file. */
  readonly document: Readonly<Record<string, unknown>>;
}

/** @throws LOCK_INVALID when the file is no lock of version 1; nothing of it is lost. */
export function readLock(root: string): Lock {
  const file = join(root, LOCK_FILE);
  const text = textIfThere(root);
  if (text === undefined) return { skills: new Map(), broken: new Map(), document: { version: 1, skills: {} } };
  const parsed = lockDocument.safeParse(jsonOf(text, file));
  if (!parsed.success)
    throw lockInvalid(file, 'expected { "version": 1, "skills": { ... } }. Mend it, or move it away.');
  const skills = new Map<string, LockEntry>();
  const broken = new Map<string, string>();
  for (const [name, value] of Object.entries(parsed.data.skills)) {
    const entry = lockEntry.safeParse(value);
    const [issue] = entry.error?.issues ?? [];
    if (entry.success) skills.set(name, entry.data as LockEntry);
    else broken.set(name, `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'unknown'}`);
  }
  return { skills, broken, document: parsed.data };
}

/**
 * Puts entries into the lock, or takes them out (null); everything else stays as it is. Inside `Writer.exclusively`.
 *
 * @returns makes it what it was.
 * @throws LOCK_INVALID, WRITE_FAILED.
 */
export function changeLock(root: string, changes: ReadonlyMap<string, LockEntry | null>): () => void {
  const before = textIfThere(root);
  const { document } = readLock(root);
  const skills = new Map(Object.entries(document.skills as Readonly<Record<string, unknown>>));
  for (const [name, entry] of changes) {
    if (entry === null) skills.delete(name);
    // What other tools keep in an entry is theirs.
    else skills.set(name, { ...(skills.get(name) as object | undefined), ...entry });
  }
  const sorted = [...skills].sort(([a], [b]) => (a < b ? -1 : 1));
  writeContained(root, LOCK_FILE, `${JSON.stringify({ ...document, skills: Object.fromEntries(sorted) }, null, 2)}\n`);
  return () => (before === undefined ? removeContained(root, LOCK_FILE) : writeContained(root, LOCK_FILE, before));
}

/** What an entry says of where its skill came from, held to the same rules as what a person gives. @throws ORIGIN_INVALID. */
export function originOf(entry: LockEntry, root: string): Origin {
  const { source, sourceUrl, sourceType, ref, version } = entry;
  switch (sourceType) {
    case 'github':
      return gitOrigin(sourceUrl ?? `https://github.com/${source.replace(/\.git$/, '')}.git`, ref);
    case 'gitlab':
    case 'git':
      return gitOrigin(sourceUrl ?? source, ref);
    case 'npm':
      return npmOrigin(source.replace(/^npm:/, ''));
    case 'well-known':
      return pageOrigin(sourceUrl ?? source);
    case 'local':
      return { kind: 'folder', path: isAbsolute(source) ? source : resolve(root, source) };
    case 'node_modules':
      return npmOrigin(`${source}@${version ?? 'latest'}`);
    default:
      return parseOrigin(sourceUrl ?? source, root);
  }
}

/** The fields of an entry that say where a skill came from. */
export function sourceFields(
  origin: Origin,
  root: string,
): Pick<LockEntry, 'source' | 'sourceType' | 'sourceUrl' | 'ref'> {
  switch (origin.kind) {
    case 'git': {
      const [, host, path] = /^https:\/\/(github|gitlab)\.com\/(.+?)(?:\.git)?$/.exec(origin.url) ?? [];
      const ref = origin.ref === undefined ? {} : { ref: origin.ref };
      if (host === 'github' && path) return { source: path, sourceType: 'github', ...ref };
      const sourceType = host === 'gitlab' ? 'gitlab' : 'git';
      return { source: path ?? origin.url, sourceUrl: origin.url, sourceType, ...ref };
    }
    case 'npm':
      return { source: `npm:${origin.name}@${origin.range}`, sourceType: 'npm' };
    case 'well-known':
      return { source: `wellknown/${new URL(origin.url).hostname}`, sourceUrl: origin.url, sourceType: 'well-known' };
    case 'archive': {
      const isUrl = /^https?:/.test(origin.location);
      return {
        source: isUrl ? origin.location : portable(origin.location, root),
        sourceType: isUrl ? 'download' : 'local-archive',
      };
    }
    default:
      return { source: portable(origin.path, root), sourceType: 'local' };
  }
}

// --- internal ---

const MAX_LOCK = 16 * 1024 * 1024;

const text = z.string().min(1).max(4096);
const lockEntry = z.looseObject({
  source: text,
  sourceType: text,
  sourceUrl: text.optional(),
  ref: text.optional(),
  skillPath: text.optional(),
  version: text.optional(),
  computedHash: z.string().regex(/^([0-9a-f]{64})?$/),
  wellKnownDigest: text.optional(),
  registry: z
    .object({
      commit: z
        .string()
        .regex(/^[0-9a-f]{40,64}$/)
        .optional(),
      digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
      files: z.array(z.string().regex(/^sha256:[0-9a-f]{64} \d{1,9} (644|755) \S.*$/)).max(1000),
    })
    .optional(),
});
const lockDocument = z.looseObject({ version: z.literal(1), skills: z.record(z.string().max(300), z.unknown()) });

function textIfThere(root: string): string | undefined {
  try {
    return readContained(root, LOCK_FILE, MAX_LOCK).toString('utf8');
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return undefined;
    throw error;
  }
}

function jsonOf(content: string, file: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw lockInvalid(file, `${(error as Error).message}. Mend it, or move it away.`);
  }
}

/** Relative to the root, as other tools write it. */
function portable(path: string, root: string): string {
  const below = relative(root, path).split(sep).join('/');
  if (isAbsolute(below)) return path;
  return below === '' ? '.' : below.startsWith('..') ? below : `./${below}`;
}
