import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openTrust, type Trust, userCacheDirectory, userStateDirectory } from '../../../lib/trust/index.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

interface Opened {
  readonly trust: Trust;
  /** The state directory. */
  readonly directory: string;
  readonly root: string;
}

function opened(): Opened {
  const directory = join(tempFolder(), 'state');
  return { trust: openTrust(directory), directory, root: tempFolder({ 'a.txt': '' }) };
}

const allow = ({ trust, root }: Opened): void =>
  trust.decide({ action: 'allow', kind: 'root', path: root, by: 'person:ada' });

it('allows nothing until somebody has decided, and the last decision counts', () => {
  const place = opened();
  const { trust, root } = place;
  expect(trust.allows('root', root)).toBe(false);
  allow(place);
  expect(trust.allows('root', root)).toBe(true);
  trust.decide({ action: 'revoke', kind: 'root', path: root, by: 'person:ada' });
  expect(trust.allows('root', root)).toBe(false);
  expect(trust.decisions()).toMatchObject([{ action: 'revoke', path: root, by: 'person:ada' }]);
});

it('goes by real path, so that neither a link nor a parent nor a child is approved with it', () => {
  const place = opened();
  const { trust, root } = place;
  const elsewhere = tempFolder({ link: { link: root } });
  allow(place);
  expect(trust.allows('root', join(elsewhere, 'link'))).toBe(true);
  expect(trust.allows('root', join(root, '..'))).toBe(false);
  expect(trust.allows('root', join(root, 'a.txt'))).toBe(false);
  rmSync(root, { recursive: true });
  expect(trust.allows('root', root)).toBe(false);
});

it('keeps the file for this user alone', () => {
  const place = opened();
  allow(place);
  expect(lstatSync(place.trust.file).mode & 0o777).toBe(0o600);
  expect(lstatSync(place.directory).mode & 0o777).toBe(0o700);
});

it.each<[string, (place: Opened) => void]>([
  [
    'a link',
    ({ trust }) => {
      renameSync(trust.file, `${trust.file}.real`);
      symlinkSync(`${trust.file}.real`, trust.file);
    },
  ],
  ['writable by its group', ({ trust }) => chmodSync(trust.file, 0o620)],
  ['writable by everybody', ({ trust }) => chmodSync(trust.file, 0o602)],
  ['in a folder others can write', ({ directory }) => chmodSync(directory, 0o777)],
])('approves nothing when it is %s, says so, and records nothing', (_title, spoil) => {
  const place = opened();
  allow(place);
  spoil(place);
  const { trust, root } = place;
  expect(trust.allows('root', root)).toBe(false);
  expect(trust.trouble()).toBeTruthy();
  const before = readFileSync(trust.file, 'utf8');
  expect(() => allow(place)).toThrow(expect.objectContaining({ code: 'TRUST_UNUSABLE' }));
  expect(readFileSync(trust.file, 'utf8')).toBe(before);
});

it.skipIf(process.getuid?.() !== 0)('approves nothing when it belongs to another user (needs root to try)', () => {
  const place = opened();
  allow(place);
  chownSync(place.trust.file, 65_534, 65_534);
  expect(place.trust.allows('root', place.root)).toBe(false);
  expect(place.trust.trouble()).toContain('another user');
});

it('passes over a line that a crash has cut off, and goes on behind it', () => {
  const place = opened();
  allow(place);
  appendFileSync(place.trust.file, '{"action":"revoke","kind":"root","pa');
  expect(place.trust.allows('root', place.root)).toBe(true);
  place.trust.decide({ action: 'revoke', kind: 'root', path: place.root, by: 'person:ada' });
  expect(place.trust.allows('root', place.root)).toBe(false);
});

it.each([
  ['root', /^The decision cannot be recorded in .*trust\.jsonl: ENOTDIR.* it has no effect\. Or give --trust/],
  ['source', /^The decision cannot be recorded in .* and decide again: it has no effect\.$/],
  // The extension is in its place by then.
  ['extension', /^It is done, but who did it cannot be recorded in .*trust\.jsonl: ENOTDIR/],
] as const)(
  'says that it cannot record a decision about a %s where no folder can be made, and what that means',
  (kind, message) => {
    const file = join(tempFolder({ file: '' }), 'file', 'state');
    const decision = { action: 'allow', path: '/', by: 'person:ada' } as const;
    const decide = (): void =>
      openTrust(file).decide(kind === 'extension' ? { ...decision, kind, digest: null } : { ...decision, kind });
    expect(decide).toThrow(
      expect.objectContaining({ code: 'TRUST_UNUSABLE', message: expect.stringMatching(message) }),
    );
  },
);

it('loses no decision of several processes', async () => {
  const { trust, directory } = opened();
  const module = join(import.meta.dirname, '../../../lib/trust/index.ts');
  const script = `
    const { openTrust } = await import(${JSON.stringify(module)});
    const trust = openTrust(${JSON.stringify(directory)});
    for (let i = 0; i < 40; i++) trust.decide({ action: 'allow', kind: 'root', path: '/' + process.argv[1] + i, by: 'person:ada' });`;
  const run = (name: string) =>
    new Promise((resolve) => {
      const args = ['--import', 'tsx', '--input-type=module', '-e', script, name];
      spawn(process.execPath, args, { stdio: 'inherit' }).on('close', resolve);
    });
  expect(await Promise.all(['a', 'b', 'c'].map(run))).toEqual([0, 0, 0]);
  expect(trust.decisions()).toHaveLength(120);
});

it('finds the directories of the user by XDG, and takes no relative path for one', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('XDG_STATE_HOME', '/x').stubEnv('XDG_CACHE_HOME', '/y');
  expect(userStateDirectory()).toBe('/x/skill-registry');
  expect(userCacheDirectory()).toBe('/y/skill-registry');
  vi.stubEnv('XDG_STATE_HOME', 'data').stubEnv('XDG_CACHE_HOME', undefined);
  expect(userStateDirectory()).toMatch(/\.local\/state\/skill-registry$/);
  expect(userCacheDirectory()).toMatch(/\.cache\/skill-registry$/);
});
