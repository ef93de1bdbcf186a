import { createHash } from 'node:crypto';
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import type { InternalBootOptions } from '../../../../kernel/boot/kernel-state.ts';
import {
  approveExtension,
  heldExtension,
  holdExtensionFile,
  revokeExtension,
  undoApprovals,
} from '../../../../kernel/host.ts';
import { isTemporaryName } from '../../../../lib/files/index.ts';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import {
  approveAndDie,
  approvedByCode,
  extension,
  versionsLoaded,
  waitingCode,
} from '../../../helpers/half-approved.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

/** Without what a killed process may leave for an hour. */
function filesIn(root: string): Readonly<Record<string, string>> {
  const all = Object.entries(treeOf(join(root, 'extensions')));
  return Object.fromEntries(all.filter(([path]) => !isTemporaryName(basename(path))));
}

/** Killed when two of three files are replaced. */
async function halfApproved() {
  const code = waitingCode();
  const before = filesIn(code.root);
  expect(await approveAndDie(code, 1, 'main.ts')).toMatchObject({ status: null });
  expect(readFileSync(join(code.root, 'extensions/box/a.ts'), 'utf8')).toContain('new');
  expect(readFileSync(join(code.root, 'extensions/box/main.ts'), 'utf8')).toContain('old');
  return { ...code, before, live: () => filesIn(code.root) };
}

it('says of an approval that was killed halfway what it is, loads nothing of it, and changes nothing by looking', async () => {
  const { root, live } = await halfApproved();
  const found = [live(), treeOf(join(root, 'data/.held'))];
  const HALF = /EXTENSION_HALF_APPROVED|approval of extensions\/box was interrupted/;
  for (const trust of [true, false]) {
    const doctor = await runCommand(['doctor', '--root', root], { trust });
    expect(doctor).toMatchObject({ status: 1, stdout: expect.stringMatching(HALF) });
    expect(doctor.stdout).not.toContain('has no effect yet');
    const list = await runCommand(['extensions', 'list', '--root', root], { trust });
    expect(list).toMatchObject({ status: 1, stderr: expect.stringMatching(HALF) });
    expect(await runCommand(['extensions', 'show', 'box', '--root', root], { trust })).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(HALF),
    });
  }
  expect(await versionsLoaded(root, false)).toEqual([]);
  expect([live(), treeOf(join(root, 'data/.held'))]).toEqual(found);
});

it('undoes at the next start what was killed halfway, and still waits', async () => {
  const { root, digest, before, live } = await halfApproved();
  expect(await versionsLoaded(root)).toEqual(['old']);
  expect([live(), heldExtension(root, 'box')?.digest]).toEqual([before, digest]);
});

it('undoes nothing where nobody has approved the root, and says what to do', async () => {
  const { root, digest, live } = await halfApproved();
  const found = live();
  for (const action of [
    ['approve', 'box', '--digest', digest],
    ['revoke', 'box'],
  ]) {
    const { stderr } = await runCommand(['extensions', ...action, '--root', root], { trust: false });
    expect(stderr).toMatch(/EXTENSION_HALF_APPROVED.*skill-registry approvals allow/);
  }
  expect(live()).toEqual(found);
});

it('approves what was killed halfway when it is approved again, and says of what is in effect that it is', async () => {
  const { root, digest } = await halfApproved();
  const approve = () => runCommand(['extensions', 'approve', 'box', '--digest', digest, '--root', root]);
  expect(await approve()).toMatchObject({ status: 0, stderr: expect.stringContaining('extensions/box is approved;') });
  expect(await versionsLoaded(root)).toEqual(['new']);
  expect(await approve()).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/approved already, and in effect/),
  });
  writeFileSync(join(root, 'extensions/box/a.ts'), 'by hand');
  expect(await approve()).toMatchObject({ status: 1, stderr: expect.stringContaining('EXTENSION_NOT_HELD') });
});

it('does not say of an approval that was killed after its last step that it has no effect', async () => {
  const code = waitingCode();
  // The first file that waits no more.
  expect(await approveAndDie(code, 2, 'a.ts')).toMatchObject({ status: null });
  const { root, digest } = code;
  expect(existsSync(join(root, 'data/.held/box/files/a.ts'))).toBe(true);
  const { stdout } = await runCommand(['doctor', '--root', root]);
  expect(stdout).not.toMatch(/EXTENSION_HELD|EXTENSION_HALF_APPROVED|extensions? held/);
  const again = await runCommand(['extensions', 'approve', 'box', '--digest', digest, '--root', root]);
  expect(again).toMatchObject({ status: 0, stderr: expect.stringContaining('approved already, and in effect') });
  expect(await versionsLoaded(root)).toEqual(['new']);
  expect(existsSync(join(root, 'data/.held/box/files'))).toBe(false);
});

