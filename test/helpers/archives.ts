import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { Header } from 'tar';

/** One entry of an archive, also of one that nobody makes by accident. */
export interface PackedEntry {
  readonly path: string;
  readonly content?: string | Buffer;
  /** Permission bits. Default: 0644. */
  readonly mode?: number;
  /** Default: `File`. */
  readonly type?: 'File' | 'SymbolicLink' | 'Link' | 'CharacterDevice' | 'FIFO' | 'Directory';
  /** Of a link. */
  readonly leadsTo?: string;
  /** What the archive says, where that is not true. Default: the size of the content. */
  readonly toldSize?: number;
  /** In a zip, the name before the content, where it is not that of the list. */
  readonly localPath?: string;
  /** In a tar, records of a header before its own: `size` with `-1`. */
  readonly pax?: Readonly<Record<string, string>>;
}

export function tarGz(entries: readonly PackedEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content = '', mode = 0o644, type = 'File', leadsTo, toldSize, pax }) => {
    const bytes = Buffer.from(content);
    const header = new Header({
      ...{ path, mode, type, size: toldSize ?? bytes.length },
      ...(leadsTo === undefined ? {} : { linkpath: leadsTo }),
    });
    return [...(pax ? paxBlocks(pax) : []), ...blocksOf(header, bytes)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}

export function zip(entries: readonly PackedEntry[]): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let at = 0;
  for (const entry of entries) {
    const { content = '', leadsTo } = entry;
    const bytes = Buffer.from(leadsTo ?? content);
    const packed = deflateRawSync(bytes);
    const name = Buffer.from(entry.path);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(0x0800, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(entry.toldSize ?? bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const before = Buffer.from(entry.localPath ?? entry.path);
    const localFields = Buffer.from(fields);
    localFields.writeUInt16LE(before.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), localFields, before, packed]);
    list.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), fields, restOf(entry, at), name]));
    parts.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(list);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06'), end]);
}

// --- internal ---

const BLOCK = 512;
/** As Unix keeps them in the attributes of an entry. */
const TYPES = {
  File: 0o100000,
  SymbolicLink: 0o120000,
  Link: 0o100000,
  CharacterDevice: 0o020000,
  FIFO: 0o010000,
  Directory: 0o040000,
};

function blocksOf(header: Header, bytes: Buffer): readonly Buffer[] {
  const block = Buffer.alloc(BLOCK);
  header.encode(block, 0);
  return [block, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
}

/** `<length of the whole record> <key>=<value>` for each. */
function paxBlocks(records: Readonly<Record<string, string>>): readonly Buffer[] {
  const text = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    const digits = `${rest.length + `${rest.length + 9}`.length}`.length;
    return `${rest.length + digits}${rest}`;
  });
  const bytes = Buffer.from(text.join(''));
  return blocksOf(new Header({ path: 'PaxHeader/x', type: 'ExtendedHeader', size: bytes.length, mode: 0o644 }), bytes);
}

function restOf({ mode = 0o644, type = 'File' }: PackedEntry, at: number): Buffer {
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(((TYPES[type] | mode) << 16) >>> 0, 6);
  rest.writeUInt32LE(at, 10);
  return rest;
}
