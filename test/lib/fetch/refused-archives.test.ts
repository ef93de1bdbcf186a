import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { unpack } from '../../../lib/fetch/index.ts';
import { tarGz, zip } from '../../helpers/archives.ts';

const MEBIBYTE = 1024 * 1024;
const ZEROS: Buffer = gzipSync(Buffer.alloc(MEBIBYTE));

/** Members of gzip one after the other are one file. */
function zeros(mebibytes: number): Buffer {
  return Buffer.concat(Array.from({ length: mebibytes }, () => ZEROS));
}

const refused = (why: RegExp): object => ({ code: 'ORIGIN_REFUSED', message: expect.stringMatching(why) });

describe('a tar', () => {
  it('is refused at its first block when that is no header, however much follows', async () => {
    await expect(unpack(zeros(200), 'it')).rejects.toMatchObject(refused(/begins with no header of a file/));
    await expect(unpack(gzipSync(Buffer.alloc(MEBIBYTE, 65)), 'it')).rejects.toMatchObject(refused(/is damaged/));
  });

  it('is read to its end, and what comes after the end is not kept', async () => {
    const { entries } = await unpack(Buffer.concat([tarGz([{ path: 'a', content: 'x' }]), zeros(48)]), 'it');
    expect(entries.map(({ path }) => path)).toEqual(['a']);
  });

  it('is refused when a header of it is longer than is read, which would be left out', async () => {
    const long = tarGz([{ path: 'a', content: 'x', pax: { path: 'b', comment: 'y'.repeat(MEBIBYTE) } }]);
    await expect(unpack(long, 'it')).rejects.toMatchObject(refused(/"PaxHeader\/x" is of the kind ExtendedHeader/));
  });

  it('is refused when its headers are too long together', async () => {
    const pax = { comment: 'y'.repeat(MEBIBYTE - 100) };
    const many = tarGz(Array.from({ length: 9 }, (_, at) => ({ path: `${at}`, pax })));
    await expect(unpack(many, 'it')).rejects.toMatchObject(refused(/headers are too many or too long/));
  });

  it.each(['-1', '-512', 'three', '1e0', '0x1', '1.5', ''])('is refused with a size of %j', async (size) => {
    const wrong = tarGz([{ path: 'a', content: 'x', pax: { size } }, { path: 'b' }]);
    await expect(unpack(wrong, 'it')).rejects.toMatchObject(refused(/a size that is no number of bytes/));
  });

  it('is read with the size and the path of its headers', async () => {
    const path = 'long/'.repeat(60);
    const { entries } = await unpack(tarGz([{ path: 'a', content: 'x', pax: { size: '1', path: `${path}a` } }]), 'it');
    expect(entries).toMatchObject([{ path: `${path}a`, size: 1 }]);
  });
});

describe('a zip', () => {
  it('is refused when a file of it has two names', async () => {
    const two = zip([{ path: 'tea/SKILL.md', content: 'Steep.', localPath: 'tea/OTHER.md' }]);
    await expect(unpack(two, 'it')).rejects.toMatchObject(refused(/two names: "tea\/OTHER.md" and "tea\/SKILL.md"/));
  });

  it('is read when a name of it is not English', async () => {
    const { entries } = await unpack(zip([{ path: 'té/ä.md', content: 'Steep.' }]), 'it');
    expect(entries.map(({ path }) => path)).toEqual(['té/ä.md']);
  });
});
