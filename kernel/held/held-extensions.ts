import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from '../../lib/errors/index.ts';
import {
  type FolderEntry,
  fileSegments,
  isTemporaryName,
  listContained,
  readContained,
  relativeSegments,
  removeContained,
  writeContained,
} from '../../lib/files/index.ts';
import { extensionProtected } from '../errors.ts';
import {
  assertAgentMayWrite,
  extensionsFolder,
  folderFor,
  heldFolder,
  heldFolderFor,
  isExtensionName,
  isKeptName,
} from './writable-extension.ts';

/** One file of an extension that an agent wrote and that waits. */
export interface HeldFile {
  /** Relative to the extension's folder. */
  readonly path: string;
  /** What is there now; null: nothing. */
  readonly before: Buffer | null;
  readonly after: Buffer;
  /** Somebody else has changed what is there since the agent wrote. */
  readonly changedSince: boolean;
}

/** What agents wrote below one folder of `extensions/` and nobody has approved. */
export interface HeldExtension {
  /** Name of the folder. */
  readonly name: string;
  /** Agents that wrote it, as `agent:<id>`. */
  readonly by: readonly string[];
  /** sha256, hex, of every difference: a yes is to these bytes and no others. */
  readonly digest: string;
  /** By path. */
  readonly files: readonly HeldFile[];
}

/*
 * What agents write below `extensions/` of a root lies in `data/.held/` until a person has seen it: nothing in `extensions/`
 * was ever written by an agent alone, so whoever loads, builds or tests what is there runs no such byte.
 *
 * Paths are relative to `extensions/`: `my_tool/main.ts`.
 */

/**
 * What waits of one file, for the agent that wrote it; others see what is there.
 *
 * @param path - undefined: no path of an extension.
 * @param by - `agent:<id>`.
 * @throws as `readContained`, but for what does not wait.
 */
export function readHeldFile(
  rootDir: string,
  path: string | undefined,
  by: string,
  maxBytes: number,
): Buffer | undefined {
  const base = heldFolder(rootDir);
  if (base === undefined || !path) return undefined;
  const [name = '', ...below] = fileSegments(path);
  if (below.length === 0 || readNote(base, name, below.join('/'))?.by !== by) return undefined;
  return readIfThere(base, `${name}/files/${below.join('/')}`, true, maxBytes) ?? undefined;
}

/** The same for the direct children of a folder; '' is `extensions/` itself. */
export function listHeldFiles(rootDir: string, path: string | undefined, by: string): readonly FolderEntry[] {
  const base = heldFolder(rootDir);
  if (base === undefined || path === undefined) return [];
  const [name, ...below] = path === '' || path === '.' ? [] : relativeSegments(path);
  const names = name === undefined ? namesOf(base) : [name];
  const entries = new Map<string, FolderEntry>();
  for (const one of names) {
    for (const file of filesBelow(base, `${one}/files`)) {
      if (readNote(base, one, file)?.by !== by) continue;
      const segments = name === undefined ? [one, ...file.split('/')] : file.split('/');
      if (below.some((segment, index) => segment !== segments[index])) continue;
      const [child, ...rest] = segments.slice(below.length);
      if (child === undefined) continue;
      const size = rest.length > 0 ? 0 : (readIfThere(base, `${one}/files/${file}`, true)?.length ?? 0);
      entries.set(child, { name: child, kind: rest.length > 0 ? 'directory' : 'file', size });
    }
  }
  return [...entries.values()];
}

/**
 * Keeps what an agent wrote until a person approves it.
 *
 * @param by - `agent:<id>`.
 * @returns whether the file is new.
 * @throws EXTENSION_PROTECTED, INVALID_ARGUMENT, PATH_TRAVERSAL, WRITE_FAILED.
 */
export function holdExtensionFile(
  rootDir: string,
  path: string,
  content: string,
  by: string,
): { readonly created: boolean } {
  const [name = '', ...below] = fileSegments(path);
  if (below.length === 0) throw extensionProtected(path, 'it has to lie in the folder of an extension');
  const live = folderFor(join(rootDir, 'extensions'));
  assertAgentMayWrite(rootDir, name, below);
  const file = below.join('/');
  const before = readIfThere(live, `${name}/${file}`, false);
  const base = heldFolderFor(rootDir);
  const isFirst = readIfThere(base, `${name}/files/${file}`, true) === null;
  const author = isFirst ? by : readNote(base, name, file)?.by;
  if (author !== by)
    throw extensionProtected(path, `${author ?? 'somebody'} wrote it, and a person has not decided yet`);
  if (isFirst) writeNote(base, name, file, { base: before && digestOf(before), by });
  writeContained(base, `${name}/files/${file}`, content, { own: true });
  if (before?.equals(Buffer.from(content))) drop(rootDir, name, file);
  return { created: isFirst && before === null };
}

