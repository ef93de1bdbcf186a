import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  approveExtension,
  describeHeld,
  heldExtension,
  heldExtensions,
  holdExtensionFile,
  packageRoot,
  readHeldFile,
  revokeExtension,
} from '../../../kernel/host.ts';
import { type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { manifest } from '../boot/boot-extensions.ts';

const AGENT = 'agent:builder';
const BOX: Tree = { 'extensions/box/manifest.yaml': manifest('box', 'agent: {}'), 'extensions/box/a.ts': 'old\n' };

const hold = (root: string, path: string, content: string) => holdExtensionFile(root, path, content, AGENT);
const digestOf = (root: string, name: string): string => heldExtension(root, name)?.digest ?? '';
const textOf = (root: string, path: string): string => readFileSync(join(root, 'extensions', path), 'utf8');

describe('what an agent writes below extensions/', () => {
  it('waits with its author, and is in place after the yes to that digest', () => {
    const root = tempFolder(BOX);
    hold(root, 'box/a.ts', 'new\n');
    hold(root, 'fresh/manifest.yaml', manifest('fresh', 'agent: {}'));
    expect(heldExtensions(root).map(({ name, by }) => [name, by])).toEqual([
      ['box', [AGENT]],
      ['fresh', [AGENT]],
    ]);
    expect(textOf(root, 'box/a.ts')).toBe('old\n');
    approveExtension({ dir: root, trusted: true }, 'box', digestOf(root, 'box'));
    expect(textOf(root, 'box/a.ts')).toBe('new\n');
    expect(heldExtensions(root).map(({ name }) => name)).toEqual(['fresh']);
    expect(readdirSync(join(root, 'extensions/box'))).toEqual(['a.ts', 'manifest.yaml']);
  });

  it('is not approved by the digest of what was there a moment before', () => {
    const root = tempFolder(BOX);
    hold(root, 'box/a.ts', 'harmless\n');
    const seen = digestOf(root, 'box');
    hold(root, 'box/a.ts', 'harmful\n');
    expect(() => approveExtension({ dir: root, trusted: true }, 'box', seen)).toThrow(
      expect.objectContaining({ code: 'EXTENSION_CHANGED' }),
    );
    hold(root, 'box/a.ts', 'harmless\n');
    hold(root, 'box/b.ts', 'harmful\n');
    expect(() => approveExtension({ dir: root, trusted: true }, 'box', seen)).toThrow(
      expect.objectContaining({ code: 'EXTENSION_CHANGED' }),
    );
    expect(textOf(root, 'box/a.ts')).toBe('old\n');
  });

  it('overwrites nothing that a person has changed since', async () => {
    const root = tempFolder(BOX);
    hold(root, 'box/a.ts', 'of the agent\n');
    writeTree(root, { 'extensions/box/a.ts': 'of a person\n' });
    const held = heldExtension(root, 'box');
    expect(held?.files).toMatchObject([{ path: 'a.ts', changedSince: true }]);
    expect(await describeHeld(held as NonNullable<typeof held>, [])).toContain('a.ts was changed by somebody else');
    expect(() => approveExtension({ dir: root, trusted: true }, 'box', digestOf(root, 'box'))).toThrow(
      expect.objectContaining({
        code: 'EXTENSION_CHANGED',
        message: expect.stringMatching(/approvals revoke extensions\/box\. .* make the file what it was/),
      }),
    );
    expect(textOf(root, 'box/a.ts')).toBe('of a person\n');
    writeTree(root, { 'extensions/box/a.ts': 'old\n' });
    approveExtension({ dir: root, trusted: true }, 'box', digestOf(root, 'box'));
    expect(textOf(root, 'box/a.ts')).toBe('of the agent\n');
  });

  it('is not written over by another agent, which does not see it either', () => {
    const root = tempFolder(BOX);
    hold(root, 'box/a.ts', 'harmless\n');
    expect(() => holdExtensionFile(root, 'box/a.ts', 'harmful\n', 'agent:other')).toThrow(
      expect.objectContaining({ code: 'EXTENSION_PROTECTED' }),
    );
    const seenBy = (by: string) => readHeldFile(root, 'box/a.ts', by, 1000)?.toString();
    expect([seenBy(AGENT), seenBy('agent:other')]).toEqual(['harmless\n', undefined]);
  });

  it('is shown whatever it is called, and not written where files are called so only for a moment', () => {
    const root = tempFolder(BOX);
    hold(root, 'box/x.tmp', 'x');
    expect(heldExtension(root, 'box')?.files.map(({ path }) => path)).toEqual(['x.tmp']);
    expect(() => hold(root, 'box/.0123456789abcdef01.tmp', 'x')).toThrow(
      expect.objectContaining({ code: 'EXTENSION_PROTECTED' }),
    );
  });

  it('waits no more when the agent takes it back', () => {
    const root = tempFolder(BOX);
    hold(root, 'box/a.ts', 'new\n');
    hold(root, 'box/a.ts', 'old\n');
    expect(heldExtensions(root)).toEqual([]);
  });

  it.each([
    ['a file beside the extensions', 'loose.ts', 'EXTENSION_PROTECTED'],
    ['packages that all extensions would load', 'node_modules/zod/index.js', 'EXTENSION_PROTECTED'],
    ['packages of one', 'box/node_modules/zod/index.js', 'EXTENSION_PROTECTED'],
    ['them in other letters', 'box/Node_Modules/x.js', 'EXTENSION_PROTECTED'],
    ['the hooks of a repository', 'box/.git/hooks/pre-commit', 'EXTENSION_PROTECTED'],
    ['a hidden folder', '.hidden/main.ts', 'EXTENSION_PROTECTED'],
    ['a folder shared by extensions', 'shared/util.ts', 'EXTENSION_PROTECTED'],
    ['a linked extension', 'linked/main.ts', 'PATH_TRAVERSAL'],
    ['the way out', 'box/../../data/x', 'PATH_TRAVERSAL'],
  ])('is never %s', (_title, path, code) => {
    const tree = { ...BOX, 'extensions/shared/util.ts': '', 'extensions/linked': { link: 'box' } };
    const root = tempFolder(tree);
    expect(() => hold(root, path, 'x')).toThrow(expect.objectContaining({ code }));
    expect(heldExtensions(root)).toEqual([]);
  });

  it('is never an extension of the package, in its checkout or through a link to it', () => {
    const ours = packageRoot();
    const linked = tempFolder({ extensions: { link: join(ours, 'extensions') } });
    const deeper = tempFolder({ extensions: { link: join(ours, 'kernel') } });
    for (const [root, path] of [
      [ours, 'cli_channel/main.ts'],
      [linked, 'skill_reviewer/manifest.yaml'],
      [deeper, 'agents/model.ts'],
    ] as const) {
      expect(() => hold(root, path, 'x')).toThrow(expect.objectContaining({ code: 'EXTENSION_PROTECTED' }));
    }
    expect(existsSync(join(ours, 'data/.held'))).toBe(false);
  });
});

describe('the difference a person sees', () => {
  it('names the agent, what would be replaced, every line, and hides nothing that is in the bytes', async () => {
    const root = tempFolder(BOX);
    hold(root, 'box/a.ts', 'new\u{e0041}\u200b\u202e\x1b[2J \u{1f469}\u200d\u{1f4bb}\r\n');
    hold(root, 'mine/manifest.yaml', '{ "id": "skill_reviewer", "name": x, version: "1", agent: {} }');
    const [box, mine] = heldExtensions(root);
    const text = await describeHeld(box as NonNullable<typeof box>, ['skill_reviewer']);
    expect(text).toContain(AGENT);
    expect(text).toContain('-old');
    // The joiner of an emoji, too, which a text of people would keep.
    expect(text).toContain('+new\\u{e0041}\\u{200b}\\u{202e}\\x1b[2J \u{1f469}\\u{200d}\u{1f4bb}');
    expect(text).toContain(box?.digest);
    const other = await describeHeld(mine as NonNullable<typeof mine>, ['skill_reviewer']);
    expect(other).toContain('It replaces "skill_reviewer", which comes with the package.');
  });

  it('is whole where the old file is no text, and where the new one is none', async () => {
    const latin1 = Buffer.from('// caf\xe9\nold\n', 'latin1');
    const root = tempFolder({ ...BOX, 'extensions/box/b.ts': latin1 });
    hold(root, 'box/b.ts', 'one();\ntwo();\n');
    const [box] = heldExtensions(root) as [NonNullable<ReturnType<typeof heldExtension>>];
    expect(await describeHeld(box, [])).toContain(
      '--- a/b.ts: 12 bytes that are not UTF-8 text, not shown\n+++ b/b.ts\n+one();\n+two();\n',
    );
    const files = [{ path: 'c.ts', before: null, after: Buffer.alloc(33, 0xff), changedSince: false }];
    expect(await describeHeld({ ...box, files }, [])).toContain(
      `+++ b/c.ts: 33 bytes that are not UTF-8 text, in hexadecimal\n+${'ff'.repeat(32)}\n+ff`,
    );
  });

  it('has no lines that a name of a file has made up', async () => {
    const root = tempFolder(BOX);
    hold(root, 'box/z\n+++ b/main.ts', 'x\n');
    const [box] = heldExtensions(root);
    const text = await describeHeld(box as NonNullable<typeof box>, []);
    expect(text).toContain('+++ b/z\\n+++ b/main.ts\n');
  });

  it('is there for texts that differ everywhere', async () => {
    const lines = (mark: string) => Array.from({ length: 20_000 }, (_, index) => `${mark}${index * 7919}`).join('\n');
    const root = tempFolder({ ...BOX, 'extensions/box/a.ts': lines('x') });
    hold(root, 'box/a.ts', lines('y'));
    const [box] = heldExtensions(root);
    const text = await describeHeld(box as NonNullable<typeof box>, []);
    expect(text).toContain('\n-x0\n');
    expect(text).toContain('\n+y7919\n');
  });
});

describe('revoking', () => {
  it('throws away what waits, and takes out an extension of which nothing waits', () => {
    const root = tempFolder(BOX);
    hold(root, 'box/a.ts', 'new\n');
    expect(revokeExtension({ dir: root, trusted: true }, 'box')).toBeUndefined();
    expect(heldExtensions(root)).toEqual([]);
    expect(textOf(root, 'box/a.ts')).toBe('old\n');
    const folder = revokeExtension({ dir: root, trusted: true }, 'box') as string;
    expect(readdirSync(join(root, 'extensions'))).toEqual([]);
    expect(readFileSync(join(folder, 'a.ts'), 'utf8')).toBe('old\n');
    expect(() => revokeExtension({ dir: root, trusted: true }, 'box')).toThrow(
      expect.objectContaining({ code: 'EXTENSION_NOT_HELD' }),
    );
  });
});
