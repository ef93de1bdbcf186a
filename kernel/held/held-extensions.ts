import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CodedError, isCodedError, unlessCoded } from '../../lib/errors/index.ts';
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
import { isExtensionName } from '../boot/extension-folders.ts';
import { extensionHalfApproved, extensionProtected } from '../errors.ts';
import { heldFolder, isHalfApproved, makeFolder, makeHeldFolder } from './half-approved.ts';
import { assertAgentMayWrite, extensionsFolder, isApprovalBackupName } from './writable-extension.ts';

export interface HeldFile {
  /** Relative to the extension's folder. */
  readonly path: string;
  /** The current file in `extensions/`; null: none. */
  readonly before: Buffer | null;
  readonly after: Buffer;
  /** The current file has changed since the agent wrote. */
  readonly changedSince: boolean;
}

export interface HeldExtension {
  readonly name: string;
  /** Authors, as `agent:<id>`. */
  readonly by: readonly string[];
  /** sha256, hex, of all differences. An approval is valid only for these bytes. */
  readonly digest: string;
  readonly files: readonly HeldFile[];
}

/*
 * What agents write below `extensions/` waits in `data/.held/` for a person's approval. Then nothing in `extensions/`
 * is from an agent alone, and it is safe to load, build or test it. Paths are relative to it: `my_tool/main.ts`.
 */

/** Shown only to the agent that wrote it; others see the current file. @throws As `readContained`. */
export function readHeldFile(
  rootDir: string,
  path: string | undefined,
  by: string,
  maxBytes: number,
): Buffer | undefined {
  const base = heldFolder(rootDir);
  if (base === undefined || !path) return undefined;
  const [name = '', ...below] = fileSegments(path);
  if (below.length === 0 || readHeldRecord(base, name, below.join('/'))?.by !== by) return undefined;
  return readIfThere(base, `${name}/files/${below.join('/')}`, true, maxBytes) ?? undefined;
}

/** Shown only to the agent that wrote them. @param path - '' is `extensions/` itself. */
export function listHeldFiles(rootDir: string, path: string | undefined, by: string): readonly FolderEntry[] {
  const base = heldFolder(rootDir);
  if (base === undefined || path === undefined) return [];
  const [name, ...below] = path === '' || path === '.' ? [] : relativeSegments(path);
  const entries = new Map<string, FolderEntry>();
  for (const one of name === undefined ? namesOf(base) : [name]) {
    for (const file of filesBelow(base, `${one}/files`)) {
      if (readHeldRecord(base, one, file)?.by !== by) continue;
      const segments = name === undefined ? [one, ...file.split('/')] : file.split('/');
      const [child, ...rest] = segments.slice(below.length);
      if (child === undefined || below.some((segment, index) => segment !== segments[index])) continue;
      const size = rest.length > 0 ? 0 : (readIfThere(base, `${one}/files/${file}`, true)?.length ?? 0);
      entries.set(child, { name: child, kind: rest.length > 0 ? 'directory' : 'file', size });
    }
  }
  return [...entries.values()];
}

/** @param by - `agent:<id>`. @throws EXTENSION_PROTECTED, INVALID_ARGUMENT, PATH_TRAVERSAL, WRITE_FAILED. */
export function holdExtensionFile(
  rootDir: string,
  path: string,
  content: string,
  by: string,
): { readonly created: boolean } {
  const [name = '', ...below] = fileSegments(path);
  if (below.length === 0) throw extensionProtected(path, 'a file must be in the folder of an extension');
  const activeFolder = makeFolder(join(rootDir, 'extensions'));
  assertAgentMayWrite(rootDir, name, below);
  const file = below.join('/');
  const before = readIfThere(activeFolder, `${name}/${file}`, false);
  const base = makeHeldFolder(rootDir);
  const isFirst = readIfThere(base, `${name}/files/${file}`, true) === null;
  const author = isFirst ? by : readHeldRecord(base, name, file)?.by;
  if (author !== by)
    throw extensionProtected(path, `${author ?? 'somebody'} wrote it, and a person has not decided yet`);
  if (isFirst) writeHeldRecord(base, name, file, { base: before && hexDigestOf(before), by });
  writeContained(base, `${name}/files/${file}`, content, { own: true });
  // An interrupted approval may have replaced the current file, and undoing it needs the held one.
  if (before?.equals(Buffer.from(content)) && !isHalfApproved(rootDir, name)) removeHeldFile(rootDir, name, file);
  return { created: isFirst && before === null };
}

/** Held code that cannot be shown, such as a file that is too large. */
export interface UnreadableHeld {
  readonly name: string;
  /** Its approval was interrupted. */
  readonly isHalf: boolean;
  readonly message: string;
}

/** Sorted by name. */
export function allHeld(rootDir: string): {
  readonly held: readonly HeldExtension[];
  readonly unreadable: readonly UnreadableHeld[];
} {
  const base = heldFolder(rootDir);
  const held: HeldExtension[] = [];
  const unreadable: UnreadableHeld[] = [];
  for (const name of base === undefined ? [] : namesOf(base)) {
    try {
      const found = heldExtension(rootDir, name);
      if (found) held.push(found);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      unreadable.push(unreadableHeld(name, error));
    }
  }
  return { held, unreadable };
}

