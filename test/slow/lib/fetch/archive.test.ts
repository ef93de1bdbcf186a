import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { unpack } from '../../../../lib/fetch/index.ts';
import { type PackedEntry, tarGz, zip } from '../../../helpers/archives.ts';

const FORMATS: readonly (readonly [string, (entries: readonly PackedEntry[]) => Buffer])[] = [
  ['.tar.gz', tarGz],
  ['.zip', zip],
];

describe.each(FORMATS)('%s', (_name, pack) => {
  it('lists what is in it and reads what is asked for, in the order that was asked', async () => {
    const { entries, read } = await unpack(
      pack([
        { path: 'tea/SKILL.md', content: 'Steep.' },
        { path: 'tea/run.sh', content: 'echo', mode: 0o755 },
        { path: 'tea/more/', type: 'Directory' },
      ]),
      'it',
    );
    expect(entries.map(({ path, kind, executable }) => [path, kind, executable])).toEqual([
      ['tea/SKILL.md', 'file', false],
      ['tea/run.sh', 'file', true],
    ]);
    expect((await read(['tea/run.sh', 'tea/SKILL.md', 'none'])).map(String)).toEqual(['echo', 'Steep.', '']);
  });

  it('refuses a file that comes twice, as one of the two would be shown and the other be used', async () => {
    const { read } = await unpack(
      pack([
        { path: 'a', content: '1' },
        { path: 'a', content: '2' },
      ]),
      'it',
    );
    await expect(read(['a'])).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
  });

  it('refuses what says it becomes more than 512 MiB, before it is unpacked', async () => {
    const bomb = pack([{ path: 'a', content: 'a', toldSize: 513 * 1024 * 1024 }]);
    await expect(unpack(bomb, 'it')).rejects.toMatchObject({
      code: 'ORIGIN_REFUSED',
      message: expect.stringMatching(/more than 536870912/),
    });
  });

  it('refuses an archive that is cut off', async () => {
    const whole = pack([
      { path: 'a', content: 'a'.repeat(10_000) },
      { path: 'b', content: 'b' },
    ]);
    await expect(unpack(whole.subarray(0, whole.length - 20), 'it')).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
  });
});

it('refuses more than 50,000 entries', async () => {
  const [header, end] = [gunzipSync(tarGz([{ path: 'a' }])).subarray(0, 512), Buffer.alloc(1024)];
  const many = gzipSync(Buffer.concat([...Array.from({ length: 50_001 }, () => header), end]), { level: 1 });
  await expect(unpack(many, 'it')).rejects.toMatchObject({ message: expect.stringMatching(/more than 50000 entries/) });
});

it('refuses more than 50,000 folders', async () => {
  const [header, end] = [gunzipSync(tarGz([{ path: 'a/', type: 'Directory' }])).subarray(0, 512), Buffer.alloc(1024)];
  const many = gzipSync(Buffer.concat([Buffer.alloc(512 * 50_001, header), end]), { level: 1 });
  await expect(unpack(many, 'it')).rejects.toMatchObject({ message: expect.stringMatching(/more than 50000 entries/) });
});

it('refuses more than 512 MiB as they come, also where no file is', async () => {
  const mebibyte = gzipSync(Buffer.alloc(1024 * 1024));
  const long = Buffer.concat([tarGz([{ path: 'a' }]), ...Array.from({ length: 513 }, () => mebibyte)]);
  await expect(unpack(long, 'it')).rejects.toMatchObject({ message: expect.stringMatching(/more than 536870912/) });
});

it('refuses a file of another size than its archive says', async () => {
  const { read } = await unpack(zip([{ path: 'a', content: 'a'.repeat(1_000), toldSize: 10 }]), 'it');
  await expect(read(['a'])).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
});

it('refuses what is packed twice, which would be unpacked at once', async () => {
  const twice = gzipSync(tarGz([{ path: 'a', content: 'a' }]));
  await expect(unpack(twice, 'it')).rejects.toMatchObject({ message: expect.stringMatching(/packed twice/) });
});

it('refuses what is no archive', async () => {
  await expect(unpack(Buffer.from('hello'), 'it')).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: 'it is refused: it is neither a .tar.gz nor a .zip.',
  });
});
