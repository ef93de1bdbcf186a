import { createGunzip } from 'node:zlib';
import type { ReadEntry } from 'tar';
import type { Entry, ZipFile } from 'yauzl';
import { isCodedError } from '../errors/index.ts';
import { isPlainPath } from '../files/index.ts';
import { showName } from '../text/index.ts';
import { originRefused } from './errors.ts';

export interface ArchiveEntry {
  /** `/` between segments; not checked. */
  readonly path: string;
  /** Unpacked, in bytes. */
  readonly size: number;
  /** Folders are left out; anything else is refused. */
  readonly kind: 'file';
  readonly executable: boolean;
}

export interface Archive {
  readonly entries: readonly ArchiveEntry[];
  /** @returns contents in the order of `paths`; empty for a missing file. @throws ORIGIN_REFUSED. */
  read(paths: readonly string[]): Promise<readonly Buffer[]>;
}

/** A .tar.gz or zip, by its first bytes. @throws ORIGIN_REFUSED, also for a link, a device, a path that leads out. */
export async function unpack(bytes: Buffer, shown: string): Promise<Archive> {
  const visit = new Map([
    ['1f8b', visitTar],
    ['504b', visitZip],
  ]).get(bytes.toString('hex', 0, 2));
  if (!visit) throw originRefused(shown, 'it is neither a .tar.gz nor a .zip.');
  const entries: ArchiveEntry[] = [];
  let [size, visited] = [0, 0];
  // Checks names and sizes before any content is kept.
  await visit(bytes, shown, ({ kind, ...entry }) => {
    assertPlain(entry.path, kind, shown);
    // Folders take time, too.
    if (++visited > MAX_ENTRIES) throw originRefused(shown, `it has more than ${MAX_ENTRIES} entries.`);
    if (kind !== 'file') return undefined;
    if (!Number.isSafeInteger(entry.size) || entry.size < 0) throw originRefused(shown, 'it has a file of no size.');
    size += entry.size;
    entries.push({ ...entry, kind });
    if (size > MAX_TOTAL) throw tooLarge(shown);
    return undefined;
  });
  return {
    entries,
    async read(paths) {
      const contents = new Map<string, Buffer>();
      const wanted = new Set(paths);
      await visit(bytes, shown, ({ path, kind, size: told }) => {
        if (kind !== 'file' || !wanted.has(path)) return undefined;
        // A person could be shown one of the two entries and get the other.
        if (contents.has(path)) throw originRefused(shown, `${JSON.stringify(path)} is in it twice.`);
        return (content) => {
          if (content.length !== told)
            throw originRefused(shown, `${JSON.stringify(path)} has another size than it says.`);
          contents.set(path, content);
        };
      });
      return paths.map((path) => contents.get(path) ?? Buffer.alloc(0));
    },
  };
}

// --- internal ---

const MAX_ENTRIES = 50_000;
const MAX_TOTAL = 512 * 1024 * 1024;
/** Characters of all extended headers (long paths, times). */
const MAX_HEADERS = 8 * 1024 * 1024;

/** Called for each entry. Returns what takes its content; undefined skips it. May throw to stop. */
type Visit = (entry: VisitedEntry) => ((content: Buffer) => void) | undefined;