export function heldExtensions(rootDir: string): readonly HeldExtension[] {
  return allHeld(rootDir).held;
}

/** Leaves out files that equal the current ones. @throws EXTENSION_HALF_APPROVED, and as `readContained`. */
export function heldExtension(rootDir: string, name: string): HeldExtension | undefined {
  if (isHalfApproved(rootDir, name)) throw extensionHalfApproved(name);
  const files = heldFiles(rootDir, name).filter(({ before, after }) => !before?.equals(after));
  if (files.length === 0) return undefined;
  const by = [...new Set(files.map((file) => file.by))].sort();
  const digest = digestOfChange(files.map(replacementOf));
  return { name, by, digest, files };
}

/** Also files that equal the current ones. @throws As `readContained`. */
export function heldFiles(rootDir: string, name: string): readonly (HeldFile & { readonly by: string })[] {
  const base = heldFolder(rootDir);
  if (base === undefined || !isExtensionName(name)) return [];
  return filesBelow(base, `${name}/files`).map((path) => {
    const before = readIfThere(extensionsFolder(rootDir), `${name}/${path}`, false);
    const after = readContained(base, `${name}/files/${path}`, MAX_BYTES, { own: true });
    const record = readHeldRecord(base, name, path);
    const expected = [record?.base ?? null, hexDigestOf(after)];
    const changedSince = !expected.includes(before && hexDigestOf(before));
    return { path, before, after, changedSince, by: record?.by ?? 'unknown' };
  });
}

/** Digests before and after an approval; null: no file. */
export interface Replacement {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

export function replacementOf({ path, before, after }: HeldFile): Replacement {
  return { path, before: before && hexDigestOf(before), after: hexDigestOf(after) };
}

/** What a person approves: for every file, what replaces what. */
export function digestOfChange(files: readonly Replacement[]): string {
  const lines = files.map(({ path, before, after }) => `${before ?? '-'} ${after} ${path}`);
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

interface HeldRecord {
  /** sha256 of the current file when an agent first wrote; null: none. */
  readonly base: string | null;
  readonly by: string;
}

export function removeHeldFile(rootDir: string, name: string, path: string): void {
  const base = heldFolder(rootDir);
  if (base === undefined) return;
  removeContained(base, `${name}/files/${path}`, { own: true });
  if (readIfThere(base, `${name}/notes/${path}`, true)) removeContained(base, `${name}/notes/${path}`, { own: true });
}

/** Null when the file does not exist. @param own - It is below `data/.held/`: see `OpenOptions` of lib/files. */
export function readIfThere(
  base: string | undefined,
  path: string,
  own: boolean,
  maxBytes: number = MAX_BYTES,
): Buffer | null {
  if (base === undefined) return null;
  return unlessCoded(() => readContained(base, path, maxBytes, { own }), null, 'RESOURCE_NOT_FOUND');
}

export function readHeldRecord(base: string, name: string, path: string): HeldRecord | undefined {
  try {
    const text = readContained(base, `${name}/notes/${path}`, 10_000, { own: true }).toString('utf8');
    const { base: digest, by } = JSON.parse(text) as HeldRecord;
    return AUTHOR.test(by) && (digest === null || /^[0-9a-f]{64}$/.test(digest)) ? { base: digest, by } : undefined;
  } catch {
    // Then the current file counts as changed, and nothing is overwritten.
    return undefined;
  }
}

export function writeHeldRecord(base: string, name: string, path: string, note: HeldRecord): void {
  writeContained(base, `${name}/notes/${path}`, JSON.stringify(note), { own: true });
}

export function hexDigestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

// --- internal ---

/** The note may have come with the root, and its author is shown in the question to a person. */
const AUTHOR = /^(agent:[\w.:@/-]{1,200}|unknown)$/;

const MAX_BYTES = 16_777_216;

function namesOf(base: string): readonly string[] {
  return readdirSync(base).filter(isExtensionName).sort();
}

function filesBelow(base: string, folder: string): readonly string[] {
  return entriesIfThere(base, folder).flatMap(({ name, kind }) => {
    if (isApprovalBackupName(name)) return [];
    if (kind === 'directory') return filesBelow(base, `${folder}/${name}`).map((path) => `${name}/${path}`);
    return kind === 'file' && !isTemporaryName(name) ? [name] : [];
  });
}

function entriesIfThere(base: string, folder: string): readonly FolderEntry[] {
  return unlessCoded(() => listContained(base, folder, { own: true }), [], 'RESOURCE_NOT_FOUND');
}

function unreadableHeld(name: string, { code, message }: CodedError): UnreadableHeld {
  if (code === 'EXTENSION_HALF_APPROVED') return { name, isHalf: true, message };
  const what = `What waits for extensions/${name} cannot be read, so it cannot be approved and has no effect`;
  const advice = `To remove it: skill-registry approvals revoke extensions/${name}.`;
  return { name, isHalf: false, message: `${what}: ${message.replace(/\.$/, '')}. ${advice}` };
}
