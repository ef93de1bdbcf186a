import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { schema } from '../../../../lib/arguments/index.ts';
import { digestOf, digestOfLines } from '../../../../lib/digest/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { futureRealPath, isPlainPath, readContained, writeContained } from '../../../../lib/files/index.ts';
import { userStateDirectory, whyNotTrusted } from '../../../../lib/trust/index.ts';
import { waitInThread } from '../../../../lib/waiting/index.ts';
import { isUsableId, slugOf } from '../../core/skill/skill.ts';
import { LOCK_FILE, type LockScope, lockScopes, MAX_LOCK } from '../guard/installed.ts';
import type { LockChange } from '../history/journal/journal-entries.ts';
import { createWriteLock } from '../history/journal/write-lock.ts';
import { folderOf, type SkillLocation } from '../history/skill-location.ts';
import { originOf } from './address.ts';
import { type IncomingFile, MAX_SKILL_FILES } from './opened-origin.ts';
import { makeLinks, takeLinks } from './places.ts';
import type { LockEntry, LockedFiles } from './types.ts';

/** Whether an id can be made of the name, and it is no path. */
export function isLockName(name: string): boolean {
  return isUsableId(slugOf(name)) && name.length <= MAX_NAME && !IS_PATH.test(name);
}

export interface Lock {
  readonly skills: ReadonlyMap<string, LockEntry>;
  /** Names of invalid entries, each with its reason. `changeLock` keeps them unchanged. */
  readonly broken: ReadonlyMap<string, string>;
}

export function assertLock(root: string): void {
  if (textIfThere(root) !== undefined) return;
  const advice = 'Copy the one of the project to that place, or install skills with skill-registry add <origin>,';
  throw lockInvalid(root, `no such file is there. ${advice} which writes it`);
}

/** A repository can bring its own lock. @param trusted - A person has approved the root. @throws ROOT_NOT_APPROVED. */
export function assertApproved({ trusted }: { readonly trusted: boolean }): void {
  const why = 'Nobody has approved this root, so nothing is done that its skills-lock.json asks for.';
  const advice = 'To approve it: skill-registry approvals allow (for one command: --trust).';
  if (!trusted) throw new CodedError('ROOT_NOT_APPROVED', `${why} ${advice}`);
}

export function readLock(root: string): Lock {
  const document = documentOf(root, textIfThere(root));
  const skills = new Map<string, LockEntry>();
  const broken = new Map<string, string>();
  for (const [name, value] of Object.entries(document.skills)) {
    const why = whyBroken(name, value, root);
    if (why === undefined) skills.set(name, value as LockEntry);
    else broken.set(name, why);
  }
  return { skills, broken };
}

/** Sets an entry, or removes it (null), with the links of the skill. @throws as `changeLock`. */
export function changeInstalled(root: string, { name, entry, ifNone }: LockChange, location: SkillLocation): void {
  const [project, person] = lockScopes(root);
  const scope = person.covers(folderOf(location)) ? person : project;
  alone(scope, () => {
    const before = readLock(scope.folder).skills.get(name);
    if (ifNone && before) return;
    const after = entry === null ? undefined : (entry as LockEntry);
    const kept = after?.registry?.links ?? [];
    const links = before?.registry?.links?.filter((agent) => !kept.includes(agent));
    if (before?.registry) takeLinks(scope, location, { ...before, registry: { ...before.registry, links } });
    changeLock(scope.folder, name, entry);
    if (after) makeLinks(scope, location, after);
  });
}

