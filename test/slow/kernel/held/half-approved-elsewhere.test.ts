import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { approveExtension, heldExtension, holdExtensionFile } from '../../../../kernel/host.ts';
import {
  approveAndDie,
  approvedByCode,
  extension,
  versionsLoaded,
  waitingCode,
} from '../../../helpers/half-approved.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { type Tree, tempFolder, writeTree } from '../../../helpers/temp-folder.ts';

/** A root with code whose approval was killed when one of three files was replaced. */
async function halfApproved(): Promise<string> {
  const code = waitingCode();
  await approveAndDie(code, 1, 'main.ts');
  return code.root;
}

const at = (from: string, path: string): { link: string } => ({ link: join(from, path) });

/** Another root, which reaches code of the first one by a link. */
const LINKS = [
  ['extensions/', (from: string) => tempFolder({ extensions: at(from, 'extensions') })],
  ['an extension', (from: string) => tempFolder({ 'extensions/box': at(from, 'extensions/box') })],
  ['a hidden link', (from: string) => tempFolder({ 'extensions/.b': at(from, ''), ...useOf('../.b/extensions/box') })],
  [
    'a link to the root',
    (from: string) => tempFolder({ 'extensions/b': at(from, ''), ...useOf('../b/extensions/box') }),
  ],
  [
    'a link in an extension',
    (from: string) => tempFolder({ ...useOf('./lib'), 'extensions/box/lib': at(from, 'extensions/box') }),
  ],
  [
    'a link to a file',
    (from: string) => tempFolder({ ...useOf('.', 'b'), 'extensions/box/b.ts': at(from, 'extensions/box/main.ts') }),
  ],
  [
    'a package',
    (from: string) => tempFolder({ ...useOf('../../node_modules/b'), 'node_modules/b': at(from, 'extensions/box') }),
  ],
  [
    'a link to the root above',
    (from: string) => {
      writeTree(from, { 'packages/sub/extensions/box': at(from, 'extensions/box') });
      return join(from, 'packages/sub');
    },
  ],
  [
    'a package above the root',
    (from: string) => {
      const above = tempFolder({ 'node_modules/b': at(from, 'extensions/box') });
      writeTree(join(above, 'app'), useOf('../../../node_modules/b'));
      return join(above, 'app');
    },
  ],
] as const;

/** An extension `box` that is made of that of another folder. */
function useOf(folder: string, name = 'main'): Tree {
  const manifest = 'id: box\nname: Box\nversion: 1.0.0\ndescription: A box.\nentrypoint: main:Box\n';
  return {
    'extensions/box/manifest.yaml': manifest,
    'extensions/box/main.ts': `export * from '${folder}/${name}.ts';\n`,
  };
}

it.each(LINKS)(
  'loads nothing that was killed halfway in another root, which %s leads into by a link',
  async (_, linkTo) => {
    const root = await halfApproved();
    const other = linkTo(root);
    const kernel = await boot({ root: other });
    onTestFinished(() => kernel.shutdown());
    const reason = `an approval of ${join(root, 'extensions/box')} was interrupted`;
    expect(kernel.extensions().find(({ id }) => id === 'box')).toMatchObject({
      ...{ state: 'ERROR', reason: expect.stringContaining(reason) },
    });
    expect(await versionsLoaded(root)).toEqual(['old']);
    expect(await versionsLoaded(other)).toEqual(['old']);
  },
);

it.each(LINKS)(
  'loads nothing that is approved in another root since its manifest was read through %s',
  async (_, linkTo) => {
    const code = waitingCode();
    const other = linkTo(code.root);
    writeTree(other, extension('asks', '', 'globalThis.approveNow();'));
    const outcome = approvedByCode(code);
    const kernel = await boot({ root: other });
    onTestFinished(() => kernel.shutdown());
    expect(outcome).toEqual({});
    expect(kernel.extensions().find(({ id }) => id === 'box')?.reason).toMatch(/was approved while it started/);
  },
);

it('holds and approves code only in the root that has the folder', () => {
  const { root, digest } = waitingCode();
  const other = tempFolder({ extensions: { link: join(root, 'extensions') } });
  expect(() => holdExtensionFile(other, 'box/d.ts', 'export {};', 'agent:builder')).toThrow(
    /is a link.*in the root that has/,
  );
  writeTree(other, { 'data/.held/box/files/main.ts': 'export {};' });
  const { digest: others = '' } = heldExtension(other, 'box') ?? {};
  expect(() => approveExtension({ dir: other, trusted: true }, 'box', others)).toThrow(/is a link into another root/);
  expect(approveExtension({ dir: root, trusted: true }, 'box', digest).paths).toHaveLength(3);
});

it('says in a root that links lead out of which approval was interrupted in another one, and what undoes it', async () => {
  const root = await halfApproved();
  const other = tempFolder({ extensions: { link: join(root, 'extensions') } });
  const doctor = await runCommand(['doctor', '--root', other]);
  expect(doctor).toMatchObject({ status: 1, stdout: expect.stringContaining(`doctor --root ${root}`) });
});

it('holds and approves code where extensions/ is a link to another folder of the same root', () => {
  const root = tempFolder({ 'code/box/manifest.yaml': 'id: box\n', extensions: { link: 'code' } });
  holdExtensionFile(root, 'box/a.ts', 'export {};', 'agent:builder');
  const { digest = '' } = heldExtension(root, 'box') ?? {};
  expect(approveExtension({ dir: root, trusted: true }, 'box', digest).paths).toEqual(['a.ts']);
  expect(readFileSync(join(root, 'code/box/a.ts'), 'utf8')).toBe('export {};');
});