interface VisitedEntry extends Omit<ArchiveEntry, 'kind'> {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

function assertPlain(path: string, kind: VisitedEntry['kind'], shown: string): void {
  const what = quoted(path);
  if (kind === 'link') throw originRefused(shown, `${what} is a link, which may lead to any file.`);
  if (kind === 'other') throw originRefused(shown, `${what} is no file.`);
  const inner = kind === 'folder' ? path.replace(/\/+$/, '') : path;
  if (inner !== '' && inner !== '.' && !isPlainPath(inner)) throw originRefused(shown, `${what} is no path below it.`);
}

function quoted(path: string): string {
  return JSON.stringify(showName(path.slice(0, 200)));
}

function tooLarge(shown: string): Error {
  return originRefused(shown, `it has more than ${MAX_TOTAL} bytes, unpacked.`);
}

/** In chunks: unpacking stops as soon as the archive is refused. */
async function visitTar(bytes: Buffer, shown: string, visit: Visit): Promise<void> {
  // Loaded late: many modules import only the errors of this folder.
  const { Parser } = await import('tar');
  // The parser is synchronous: a throw in an event ends its `write`.
  const parser = new Parser({ strict: true, onReadEntry: (entry) => readTarEntry(entry, visit) });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('meta', limitHeaders(shown));
  // The parser ignores unknown kinds of entries; a file could be lost or get a short name.
  parser.on('ignoredEntry', ({ path, type }) => {
    throw originRefused(shown, `${quoted(path)} is of the kind ${type}.`);
  });
  let hasEnded = false;
  parser.on('eof', () => {
    hasEnded = true;
  });
  const unzipped = createGunzip();
  unzipped.end(bytes);
  let size = 0;
  try {
    for await (const chunk of unzipped as AsyncIterable<Buffer>) {
      // The parser would unpack a second compression in one step, without a limit.
      if (size === 0 && /^(1f8b|28b52ffd)/.test(chunk.toString('hex', 0, 4)))
        throw originRefused(shown, 'it is packed twice.');
      if (size === 0 && chunk.subarray(0, BLOCK).every((byte) => byte === 0))
        throw originRefused(shown, 'it begins with no header of a file, so it is no tar.');
      size += chunk.length;
      if (size > MAX_TOTAL) throw tooLarge(shown);
      // The parser keeps what follows the end, and copies it for each chunk.
      if (!hasEnded) parser.write(chunk);
    }
    parser.end();
  } catch (error) {
    throw asRefused(error, shown);
  }
}

/** Each extended header takes time. A size that is not a number would be ignored. */
function limitHeaders(shown: string): (text: string) => void {
  let [size, count] = [0, 0];
  return (text) => {
    size += text.length;
    if (++count > MAX_ENTRIES || size > MAX_HEADERS)
      throw originRefused(shown, 'its headers are too many or too long.');
    if (/^[^\n=]*\bsize=(?!\d{1,15}\n)/m.test(text))
      throw originRefused(shown, 'it gives a size that is no number of bytes.');
  };
}

const BLOCK = 512;
const KINDS: ReadonlyMap<string, VisitedEntry['kind']> = new Map([
  ['File', 'file'],
  ['OldFile', 'file'],
  ['ContiguousFile', 'file'],
  ['Directory', 'folder'],
  ['GNUDumpDir', 'folder'],
  ['SymbolicLink', 'link'],
  ['Link', 'link'],
]);

function readTarEntry(entry: ReadEntry, visit: Visit): void {
  const { type, size, mode = 0 } = entry;
  const path = entry.path.replace(/^(\.\/)+/, '');
  const take = visit({ path, size, kind: KINDS.get(type) ?? 'other', executable: (mode & 0o100) !== 0 });
  if (!take) return void entry.resume();
  const chunks: Buffer[] = [];
  entry.on('data', (chunk) => chunks.push(chunk));
  entry.on('end', () => take(Buffer.concat(chunks)));
}

async function visitZip(bytes: Buffer, shown: string, visit: Visit): Promise<void> {
  try {
    // yauzl refuses paths that lead out of the archive, and wrong sizes.
    const { fromBufferPromise } = await import('yauzl');
    const zip = await fromBufferPromise(bytes, { strictFileNames: true });
    for await (const entry of zip.eachEntry()) {
      await assertOneName(zip, entry, shown);
      await readZipEntry(zip, entry, visit);
    }
  } catch (error) {
    throw asRefused(error, shown);
  }
}

/** A zip has each name two or three times, and programs differ in which one they use. @throws ORIGIN_REFUSED. */
async function assertOneName(zip: ZipFile, entry: Entry, shown: string): Promise<void> {
  const { fileName: before } = await zip.readLocalFileHeaderPromise(entry);
  const listed = entry.fileNameRaw;
  const isPlain = listed.every((byte) => byte < 0x80);
  if (before.equals(listed) && (!isPlain || listed.toString('latin1') === entry.fileName)) return;
  const names = [before.toString('utf8'), entry.fileName].map(quoted).join(' and ');
  throw originRefused(shown, `one of its files has two names: ${names}.`);
}

const FILE_TYPE = 0o170000;
const TYPES: ReadonlyMap<number, VisitedEntry['kind']> = new Map([
  [0, 'file'],
  [0o100000, 'file'],
  [0o120000, 'link'],
]);

async function readZipEntry(zip: ZipFile, entry: Entry, visit: Visit): Promise<void> {
  // From Unix, the upper half is the mode.
  const mode = entry.externalFileAttributes >>> 16;
  const kind = entry.fileName.endsWith('/') ? 'folder' : (TYPES.get(mode & FILE_TYPE) ?? 'other');
  const size = entry.uncompressedSize;
  const take = visit({ path: entry.fileName, size, kind, executable: (mode & 0o100) !== 0 });
  if (!take) return;
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  take(Buffer.concat(chunks));
}

function asRefused(error: unknown, shown: string): unknown {
  if (isCodedError(error, 'ORIGIN_REFUSED')) return error;
  return originRefused(shown, `it is damaged (${(error as Error).message}).`);
}
