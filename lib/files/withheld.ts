import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { CodedError } from '../errors/index.ts';
import { invalidPath, resourceNotFound } from './errors.ts';

/**
 * Whether a name is usual for secrets or for a tool's own files: `.env`, `.env.*`, `.env-*` and `.envrc` (not
 * `.env.example`, `.env.sample`, `.env.template`), `.git`, `.ssh`, private keys (`id_ed25519`, `*.pem`, `*.key` ...)
 * and copies of them (`id_rsa.bak`, `tls.key (1)`). In any letter case, and in all spellings that some file system
 * treats as equal.
 *
 * @param name - One segment of a path.
 * @param kind - The names of private keys count for files only.
 */
export function isPrivateName(name: string, kind: 'file' | 'folder' = 'file'): boolean {
  // Fast path: most names are plain words, and there may be tens of thousands.
  if (kind === 'folder' && /^[a-fh-zA-FH-Z0-9]/.test(name)) return false;
  const plain = plainName(name);
  if (FOLDERS.has(plain) || (ENV.test(plain) && !EXAMPLE.test(plain))) return true;
  return kind === 'file' && KEY.test(plain);
}

/** Whether any segment of a path is a private name. */
export function isPrivatePath(path: string): boolean {
  return privateSegment(path.split(/[\\/]/)) !== undefined;
}

/** Paths that no other code of this process may open. */
export interface Reservation {
  /** Replaces the reserved paths. @param paths - Absolute: files, and folders with everything below. */
  keep(paths: readonly string[]): void;
  release(): void;
}

/**
 * Reserves files and folders: every function of this folder that reads, lists or writes refuses them, except with
 * `own`. The reservation is for the whole process because of SQLite: its locks belong to the process, and opening and
 * closing a database file in any other way gives up all of them.
 *
 * @param root - Absolute. Messages for models show paths relative to it (`withoutPaths`).
 * @param store - Name of a folder that is only in the `data/` of a root. Other roots are recognized by it from then on.
 */
export function reserve(root: string, store?: string): Reservation {
  if (store !== undefined) stores.add(store);
  const reserved: Reserved = { root, paths: [] };
  all.add(reserved);
  return {
    keep(paths) {
      reserved.paths = paths.map((path) => comparable(path) + sep);
    },
    release: () => void all.delete(reserved),
  };
}

/**
 * Whether a path is reserved, or lies in `data/` of another root.
 *
 * @param path - Absolute, real.
 * @param base - The folder that is read or searched, above the path. Roots that contain it do not count as other roots.
 *   Default: no other root counts.
 */
export function isReserved(path: string, base: string = path): boolean {
  // Called for every folder of every source, so it does not split the path.
  const tested = comparable(path) + sep;
  for (const { paths } of all) for (const reserved of paths) if (tested.startsWith(reserved)) return true;
  for (let at = tested.indexOf(DATA, comparable(base).length); at !== -1; at = tested.indexOf(DATA, at + 1))
    if (isOtherRoot(tested.slice(0, at))) return true;
  return false;
}

/** Whether the folder is a root: its `data/` has the folder of a store (`reserve`). */
export function isOtherRoot(folder: string): boolean {
  return [...stores].some((store) => existsSync(join(folder, 'data', store)));
}

/** Whether a folder, or something in it, is reserved. @param folder - Absolute, real. */
export function holdsReserved(folder: string): boolean {
  const tested = comparable(folder) + sep;
  for (const { paths } of all) if (paths.some((reserved) => reserved.startsWith(tested))) return true;
  return false;
}

/** Roots of all reservations, longest first. */
export function reservedRoots(): readonly string[] {
  return [...new Set([...all].map(({ root }) => root))].sort((a, b) => b.length - a.length);
}

/** @throws RESOURCE_NOT_FOUND for private names, whether the file exists or not. */
export function assertReadable(segments: readonly string[], shown: string): void {
  const name = privateSegment(segments);
  if (name !== undefined) throw resourceNotFound(shown, `${name.slice(0, 60)} is never handed out`);
}

/** @throws INVALID_ARGUMENT for paths that no tool and no proposal writes. */
export function assertWritable(base: string, segments: readonly string[], own = false): void {
  const name = privateSegment(segments) ?? segments.find((segment) => plainName(segment) === 'node_modules');
  if (name !== undefined)
    throw invalidPath(`nothing is written to ${name.slice(0, 60)}, which belongs to a person or a tool`);
  if (!own && isReserved(join(base, ...segments), base)) throw invalidPath('it leads to files of the registry itself');
}

export function reservedPath(shown: string): CodedError {
  return resourceNotFound(shown, 'it belongs to the registry itself');
}

// --- internal ---

interface Reserved {
  readonly root: string;
  /** With a separator at the end. */
  paths: readonly string[];
}

/** One set for the process, also when an extension has its own copy of this package. */
const KEPT = Symbol.for('skill-registry.reserved');
const STORES = Symbol.for('skill-registry.stores');
const shared = globalThis as { [KEPT]?: Set<Reserved>; [STORES]?: Set<string> };
shared[KEPT] ??= new Set();
shared[STORES] ??= new Set();
const all: Set<Reserved> = shared[KEPT];
const stores: Set<string> = shared[STORES];

const DATA = `${sep}data${sep}`;
const FOLDERS: ReadonlySet<string> = new Set(['.git', 'git~1', '.ssh']);
const ENV = /^\.env(rc)?([\s._(\d-]|$)/;
const EXAMPLE = /^\.env(rc)?[._-](example|sample|template)$/;
/** Keys of OpenSSH by name, others by ending, and the usual names of copies. */
const KEY =
  /(^(.*[_-])?(rsa|dsa|ecdsa|ed25519)(_sk)?|^id_(rsa|dsa|ecdsa|ed25519)[\s_-][^.]*|\.(pem|key|p8|p12|pfx|ppk|jks|keystore))([\s._-]*(bak|backup|old|orig|copy|save|swp|tmp|\([^()]*\)|\d))*$/;

function privateSegment(segments: readonly string[]): string | undefined {
  return segments.find((segment, index) => isPrivateName(segment, index < segments.length - 1 ? 'folder' : 'file'));
}

/**
 * A name as the most lenient file system compares it: without letter case, forms of Unicode, invisible characters, dots
 * and blanks at the end, and text after a colon. The marks that editors add to the names of their copies are removed,
 * too.
 */
function plainName(name: string): string {
  if (/^[\w.-]*\w$/.test(name)) return name.toLowerCase();
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/(?!^):.*$/s, '')
    .replace(/^\.?#/, '')
    .replace(/[.\s#~]+$/, '')
    .toLowerCase();
}

function comparable(path: string): string {
  return process.platform === 'linux' ? path : path.normalize('NFC').toLowerCase();
}
