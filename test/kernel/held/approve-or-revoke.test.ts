import fs, { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { approveExtension, heldExtension, holdExtensionFile, revokeExtension } from 'skill-registry/kernel';
import { afterEach, expect, it } from 'vitest';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { treeOf } from '../../helpers/tree-of.ts';
import { manifest } from '../boot/boot-extensions.ts';

const { renameSync, linkSync, unlinkSync } = fs;

afterEach(mend);

function mend(): void {
  Object.assign(fs, { renameSync, linkSync, unlinkSync });
  syncBuiltinESMExports();
}

/** From now on the file system refuses these calls. */
function refuse(calls: Partial<Pick<typeof fs, 'renameSync' | 'linkSync' | 'unlinkSync'>>): void {
  // At its first call rmSync takes the unlinkSync that is there then, for good.
  fs.rmSync(join(import.meta.dirname, 'missing'), { force: true });
  Object.assign(fs, calls);
  syncBuiltinESMExports();
}

function refused(): never {
  throw Object.assign(new Error('refused'), { code: 'EFBIG' });
}

/** An extension of which an agent has changed a file and written three. */
function waiting() {
  const root = tempFolder({
    'extensions/box/manifest.yaml': manifest('box', 'agent: {}'),
    'extensions/box/a.ts': 'old',
  });
  for (const path of ['a.ts', 'deep/b.ts', 'x.ts', 'z.ts'])
    holdExtensionFile(root, `box/${path}`, `new ${path}`, 'agent:builder');
  const live = () => treeOf(join(root, 'extensions'));
  const digest = () => heldExtension(root, 'box')?.digest ?? '';
  return { root, live, before: live(), digest };
}

it.each([
  ['with links', () => {}],
  ['without links', () => refuse({ linkSync: refused })],
])('an approval that fails leaves nothing of it in effect, says so, and can be repeated: %s', (_title, prepare) => {
  const { root, live, before, digest } = waiting();
  const seen = digest();
  prepare();
  refuse({ renameSync: (from, to) => (isAt(to, 'z.ts') ? refused() : renameSync(from, to)) });
  const failed = { code: 'WRITE_FAILED', message: expect.stringMatching(/EFBIG.*Nothing of it is in effect/) };
  expect(() => approveExtension(root, 'box', seen)).toThrow(expect.objectContaining(failed));
  expect([live(), digest()]).toEqual([before, seen]);
  mend();
  approveExtension(root, 'box', seen);
  expect(readFileSync(join(root, 'extensions/box/z.ts'), 'utf8')).toBe('new z.ts');
  expect(readdirSync(join(root, 'extensions/box'))).toEqual(['a.ts', 'deep', 'manifest.yaml', 'x.ts', 'z.ts']);
  expect(heldExtension(root, 'box')).toBeUndefined();
});

it.each(['revoke', 'approve'])('%s takes back an approval that was left in the middle', (how) => {
  const { root, live, before, digest } = waiting();
  const seen = digest();
  // As when the process ends at the third file: nothing is taken back by it.
  refuse({
    unlinkSync: refused,
    renameSync: (from, to) => (isAt(to, 'x.ts') || isAt(from, '.approving-') ? refused() : renameSync(from, to)),
  });
  const failed = { code: 'WRITE_FAILED', message: expect.stringContaining('part of it is in effect') };
  expect(() => approveExtension(root, 'box', seen)).toThrow(expect.objectContaining(failed));
  expect(readFileSync(join(root, 'extensions/box/a.ts'), 'utf8')).toBe('new a.ts');
  expect(existsSync(join(root, 'extensions/box/deep/b.ts'))).toBe(true);
  mend();
  // The agent goes on.
  holdExtensionFile(root, 'box/a.ts', 'newer', 'agent:builder');
  if (how === 'revoke') {
    expect(revokeExtension(root, 'box')).toBeUndefined();
    expect(heldExtension(root, 'box')).toBeUndefined();
  } else {
    const changed = expect.objectContaining({ code: 'EXTENSION_CHANGED' });
    expect(() => approveExtension(root, 'box', digest())).toThrow(changed);
    expect(heldExtension(root, 'box')?.files.map(({ changedSince }) => changedSince)).not.toContain(true);
  }
  expect(live()).toEqual(before);
});

it('takes back nothing that a person has written into an approval that was left in the middle', () => {
  const { root, digest } = waiting();
  refuse({
    unlinkSync: refused,
    renameSync: (from, to) => (isAt(to, 'x.ts') || isAt(from, '.approving-') ? refused() : renameSync(from, to)),
  });
  expect(() => approveExtension(root, 'box', digest())).toThrow(expect.objectContaining({ code: 'WRITE_FAILED' }));
  mend();
  const files = ['a.ts', 'deep/b.ts'].map((path) => join(root, 'extensions/box', path));
  for (const file of files) writeFileSync(file, 'by hand');
  revokeExtension(root, 'box');
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['by hand', 'by hand']);
});

it('keeps waiting what an agent writes while an approval is under way', () => {
  const { root, digest } = waiting();
  refuse({
    renameSync: (from, to) => {
      if (isAt(to, 'z.ts')) {
        mend();
        holdExtensionFile(root, 'box/a.ts', 'newer', 'agent:builder');
      }
      renameSync(from, to);
    },
  });
  approveExtension(root, 'box', digest());
  expect(readFileSync(join(root, 'extensions/box/a.ts'), 'utf8')).toBe('new a.ts');
  const [before, after] = [Buffer.from('new a.ts'), Buffer.from('newer')];
  expect(heldExtension(root, 'box')).toMatchObject({
    by: ['agent:builder'],
    files: [{ path: 'a.ts', before, after, changedSince: false }],
  });
});

/** In the extension's folder; the calls know folders by their descriptors. */
function isAt(path: unknown, name: string): boolean {
  return basename(String(path)).startsWith(name) && realpathSync(dirname(String(path))).endsWith('/extensions/box');
}
