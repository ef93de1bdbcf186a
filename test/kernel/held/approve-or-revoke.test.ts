import { createHash } from 'node:crypto';
import fs, { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import {
  approveExtension,
  heldExtension,
  heldExtensions,
  holdExtensionFile,
  listedExtensions,
  revokeExtension,
} from '../../../kernel/host.ts';
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

function refused(code: unknown = 'EFBIG'): never {
  throw Object.assign(new Error('refused'), { code });
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
  ['without links', () => refuse({ linkSync: () => refused('EPERM') })],
])('an approval that fails leaves nothing of it in effect, says so, and can be repeated: %s', (_title, prepare) => {
  const { root, live, before, digest } = waiting();
  const seen = digest();
  prepare();
  refuse({ renameSync: (from, to) => (isAt(to, 'z.ts') ? refused() : renameSync(from, to)) });
  const failed = { code: 'WRITE_FAILED', message: expect.stringMatching(/EFBIG.*Nothing of it is in effect/) };
  expect(() => approveExtension({ dir: root, trusted: true }, 'box', seen)).toThrow(expect.objectContaining(failed));
  expect([live(), digest()]).toEqual([before, seen]);
  mend();
  approveExtension({ dir: root, trusted: true }, 'box', seen);
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
  const failed = { code: 'WRITE_FAILED', message: expect.stringContaining('nothing of it is loaded') };
  expect(() => approveExtension({ dir: root, trusted: true }, 'box', seen)).toThrow(expect.objectContaining(failed));
  expect(readFileSync(join(root, 'extensions/box/a.ts'), 'utf8')).toBe('new a.ts');
  expect(existsSync(join(root, 'extensions/box/deep/b.ts'))).toBe(true);
  mend();
  // The agent goes on.
  holdExtensionFile(root, 'box/a.ts', 'newer', 'agent:builder');
  if (how === 'revoke') {
    expect(revokeExtension({ dir: root, trusted: true }, 'box')).toBeUndefined();
    expect(heldExtension(root, 'box')).toBeUndefined();
  } else {
    const changed = expect.objectContaining({ code: 'EXTENSION_CHANGED' });
    expect(() => approveExtension({ dir: root, trusted: true }, 'box', seen)).toThrow(changed);
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
  expect(() => approveExtension({ dir: root, trusted: true }, 'box', digest())).toThrow(
    expect.objectContaining({ code: 'WRITE_FAILED' }),
  );
  mend();
  const files = ['a.ts', 'deep/b.ts'].map((path) => join(root, 'extensions/box', path));
  for (const file of files) writeFileSync(file, 'by hand');
  const revoke = () => revokeExtension({ dir: root, trusted: true }, 'box');
  // Nothing tells whether the person still wants the text from before.
  expect(revoke).toThrow(/a\.ts was changed while it was approved/);
  const box = readdirSync(join(root, 'extensions/box'));
  unlinkSync(join(root, 'extensions/box', box.find((name) => name.startsWith('.approving-')) ?? ''));
  revoke();
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
  approveExtension({ dir: root, trusted: true }, 'box', digest());
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

it('is not kept from saving what it replaces by a file of that name', () => {
  const { root, digest } = waiting();
  const kept = `.approving-${sha256('a.ts').slice(0, 16)}`;
  for (const path of [kept, `${kept}/x.ts`, 'deep/.Approving-x'])
    expect(() => holdExtensionFile(root, `box/${path}`, 'evil', 'agent:builder')).toThrow(
      expect.objectContaining({ code: 'EXTENSION_PROTECTED' }),
    );
  // One that an earlier approval has left, or that came with the root.
  for (const folder of ['extensions/box', 'data/.held/box/files']) writeFileSync(join(root, folder, kept), 'evil');
  const seen = digest();
  refuse({
    renameSync: (from, to) => (isAt(to, 'z.ts') || isAt(from, '.approving-') ? refused() : renameSync(from, to)),
  });
  expect(() => approveExtension({ dir: root, trusted: true }, 'box', seen)).toThrow(
    expect.objectContaining({ code: 'WRITE_FAILED' }),
  );
  mend();
  expect(revokeExtension({ dir: root, trusted: true }, 'box')).toBeUndefined();
  expect(readFileSync(join(root, 'extensions/box/a.ts'), 'utf8')).toBe('old');
  expect(readdirSync(join(root, 'extensions/box'))).not.toContain(kept);
});

it('writes over nothing that could not be kept for another reason than that there are no links', () => {
  const { root, live, before, digest } = waiting();
  const seen = digest();
  refuse({ linkSync: () => refused('EEXIST') });
  expect(() => approveExtension({ dir: root, trusted: true }, 'box', seen)).toThrow(
    expect.objectContaining({ code: 'WRITE_FAILED' }),
  );
  expect(live()).toEqual(before);
});

it('a mark that came with the root takes nothing that does not wait', () => {
  const root = tempFolder({
    'extensions/box/manifest.yaml': manifest('box', 'agent: {}'),
    'extensions/box/notes.txt': 'precious',
    'data/.held/box/files/b.ts': 'b',
    'data/.held/box/notes/b.ts': '{ "base": null, "by": "agent:x" }',
    'data/.held/box/approving': JSON.stringify([{ path: 'notes.txt', before: null, after: sha256('precious') }]),
  });
  const revoke = () => revokeExtension({ dir: root, trusted: true }, 'box');
  expect(revoke).toThrow(
    /notes\.txt does not wait any more\. Remove extensions\/box\/notes\.txt.*remove data\/\.held\/box\/approving/s,
  );
  expect(readFileSync(join(root, 'extensions/box/notes.txt'), 'utf8')).toBe('precious');
  unlinkSync(join(root, 'data/.held/box/approving'));
  expect(revoke()).toBeUndefined();
  expect(readFileSync(join(root, 'extensions/box/notes.txt'), 'utf8')).toBe('precious');
});

it.each([
  ['too large', 'big', Buffer.alloc(16_777_217)],
  ['too deep', `${'d/'.repeat(80)}f`, 'x'],
])('what waits and is %s is reported, cannot be approved, and can be thrown away', async (_title, path, content) => {
  const { root } = waiting();
  mkdirSync(dirname(join(root, 'data/.held/other/files', path)), { recursive: true });
  writeFileSync(join(root, 'data/.held/other/files', path), content);
  expect(heldExtensions(root).map(({ name }) => name)).toEqual(['box']);
  const unreadable = {
    code: 'EXTENSION_HELD_UNREADABLE',
    message: expect.stringContaining('skill-registry approvals revoke extensions/other'),
  };
  const held = expect.objectContaining({ code: 'EXTENSION_HELD' });
  expect((await listedExtensions(root, true)).problems).toEqual([held, expect.objectContaining(unreadable)]);
  const kernel = await boot({ root });
  onTestFinished(() => kernel.shutdown());
  expect(kernel.problems().map(({ code }) => code)).toEqual(['EXTENSION_HELD', 'EXTENSION_HELD_UNREADABLE']);
  expect(revokeExtension({ dir: root, trusted: true }, 'other')).toBeUndefined();
  expect(existsSync(join(root, 'data/.held/other'))).toBe(false);
  expect((await listedExtensions(root, true)).problems).toEqual([held]);
});

it.each(['agent:x\n\u001b[2J fake', 'person:me', '', null, 'agent:a b'])('a note by %j names nobody', (by) => {
  const root = tempFolder({
    'data/.held/box/files/b.ts': 'b',
    'data/.held/box/notes/b.ts': JSON.stringify({ base: null, by }),
  });
  expect(heldExtension(root, 'box')?.by).toEqual(['unknown']);
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