it('loads nothing of an extension whose approval cannot be undone, and says why', async () => {
  const { root } = await halfApproved();
  writeFileSync(join(root, 'data/.held/box/approving'), '{');
  const kernel = await boot({ root });
  onTestFinished(() => kernel.shutdown());
  expect(kernel.extensions().find(({ id }) => id === 'box')).toMatchObject({ state: 'ERROR' });
  expect(kernel.problems()).toEqual([
    expect.objectContaining({
      code: 'EXTENSION_HALF_APPROVED',
      severity: 'error',
      message: expect.stringMatching(/cannot be undone: .*JSON/),
    }),
  ]);
});

it('takes no approval from a root: what says that it was interrupted finishes nothing', async () => {
  const { root, digest } = waitingCode();
  const files = ['a.ts', 'c.ts', 'main.ts'].map((path) => ({ path, before: null, after: '0'.repeat(64) }));
  for (const name of ['approving', 'approved'])
    writeFileSync(join(root, 'data/.held/box', name), JSON.stringify(files));
  expect(await versionsLoaded(root)).toEqual(['old']);
  expect(heldExtension(root, 'box')?.digest).toBe(digest);
});

it('leaves an approval alone that another process is in the middle of, and loads nothing of it', async () => {
  const { root, live } = await halfApproved();
  const lock = openSqlite(join(root, 'data/.held/.lock'));
  lock.exec('BEGIN EXCLUSIVE');
  const found = live();
  expect(await versionsLoaded(root)).toEqual([]);
  expect(live()).toEqual(found);
  lock.close();
  expect(await versionsLoaded(root)).toEqual(['old']);
}, 30_000);

it('restores a file also where an agent writes meanwhile what the file has become', async () => {
  const { root, before, live } = await halfApproved();
  const text = readFileSync(join(root, 'extensions/box/a.ts'), 'utf8');
  holdExtensionFile(root, 'box/a.ts', text, 'agent:builder');
  expect(await versionsLoaded(root)).toEqual(['old']);
  expect(live()).toEqual(before);
});

it.each([
  ['a link', (lock: string, root: string) => symlinkSync(join(root, 'precious'), lock)],
  ['a database', (lock: string) => writeFileSync(lock, 'SQLite format 3\0')],
  ['a journal beside it', (lock: string) => writeFileSync(`${lock}-journal`, 'x')],
])('opens no lock that came with the root: %s', (_title, plant) => {
  const { root } = waitingCode();
  plant(join(root, 'data/.held/.lock'), root);
  expect(() => revokeExtension({ dir: root, trusted: true }, 'box')).toThrow(
    expect.objectContaining({ code: 'WRITE_FAILED', message: expect.stringMatching(/Remove/) }),
  );
  expect(existsSync(join(root, 'precious'))).toBe(false);
  expect(heldExtension(root, 'box')).toBeDefined();
});

it('is not approved by the digest of another difference with the same new text', () => {
  const { root } = waitingCode();
  revokeExtension({ dir: root, trusted: true }, 'box');
  writeFileSync(join(root, 'extensions/box/a.ts'), 'by hand');
  holdExtensionFile(root, 'box/a.ts', 'new', 'agent:builder');
  const first = heldExtension(root, 'box')?.digest ?? '';
  revokeExtension({ dir: root, trusted: true }, 'box');
  writeFileSync(join(root, 'extensions/box/a.ts'), 'something else');
  holdExtensionFile(root, 'box/a.ts', 'new', 'agent:builder');
  expect(() => approveExtension({ dir: root, trusted: true }, 'box', first)).toThrow(
    expect.objectContaining({ code: 'EXTENSION_CHANGED' }),
  );
  expect(readFileSync(join(root, 'extensions/box/a.ts'), 'utf8')).toBe('something else');
});

/** In the folder of the extension: what the approval has kept of `a.ts`. */
function keptIn(root: string): string {
  const box = join(root, 'extensions/box');
  return join(box, readdirSync(box).find((name) => name.startsWith('.approving-')) ?? 'none');
}

it.each([
  ['which the person restores', (root: string) => renameSync(keptIn(root), join(root, 'extensions/box/a.ts')), ['old']],
  ['which the person keeps', (root: string) => rmSync(keptIn(root)), ['new', 'old']],
])(
  'undoes nothing of a replaced file that a person has edited since, runs neither half, and keeps both texts: %s',
  async (_title, decide, versions) => {
    const { root } = await halfApproved();
    const edited = `${readFileSync(join(root, 'extensions/box/a.ts'), 'utf8')}// by hand\n`;
    writeFileSync(join(root, 'extensions/box/a.ts'), edited);
    expect(await versionsLoaded(root)).toEqual([]);
    const { stderr } = await runCommand(['extensions', 'revoke', 'box', '--root', root]);
    expect(stderr).toContain(`Move extensions/box/${basename(keptIn(root))} over extensions/box/a.ts`);
    expect(readFileSync(join(root, 'extensions/box/a.ts'), 'utf8')).toBe(edited);
    expect(readFileSync(keptIn(root), 'utf8')).toContain('old');
    decide(root);
    expect([...(await versionsLoaded(root))].sort()).toEqual(versions);
  },
);

