import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { packTarGz, unpack } from '../../../lib/fetch/index.ts';

const FILES = [
  { path: 'scripts/run.sh', bytes: Buffer.from('echo\n'), executable: true },
  { path: 'SKILL.md', bytes: Buffer.from('---\nname: tea\n---\n'), executable: false },
  { path: `references/${'deep/'.repeat(40)}größe.md`, bytes: Buffer.alloc(200_000, 'x'), executable: false },
  { path: 'empty', bytes: Buffer.alloc(0), executable: false },
];

describe('packTarGz', () => {
  it('gives the same bytes everywhere, in whatever order the files come', () => {
    const packed = packTarGz(FILES);
    expect(packTarGz([...FILES].reverse()).equals(packed)).toBe(true);
    // Another digest here means that every machine fetches every archive again.
    expect(createHash('sha256').update(packed).digest('hex')).toBe(
      '379b74563d84a365e8e43624076a1d004f2d308007ba84a06789abdef947fd01',
    );
  });

  it('is read back as it was, with the paths that a plain header cannot hold', async () => {
    const archive = await unpack(packTarGz(FILES), 'it');
    const sorted = [...FILES].sort((a, b) => (a.path < b.path ? -1 : 1));
    expect(archive.entries).toEqual(
      sorted.map(({ path, bytes, executable }) => ({ path, size: bytes.length, kind: 'file', executable })),
    );
    const contents = await archive.read(sorted.map(({ path }) => path));
    expect(contents.map(String)).toEqual(sorted.map(({ bytes }) => String(bytes)));
  });
});
