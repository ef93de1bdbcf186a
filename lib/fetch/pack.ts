import { createRequire } from 'node:module';
import { crc32 } from 'node:zlib';
import type * as Tar from 'tar';

export interface PackedFile {
  /** Relative, `/` between segments. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/**
 * The same files give the same bytes everywhere: sorted, modes 644 and 755, owner and times 0, and not compressed,
 * because the output of zlib depends on its version. Paths must differ.
 */
export function packTarGz(files: readonly PackedFile[]): Buffer {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = sorted.flatMap((file) => {
    const padding = (BLOCK - (file.bytes.length % BLOCK)) % BLOCK;
    return [...headersOf(file), file.bytes, Buffer.alloc(padding)];
  });
  return storedGzip(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}

// --- internal ---

const BLOCK = 512;
const EPOCH = new Date(0);

/** An extended header comes first when the path is too long or not ASCII. */
function headersOf({ path, bytes, executable }: PackedFile): readonly Buffer[] {
  const { Header, Pax } = createRequire(import.meta.url)('tar') as typeof Tar;
  const size = bytes.length;
  const owner = { uid: 0, gid: 0, uname: '', gname: '' };
  const header = new Header({ path, mode: executable ? 0o755 : 0o644, size, mtime: EPOCH, type: 'File', ...owner });
  const block = Buffer.alloc(BLOCK);
  header.encode(block);
  return header.needPax ? [new Pax({ path, mtime: EPOCH, size }).encode(), block] : [block];
}

/** The length of a stored deflate block has 16 bits. */
const MAX_STORED = 0xffff;
/** No flags, time 0, no compression hint, unknown system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

function storedGzip(bytes: Buffer): Buffer {
  const parts: Buffer[] = [GZIP_HEADER];
  for (let at = 0; at < bytes.length; at += MAX_STORED) {
    const part = bytes.subarray(at, at + MAX_STORED);
    const head = Buffer.alloc(5);
    head.writeUInt8(at + MAX_STORED >= bytes.length ? 1 : 0, 0);
    head.writeUInt16LE(part.length, 1);
    head.writeUInt16LE(part.length ^ MAX_STORED, 3);
    parts.push(head, part);
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc32(bytes), 0);
  tail.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([...parts, tail]);
}