/** Sets an entry, or removes it (null). Leaves everything else as it is. @throws LOCK_INVALID, WRITE_FAILED. */
export function changeLock(root: string, name: string, entry: unknown): void {
  const why = entry === null ? undefined : whyBroken(name, entry, root);
  if (why !== undefined) throw lockInvalid(root, `its entry "${name}" would be broken: ${why}`);
  const before = textIfThere(root);
  const document = documentOf(root, before);
  const skills = new Map(Object.entries(document.skills));
  if (entry === null && !skills.delete(name)) return;
  if (entry !== null) {
    const old = skills.get(name);
    // Keep the fields of other tools.
    const kept = lockEntry().safeParse(old).success ? (old as LockEntry) : {};
    const given = Object.entries(entry as LockEntry).filter(([, value]) => value !== undefined);
    skills.set(name, { ...kept, ...Object.fromEntries(given) });
  }
  const sorted = [...skills].sort(([a], [b]) => (a < b ? -1 : 1));
  write(root, { ...document, skills: Object.fromEntries(sorted) }, before);
}

/** Before the first skill is written: where a lock of the person is, a killed installation can be undone. */
export function beginLock(scope: LockScope): void {
  if (!scope.ofPerson || textIfThere(scope.folder) !== undefined) return;
  alone(scope, () => {
    if (textIfThere(scope.folder) === undefined) write(scope.folder, documentOf(scope.folder, undefined));
  });
}

/** Several roots may change the lock of the person at once. @throws HISTORY_BUSY. */
export function alone(scope: LockScope, work: () => void): void {
  if (!scope.ofPerson) {
    work();
    return;
  }
  const lock = createWriteLock(join(scope.folder, 'skills-lock.write'));
  try {
    for (let tries = 1; !lock.tryRun(() => [work()]); tries++) {
      if (tries > 1_000) throw new CodedError('HISTORY_BUSY', 'Another process is changing the lock of the person.');
      waitInThread(5);
    }
  } finally {
    lock.close();
  }
}

export function lockedFiles(files: readonly IncomingFile[]): LockedFiles {
  const lines = [...files].sort((a, b) => (a.path < b.path ? -1 : 1)).map(lineOf);
  return { digest: digestOfLines(lines), files: lines };
}

/** `sha256:<hex> <bytes> <mode> <path>` */
export function lineOf({ path, bytes, executable }: IncomingFile): string {
  return `${digestOf(bytes)} ${bytes.length} ${executable ? 755 : 644} ${path}`;
}

export function pathIn(line: string): string {
  return line.split(' ').slice(3).join(' ');
}

/** The hash of other tools: sha256 over paths and bytes in `localeCompare` order. Two folders can have the same one. */
export function computedHash(files: readonly Pick<IncomingFile, 'path' | 'bytes'>[]): string {
  const hash = createHash('sha256');
  for (const { path, bytes } of [...files].sort((a, b) => a.path.localeCompare(b.path)))
    hash.update(path).update(bytes);
  return hash.digest('hex');
}

export function isAsLocked(files: readonly IncomingFile[], entry: LockEntry): boolean {
  return entry.registry
    ? lockedFiles(files).digest === entry.registry.digest
    : computedHash(files) === entry.computedHash;
}

// --- internal ---

const MAX_NAME = 300;
const IS_PATH = /^[/~]|(?:^|\/)\.{1,2}(?:\/|$)|[\\\p{Cc}]/u;
const ORIGIN_TYPES = ['github', 'gitlab', 'git', 'npm', 'well-known', 'local', 'node_modules'];

const lockEntry = schema((z) => {
  const text = z.string().min(1).max(4096);
  const commit = z.string().regex(/^[0-9a-f]{40,64}$/);
  const isFileLine = (line: string): boolean =>
    /^sha256:[0-9a-f]{64} \d{1,9} (644|755) ./.test(line) && isPlainPath(pathIn(line));
  const fileLine = z.string().refine(isFileLine, 'expected sha256:<hex> <bytes> <mode> <path>');
  const isSkillFile = (path: string): boolean => isPlainPath(path) && /(^|\/)skill\.md$/i.test(path);
  const registry = z.object({
    commit: commit.optional(),
    digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    files: z.array(fileLine).max(MAX_SKILL_FILES),
    links: z.array(z.string()).max(100).optional(),
    headers: z.record(z.string(), z.string()).optional(),
  });
  return z.looseObject({
    source: text,
    sourceType: text,
    sourceUrl: text.optional(),
    ref: text.optional(),
    skillPath: text.refine(isSkillFile, 'expected the path of a SKILL.md').optional(),
    version: text.optional(),
    computedHash: z.string().regex(/^([0-9a-f]{64})?$/),
    wellKnownDigest: text.optional(),
    registry: registry.optional(),
  });
});
const lockDocument = schema((z) => z.looseObject({ version: z.literal(1), skills: z.record(z.string(), z.unknown()) }));

