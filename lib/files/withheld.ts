import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { CodedError } from '../errors/index.ts';
import { invalidPath, resourceNotFound } from './errors.ts';

/**
 * Whether a name is usual for secrets or a tool's own files: `.env`, `.env.*`, `.env-*`, `.envrc` (not `.env.example`,
 * `.env.sample`, `.env.template`), `.git`, `.ssh`, private keys (`id_ed25519`, `*.pem`, `*.key` ...) and their copies
 * (`id_rsa.bak`, `tls.key (1)`). In any letter case and any spelling that some file system treats as equal.
 * @param name - One segment. @param kind - Names of private keys count only for files.
 */
export function isPrivateName(name: string, kind: 'file' | 'folder' = 'file'): boolean {
  // Fast path: there may be tens of thousands of plain names.
  if (kind === 'folder' && /^[a-fh-zA-FH-Z0-9]/.test(name)) return false;
  const plain = plainName(name);
  if (FOLDERS.has(plain) || (ENV.test(plain) && !EXAMPLE.test(plain))) return true;
  return kind === 'file' && KEY.test(plain);
}

export function isPrivatePath(path: string): boolean {
  return privateSegment(path.split(/[\\/]/)) !== undefined;
}

export interface Reservation {
  /** @param paths - Absolute files, and folders with everything below. They replace earlier ones. */
  keep(paths: readonly string[]): void;
  release(): void;
}

/**
 * All functions of this folder refuse reserved paths, except with `own`. Valid in the whole process: SQLite's locks
 * belong to it, and any other open and close of a database file releases them.
 * @param root - Absolute. Messages for models show paths relative to it (`withoutPaths`).
 * @param store - A folder that is only in `data/` of a root: from now on other roots are recognized by it.
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
 * Also true in `data/` of another root. @param path - Absolute, real.
 * @param base - The folder that is read; roots above it are not other roots. Default: no other root counts.
 */
export function isReserved(path: string, base: string = path): boolean {
  // Called for every folder of every source: does not split the path.
  const tested = comparable(path) + sep;
  for (const { paths } of all) for (const reserved of paths) if (tested.startsWith(reserved)) return true;
  for (let at = tested.indexOf(DATA, comparable(base).length); at !== -1; at = tested.indexOf(DATA, at + 1))
    if (isOtherRoot(tested.slice(0, at))) return true;
  return false;
}

/** Its `data/` has the folder of a store (`reserve`). */
export function isOtherRoot(folder: string): boolean {
  return [...stores].some((store) => existsSync(join(folder, 'data', store)));
}

/** Also true when the folder is reserved itself. @param folder - Absolute, real. */
export function holdsReserved(folder: string): boolean {
  const tested = comparable(folder) + sep;
  for (const { paths } of all) if (paths.some((reserved) => reserved.startsWith(tested))) return true;
  return false;
}

/** Longest first. */
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

/** One set per process, even when an extension has another copy of this package. */
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
/** OpenSSH keys by name, others by ending, and usual names of copies. */
const KEY =
  /(^(.*[_-])?(rsa|dsa|ecdsa|ed25519)(_sk)?|^id_(rsa|dsa|ecdsa|ed25519)[\s_-][^.]*|\.(pem|key|p8|p12|pfx|ppk|jks|keystore))([\s._-]*(bak|backup|old|orig|copy|save|swp|tmp|\([^()]*\)|\d))*$/;

function privateSegment(segments: readonly string[]): string | undefined {
  return segments.find((segment, index) => isPrivateName(segment, index < segments.length - 1 ? 'folder' : 'file'));
}

/**
 * As the most lenient file system compares: without letter case, Unicode forms, invisible characters, dots and blanks
 * at the end, text after a colon; and without the marks of editors' copies.
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
