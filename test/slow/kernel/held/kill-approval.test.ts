import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isTemporaryName } from '../../../../lib/files/index.ts';
import { approveAndDie, versionsLoaded, type WaitingCode, waitingCode } from '../../../helpers/half-approved.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';
import { twoAtATime } from '../../../helpers/two-at-a-time.ts';

const VERSIONS = ['main.ts', 'a.ts'];

/** The versions of the files that were there before, as they are on disk. */
function versionsOnDisk(root: string): readonly string[] {
  const tree = treeOf(join(root, 'extensions/box')) as Readonly<Record<string, string>>;
  return [...new Set(VERSIONS.map((path) => (tree[path]?.includes("'new'") ? 'new' : 'old')))];
}

/** What people are told before anything undoes it. @returns Whether the approval is half done. */
async function isSaidToBeHalf(root: string, where: string): Promise<boolean> {
  const before = [treeOf(join(root, 'extensions')), treeOf(join(root, 'data/.held'))];
  const { stdout } = await runCommand(['doctor', '--root', root]);
  const list = await runCommand(['extensions', 'list', '--root', root]);
  expect([treeOf(join(root, 'extensions')), treeOf(join(root, 'data/.held'))], where).toEqual(before);
  const isHalf = stdout.includes('EXTENSION_HALF_APPROVED');
  expect(list.stderr.includes('was interrupted'), where).toBe(isHalf);
  if (isHalf) expect(await versionsLoaded(root, false), where).toEqual([]);
  else {
    const [version, ...others] = versionsOnDisk(root);
    expect(others, where).toEqual([]);
    expect(stdout.includes('has no effect yet'), where).toBe(version === 'old');
    expect(list.stdout.includes('wait'), where).toBe(version === 'old');
  }
  return isHalf;
}

it.each([
  ['that begins', undefined, undefined],
  // What comes after the undoing is as in the first.
  ['that undoes another one first', 'main.ts', 20],
])(
  'an approval %s is one version and says which, whatever step it is killed at',
  { timeout: 900_000 },
  async (_title, first, last) => {
    let [halves, wholes, end] = [0, 0, last ?? Number.POSITIVE_INFINITY];
    const prepared = waitingCode();
    if (first !== undefined) await approveAndDie(prepared, 1, first);
    const killAt = async (at: number): Promise<void> => {
      const code = copyOf(prepared);
      const { root, digest } = code;
      const { status, stderr } = await approveAndDie(code, at);
      const where = `before change ${at}: ${stderr}`;
      const isHalf = await isSaidToBeHalf(root, where);
      const isNew = !isHalf && versionsOnDisk(root)[0] === 'new';
      halves += isHalf ? 1 : 0;
      wholes += isNew ? 1 : 0;
      // Every other time, what is said and done is asked of a start first.
      if (at % 4 > 1) expect(await versionsLoaded(root), where).toEqual([isNew ? 'new' : 'old']);
      const again = await runCommand(['extensions', 'approve', 'box', '--digest', digest, '--root', root]);
      expect(again, where).toMatchObject({ status: 0 });
      expect(again.stderr.includes('approved already, and in effect'), where).toBe(isNew);
      expect(await versionsLoaded(root), where).toEqual(['new']);
      const files = readdirSync(join(root, 'extensions/box')).filter((name) => !isTemporaryName(name));
      expect(files.sort(), where).toEqual(['a.ts', 'c.ts', 'main.ts', 'manifest.yaml']);
      // It may have died before it removed the empty folder.
      const left = join(root, 'data/.held/box/files');
      expect(existsSync(left) ? readdirSync(left) : [], where).toEqual([]);
      if (status !== null) end = at;
    };
    await twoAtATime([1, 2], async (begin) => {
      for (let at = begin; at <= end; at += 2) await killAt(at);
    });
    expect(halves).toBeGreaterThan(5);
    if (last === undefined) expect(wholes).toBeGreaterThan(2);
  },
);

/** As it was prepared, in a folder of its own. */
function copyOf({ root, digest }: WaitingCode): WaitingCode {
  const copy = tempFolder();
  cpSync(root, copy, { recursive: true, preserveTimestamps: true });
  return { root: copy, digest };
}