/** Anybody can write names, paths and addresses into a lock. */
function whyBroken(name: string, value: unknown, root: string): string | undefined {
  if (!isLockName(name)) return 'its name can be no id of a skill';
  const { data, error } = lockEntry().safeParse(value);
  const [issue] = error?.issues ?? [];
  if (issue) return `${issue.path.join('.') || 'it'}: ${issue.message}`;
  const { registry } = data ?? {};
  if (registry && digestOfLines(registry.files) !== registry.digest)
    return 'registry.digest: it is not that of registry.files';
  return whyNoOrigin(value as LockEntry, root);
}

/** For types of other tools, only addresses that are dangerous to hand to a program count. */
function whyNoOrigin(entry: LockEntry, root: string): string | undefined {
  const { source, sourceUrl = source, ref = '', sourceType } = entry;
  try {
    originOf(entry, root);
    return undefined;
  } catch (error) {
    const isOther =
      !ORIGIN_TYPES.includes(sourceType) && ![source, sourceUrl, ref].some((one) => /^-|^[\w+.-]+::/.test(one));
    return isOther ? undefined : `source: ${(error as Error).message}`;
  }
}

type LockDocument = ReturnType<ReturnType<typeof lockDocument>['parse']>;

function documentOf(root: string, content: string | undefined): LockDocument {
  if (content === undefined) return { version: 1, skills: {} };
  let why = 'expected { "version": 1, "skills": { ... } }';
  try {
    const document = JSON.parse(content);
    // Not zod's output, which drops an entry named `__proto__`.
    if (lockDocument().safeParse(document).success) return document as LockDocument;
  } catch (error) {
    why = (error as Error).message;
  }
  throw lockInvalid(root, `${why}. Correct it, or move it away.`);
}

function textIfThere(root: string, isLast = false): string | undefined {
  try {
    const own = isOfPerson(root);
    const text = readContained(futureRealPath(root), LOCK_FILE, MAX_LOCK, { own }).toString('utf8');
    const why = own ? whyNotTrusted(join(root, LOCK_FILE)) : undefined;
    if (why !== undefined) throw lockInvalid(root, `${why}.`);
    return text;
  } catch (error) {
    const stats = withFallback(() => lstatSync(join(root, LOCK_FILE)));
    if (!stats && isCodedError(error, 'RESOURCE_NOT_FOUND')) return undefined;
    // An unreadable lock is not treated as missing: `verify` would find nothing wrong.
    if (stats?.isSymbolicLink()) throw lockInvalid(root, 'it is a link. Put the file itself in its place.');
    if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) throw error;
    // Another process has just made it.
    if (!isLast) return textIfThere(root, true);
    const why = 'expected a regular file that may be read. Move away what is there, or correct its rights.';
    throw lockInvalid(root, why);
  }
}

function write(root: string, document: LockDocument, before?: string): void {
  const after = `${JSON.stringify(document, null, 2)}\n`;
  if (after !== before) writeContained(futureRealPath(root), LOCK_FILE, after, { own: isOfPerson(root) });
}

/** Its lock is outside every root, where only `own` reads and writes. */
function isOfPerson(folder: string): boolean {
  return folder === userStateDirectory();
}

function lockInvalid(root: string, why: string): CodedError<'LOCK_INVALID'> {
  return new CodedError('LOCK_INVALID', `${join(root, LOCK_FILE)} cannot be used: ${why}`);
}
