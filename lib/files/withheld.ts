import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { CodedError } from '../errors/index.ts';
import { invalidPath, resourceNotFound } from './errors.ts';

/**
 * Whether somebody's secrets or a tool's own files are called so: `.env`, `.env.*`, `.env-*` and `.envrc` (not `.env.example`,
 * `.env.sample`, `.env.template`), `.git`, `.ssh`, private keys (`id_ed25519`, `*.pem`, `*.key` ...) and copies of them
 * (`id_rsa.bak`, `tls.key (1)`). In any letter case, and in the spellings that some file system takes for the same.
 *
 * @param name - One segment of a path.
 * @param kind - A folder is not called a key.
 */
export function isPrivateName(name: string, kind: 'file' | 'folder' = 'file'): boolean {
  // Most are plain words, and tens of thousands are asked about.
  if (kind === 'folder' && /^[a-fh-zA-FH-Z0-9]/.test(name)) return false;
  const plain = plainName(name);
  if (FOLDERS.has(plain) || (ENV.test(plain) && !EXAMPLE.test(plain))) return true;
  return kind === 'file' && KEY.test(plain);
}

/** The same for any segment of a path. */
export function isPrivatePath(path: string): boolean {
  return privateSegment(path.split(/[\\/]/)) !== undefined;
}

/** What a process keeps others from as long as it uses it. */
export interface Reservation {
  /** @param paths - Absolute: folders with everything below, and files. Take the place of those given before. */
  keep(paths: readonly string[]): void;
  release(): void;
}

/**
 * Keeps files and folders out of reach for everything in this process that reads, lists or writes below a folder, unless it says
 * that they are its own. It holds for the whole process because of SQLite: its locks belong to the process, and whoever opens
 * and closes a database file by any other way gives up the locks of all.
 *
 * @param root - Absolute; what models are told is relative to it (`withoutPaths`).
 * @param store - Name of a folder that no `data/` has but that of a root, so that other roots are known by it from then on.
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
 * Whether a process keeps a path for itself, or it lies in `data/` of another root.
 *
 * @param path - Absolute, real.
 * @param base - What is read or searched as a whole, above the path: roots that it lies in do not count. Default: no other root
 *   counts.
 */
export function isReserved(path: string, base: string = path): boolean {
  // Asked for every folder of every source: no path is taken apart for it.
  const wanted = comparable(path) + sep;
  for (const { paths } of all) for (const one of paths) if (wanted.startsWith(one)) return true;
  for (let at = wanted.indexOf(DATA, comparable(base).length); at !== -1; at = wanted.indexOf(DATA, at + 1))
    if (isOtherRoot(wanted.slice(0, at))) return true;
  return false;
}

/** Whether somebody keeps something in the folder's `data/` (`reserve`). */
export function isOtherRoot(folder: string): boolean {
  return [...stores].some((store) => existsSync(join(folder, 'data', store)));
}

/** Whether something reserved lies in a folder, or is it. @param folder - Absolute, real. */
export function holdsReserved(folder: string): boolean {
  const wanted = comparable(folder) + sep;
  for (const { paths } of all) if (paths.some((one) => one.startsWith(wanted))) return true;
  return false;
}

/** Roots of what is reserved now, longest first. */
export function reservedRoots(): readonly string[] {
  return [...new Set([...all].map(({ root }) => root))].sort((a, b) => b.length - a.length);
}

/** @throws RESOURCE_NOT_FOUND for what is never read, told by its name alone: nobody learns whether it is there. */
export function assertReadable(segments: readonly string[], shown: string): void {
  const name = privateSegment(segments);
  if (name !== undefined) throw resourceNotFound(shown, `${name.slice(0, 60)} is never handed out`);
}

/** @throws INVALID_ARGUMENT for what no tool and no proposal writes. */
export function assertWritable(base: string, segments: readonly string[], own = false): void {
  const name = privateSegment(segments) ?? segments.find((segment) => plainName(segment) === 'node_modules');
  if (name !== undefined)
    throw invalidPath(`nothing is written to ${name.slice(0, 60)}, which belongs to a person or a tool`);
  if (!own && isReserved(join(base, ...segments), base))
    throw invalidPath('it leads to what the registry keeps for itself');
}

export function reservedPath(shown: string): CodedError {
  return resourceNotFound(shown, 'the registry keeps it for itself');
}

// --- internal ---

interface Reserved {
  readonly root: string;
  /** With a separator at the end. */
  paths: readonly string[];
}

/** One for the process, also where an extension brings a copy of this package. */
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
/** Of OpenSSH by name, of others by ending, and what copies of them are called. */
const KEY =
  /(^(.*[_-])?(rsa|dsa|ecdsa|ed25519)(_sk)?|^id_(rsa|dsa|ecdsa|ed25519)[\s_-][^.]*|\.(pem|key|p8|p12|pfx|ppk|jks|keystore))([\s._-]*(bak|backup|old|orig|copy|save|swp|tmp|\([^()]*\)|\d))*$/;

function privateSegment(segments: readonly string[]): string | undefined {
  return segments.find((segment, index) => isPrivateName(segment, index < segments.length - 1 ? 'folder' : 'file'));
}

/**
 * As the most lenient file system compares names: letter case and forms of Unicode do not count, nor characters that cannot be
 * seen, dots and blanks at the end, and what follows a colon. Copies that editors make are called the same.
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