/** Everything that waits, by name. What no agent can have written, such as a file that is too large, is left out: nobody can approve it. */
export function heldExtensions(rootDir: string): readonly HeldExtension[] {
  const base = heldFolder(rootDir);
  return base === undefined ? [] : namesOf(base).flatMap((name) => heldIfReadable(rootDir, name) ?? []);
}

/** What waits for one folder of `extensions/`. @throws as `readContained` for what cannot be read. */
export function heldExtension(rootDir: string, name: string): HeldExtension | undefined {
  const base = heldFolder(rootDir);
  const paths = base === undefined || !isExtensionName(name) ? [] : filesBelow(base, `${name}/files`);
  if (base === undefined || paths.length === 0) return undefined;
  const notes = paths.map((path) => readNote(base, name, path));
  const files = paths.map((path, index): HeldFile => {
    const before = readIfThere(extensionsFolder(rootDir), `${name}/${path}`, false);
    const after = readContained(base, `${name}/files/${path}`, MAX_BYTES, { own: true });
    const known = [notes[index]?.base ?? null, digestOf(after)];
    return { path, before, after, changedSince: !known.includes(before && digestOf(before)) };
  });
  const by = [...new Set(notes.map((note) => note?.by ?? 'unknown'))].sort();
  return { name, by, digest: digestOfChange(files), files };
}

/** What is known of a held file beside its bytes. */
export interface Note {
  /** sha256 of the file in `extensions/` when an agent first wrote; null: there was none. */
  readonly base: string | null;
  readonly by: string;
}

/** Forgets what waits of one file. */
export function drop(rootDir: string, name: string, path: string): void {
  const base = heldFolder(rootDir);
  if (base === undefined) return;
  removeContained(base, `${name}/files/${path}`, { own: true });
  if (readIfThere(base, `${name}/notes/${path}`, true)) removeContained(base, `${name}/notes/${path}`, { own: true });
}

/** @param own - It is what waits, in `data/`, which is out of reach for everybody else. */
export function readIfThere(
  base: string | undefined,
  path: string,
  own: boolean,
  maxBytes: number = MAX_BYTES,
): Buffer | null {
  if (base === undefined) return null;
  try {
    return readContained(base, path, maxBytes, { own });
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return null;
    throw error;
  }
}

export function readNote(base: string, name: string, path: string): Note | undefined {
  try {
    const text = readContained(base, `${name}/notes/${path}`, 10_000, { own: true }).toString('utf8');
    const { base: digest, by } = JSON.parse(text) as Note;
    return AUTHOR.test(by) && (digest === null || /^[0-9a-f]{64}$/.test(digest)) ? { base: digest, by } : undefined;
  } catch {
    // Then what is there counts as changed, and nobody's work is overwritten.
    return undefined;
  }
}

export function writeNote(base: string, name: string, path: string, note: Note): void {
  writeContained(base, `${name}/notes/${path}`, JSON.stringify(note), { own: true });
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

// --- internal ---

/** A root may come with notes that nobody here has written: a person reads this in a question. */
const AUTHOR = /^(agent:[\w.:@/-]{1,200}|unknown)$/;

/** Largest file that can wait. */
const MAX_BYTES = 16_777_216;

function heldIfReadable(rootDir: string, name: string): HeldExtension | undefined {
  try {
    return heldExtension(rootDir, name);
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

function namesOf(base: string): readonly string[] {
  return readdirSync(base).filter(isExtensionName).sort();
}

function listIfThere(base: string | undefined, path: string): readonly FolderEntry[] | undefined {
  if (base === undefined) return undefined;
  try {
    return listContained(base, path, { own: true });
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return undefined;
    throw error;
  }
}

/** Paths of all files below a folder, relative to it. */
function filesBelow(base: string, folder: string): readonly string[] {
  return (listIfThere(base, folder) ?? []).flatMap(({ name, kind }) => {
    if (isKeptName(name)) return [];
    if (kind === 'directory') return filesBelow(base, `${folder}/${name}`).map((path) => `${name}/${path}`);
    return kind === 'file' && !isTemporaryName(name) ? [name] : [];
  });
}

function digestOfChange(files: readonly HeldFile[]): string {
  const lines = files.map(({ path, before, after }) => `${before ? digestOf(before) : '-'} ${digestOf(after)} ${path}`);
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