it('loads nothing of what was killed halfway when the text that waits is gone', async () => {
  const { root, before, live } = await halfApproved();
  rmSync(join(root, 'data/.held/box/files/a.ts'));
  expect(await versionsLoaded(root)).toEqual([]);
  renameSync(keptIn(root), join(root, 'extensions/box/a.ts'));
  expect(await versionsLoaded(root)).toEqual(['old']);
  expect(live()).toEqual(before);
});

it.each(['a.ts', 'c.ts'])('keeps what a person writes into %s while the approval writes it', (path) => {
  const { root, digest } = waitingCode();
  const file = join(root, 'extensions/box', path);
  const { renameSync: rename } = fs;
  onTestFinished(() => {
    fs.renameSync = rename;
    syncBuiltinESMExports();
  });
  fs.renameSync = (from, to) => {
    rename(from, to);
    // The marker is the first file, after everything was read.
    if (String(to).endsWith('/approving')) writeFileSync(file, 'by hand');
  };
  syncBuiltinESMExports();
  expect(() => approveExtension({ dir: root, trusted: true }, 'box', digest)).toThrow(/was changed.*still waits/s);
  expect(readFileSync(file, 'utf8')).toBe('by hand');
  expect(readFileSync(join(root, 'extensions/box/main.ts'), 'utf8')).toContain('old');
});

it('loads nothing of what was killed halfway through a link that leads into it', async () => {
  const { root } = await halfApproved();
  symlinkSync('box', join(root, 'extensions/alias'));
  expect(await versionsLoaded(root, false)).toEqual([]);
  writeFileSync(join(root, 'data/.held/box/approving'), '{');
  expect(await versionsLoaded(root)).toEqual([]);
});

it('loads nothing of the root that may use files of what was killed halfway', async () => {
  const { root } = await halfApproved();
  writeTree(root, extension('user', "import '../box/a.ts';"));
  writeFileSync(join(root, 'data/.held/box/approving'), '{');
  const kernel = await boot({ root });
  onTestFinished(() => kernel.shutdown());
  const stateOf = (id: string) => kernel.extensions().find((one) => one.id === id);
  expect(stateOf('user')).toMatchObject({ state: 'ERROR', reason: expect.stringContaining('extensions/box was') });
  expect(stateOf('skill_registry')).toMatchObject({ state: 'RUNNING' });
});

it('loads nothing whose manifest was read before it was approved, and all of it at the next start', async () => {
  const code = waitingCode();
  const { root } = code;
  writeTree(root, extension('asks', '', 'globalThis.approveNow();'));
  const outcome = approvedByCode(code);
  const kernel = await boot({ root });
  onTestFinished(() => kernel.shutdown());
  expect(outcome).toEqual({});
  expect(kernel.extensions().find(({ id }) => id === 'box')).toMatchObject({
    ...{ state: 'ERROR', reason: expect.stringMatching(/was approved while it started.*Start again/) },
  });
  expect(await versionsLoaded(root)).toEqual(['new']);
});

it('can be revoked while it is loaded and never ends to', async () => {
  const { root } = waitingCode();
  onTestFinished(() => void Reflect.deleteProperty(globalThis, 'endLoading'));
  writeTree(root, extension('hangs', 'await new Promise((done) => { globalThis.endLoading = done; });'));
  const kernel = await boot({ root, budgets: { start: 500 } } as InternalBootOptions);
  onTestFinished(() => kernel.shutdown());
  expect(kernel.extensions().find(({ id }) => id === 'hangs')).toMatchObject({ state: 'ERROR' });
  expect(revokeExtension({ dir: root, trusted: true }, 'hangs')).toContain('.revoked/hangs-');
});

it.each([
  ['../box2/precious.ts', 0, []],
  ['/etc/hostname', 0, ['old']],
  ['link/precious.ts', 0, []],
  ['precious.ts', 0, []],
  ['a.ts', 20_000_000, []],
])('removes nothing because of a marker that names %s', async (path, spaces, versions) => {
  const { root } = waitingCode();
  mkdirSync(join(root, 'extensions/box2'));
  symlinkSync('../box2', join(root, 'extensions/box/link'));
  for (const file of ['box2/precious.ts', 'box/precious.ts']) writeFileSync(join(root, 'extensions', file), 'precious');
  const found = filesIn(root);
  const after = createHash('sha256').update('precious').digest('hex');
  const marker = `${JSON.stringify([{ path, before: null, after }])}${' '.repeat(spaces)}`;
  writeFileSync(join(root, 'data/.held/box/approving'), marker);
  expect(await versionsLoaded(root)).toEqual(versions);
  expect(filesIn(root)).toEqual(found);
});

it('undoes nothing in the extensions of the package itself', () => {
  const root = tempFolder({
    'data/.held/skill_review/approving': JSON.stringify([{ path: 'none.ts', before: null, after: '0'.repeat(64) }]),
  });
  symlinkSync(join(import.meta.dirname, '../../../../extensions'), join(root, 'extensions'));
  expect(undoApprovals(root).get('skill_review')).toMatch(/belongs to the package itself/);
});
