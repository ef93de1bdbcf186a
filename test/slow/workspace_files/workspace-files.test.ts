import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { approveExtension, heldExtension, heldExtensions } from '../../../kernel/host.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { FORGED, outsideFolder, SECRET, setTraps, TRAPPED, UNDECODED } from '../../helpers/traps.ts';
import { boxOf, MAX_BYTES, type Workspace, workspace } from '../../helpers/workspace.ts';

/** A person's yes to what waits. */
function approve(root: string, name: string): void {
  approveExtension({ dir: root, trusted: true }, name, heldExtension(root, name)?.digest ?? '');
}

async function trappedWorkspace(): Promise<Workspace & { outside: string }> {
  const place = await workspace();
  const outside = outsideFolder();
  await setTraps(boxOf(place), outside);
  return { ...place, outside };
}

/**
 * Every path below `dir` with its kind and content: two of them are equal when nothing was touched. What the registry keeps for
 * itself in `data` is left out; it may be written at any time.
 */
function photograph(dir: string): readonly string[] {
  return pathsBelow(dir)
    .filter((path) => !path.startsWith(join(dir, 'data')))
    .map((path) => `${path} ${lstatSync(path).mode} ${lstatSync(path).isFile() ? readFileSync(path, 'utf8') : ''}`)
    .sort();
}

/** Without what links lead to; the `recursive` of Node 22 and later would follow them. */
function pathsBelow(dir: string): readonly string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    return entry.isDirectory() ? [path, ...pathsBelow(path)] : [path];
  });
}

describe('reading', () => {
  it('lists, reads and says how large', async () => {
    const { call } = await workspace({ 'extensions/box/a.txt': 'äh', 'extensions/box/link': { link: 'a.txt' } });
    expect(await call('list_files', { path: 'extensions/box' })).toEqual({
      success: true,
      path: 'extensions/box',
      entries: [
        { name: 'a.txt', kind: 'file', size: 3 },
        { name: 'good', kind: 'directory', size: 0 },
        { name: 'link', kind: 'other', size: 0 },
        { name: 'manifest.yaml', kind: 'file', size: 43 },
        { name: 'sibling', kind: 'directory', size: 0 },
      ],
    });
    const read = await call('read_file', { path: './extensions/box/a.txt' });
    expect(read).toEqual({ success: true, path: './extensions/box/a.txt', content: 'äh', size: 3 });
  });

  it('refuses whatever resources of a skill refuse, in every tool, and touches nothing', {
    timeout: 60_000,
  }, async () => {
    const place = await trappedWorkspace();
    const [before, outsideBefore] = [photograph(place.root), photograph(place.outside)];
    for (const [title, given, code] of [...FORGED, ...UNDECODED, ...TRAPPED]) {
      const below = typeof given === 'string' ? given : given(place.outside, boxOf(place));
      const path = `extensions/box/good/${below}`;
      const read = await place.call('read_file', { path });
      const list = await place.call('list_files', { path });
      // Absolute and drive forms are names once a folder stands before them.
      const isPlainHere = /^(\/|[A-Za-z]:)/.test(below);
      if (!isPlainHere) expect([title, read]).toMatchObject([title, { success: false, error: { code } }]);
      expect([title, read.success]).toEqual([title, false]);
      expect(JSON.stringify([read, list])).not.toContain(SECRET);
      expect(JSON.stringify([read, list])).not.toContain('only-outside');
    }
    expect(photograph(place.root)).toEqual(before);
    expect(photograph(place.outside)).toEqual(outsideBefore);
  });

  it.each([
    ['a linked folder outside', 'folder-outside', 'PATH_TRAVERSAL'],
    ['a folder in a linked one', 'folder-outside/references', 'PATH_TRAVERSAL'],
    ['a linked folder inside', 'folder-inside', 'PATH_TRAVERSAL'],
    ['a link to a file', 'link-inside.md', 'PATH_TRAVERSAL'],
    ['a file', 'references/guide.md', 'RESOURCE_NOT_FOUND'],
    ['a FIFO', 'fifo', 'RESOURCE_NOT_FOUND'],
    ['nothing', 'missing', 'RESOURCE_NOT_FOUND'],
  ])('does not list %s', async (_title, below, code) => {
    const { codeOf } = await trappedWorkspace();
    expect(await codeOf('list_files', { path: `extensions/box/good/${below}` })).toBe(code);
  });

  it('refuses what is too large or no text', async () => {
    const { call, codeOf } = await workspace({
      'extensions/full.txt': 'x'.repeat(MAX_BYTES),
      'extensions/over.txt': 'x'.repeat(MAX_BYTES + 1),
      'extensions/image.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff]),
    });
    expect(await call('read_file', { path: 'extensions/full.txt' })).toMatchObject({ success: true, size: MAX_BYTES });
    expect(await codeOf('read_file', { path: 'extensions/over.txt' })).toBe('RESOURCE_TOO_LARGE');
    expect(await codeOf('read_file', { path: 'extensions/image.png' })).toBe('NOT_TEXT');
  });
});

it.each([
  ['another folder', 'data/skill_registry/config.yaml', 'PATH_OUTSIDE_WORKSPACE'],
  ['a file of the root', '.env', 'PATH_OUTSIDE_WORKSPACE'],
  ['the root', '.', 'PATH_OUTSIDE_WORKSPACE'],
  ['nothing', '', 'PATH_OUTSIDE_WORKSPACE'],
  ['an absolute path', '/etc/passwd', 'PATH_OUTSIDE_WORKSPACE'],
  ['a folder with the same beginning', 'extensions-old/x', 'PATH_OUTSIDE_WORKSPACE'],
  ['a folder in capitals', 'Extensions/x', 'PATH_OUTSIDE_WORKSPACE'],
  ['the way up first', '../extensions/x', 'PATH_OUTSIDE_WORKSPACE'],
  ['backslashes', 'extensions\\..\\.env', 'PATH_OUTSIDE_WORKSPACE'],
  ['an encoded slash', 'extensions%2f..%2f.env', 'PATH_OUTSIDE_WORKSPACE'],
  ['a prototype', '__proto__/x', 'PATH_OUTSIDE_WORKSPACE'],
  ['the way to the other folder', 'extensions/../skills/good/SKILL.md', 'PATH_TRAVERSAL'],
  ['that way through .', './extensions/./../skills/good/SKILL.md', 'PATH_TRAVERSAL'],
  ['the way to the root', 'skills/../.env', 'PATH_TRAVERSAL'],
  ['an absolute rest', 'extensions//etc/passwd', 'PATH_TRAVERSAL'],
  ['a drive as rest', 'extensions/C:/secret.txt', 'PATH_TRAVERSAL'],
  ['NUL', 'extensions/x\0', 'PATH_TRAVERSAL'],
])('keeps every tool within extensions/ and skills/: %s', async (_title, path, code) => {
  const place = await workspace({ '.env': SECRET, 'extensions-old/x': SECRET });
  const before = photograph(place.root);
  expect(await place.codeOf('read_file', { path })).toBe(code);
  expect(await place.codeOf('list_files', { path })).toBe(code);
  expect(await place.codeOf('write_file', { path, content: 'mine' })).toBe(code);
  expect(photograph(place.root)).toEqual(before);
});

describe('writing', () => {
  it.each(['extensions/t/z\nextensions/t: x', 'skills/good/a\r.md', 'extensions/t/\x85', 'skills/\x1b[2J/SKILL.md'])(
    'takes no path with a control character: %j',
    async (path) => {
      const { root, codeOf } = await workspace();
      const before = photograph(root);
      expect(await codeOf('write_file', { path, content: 'x' })).toBe('INVALID_ARGUMENT');
      expect(photograph(root)).toEqual(before);
    },
  );

  it('waits for a yes, then makes folders, says whether the file is new, and keeps its mode', async () => {
    const { root, call } = await workspace();
    const path = 'extensions/new/deep/run.sh';
    const write = (content: string) => call('write_file', { path, content });
    expect(await write('one')).toMatchObject({ success: true, path, created: true, size: 3, held: true });
    expect(await call('read_file', { path })).toMatchObject({ content: 'one' });
    expect(existsSync(join(root, 'extensions/new'))).toBe(false);
    expect(await write('two')).toMatchObject({ created: false });
    approve(root, 'new');
    expect(readFileSync(join(root, path), 'utf8')).toBe('two');
    expect(heldExtensions(root)).toEqual([]);
    writeTree(root, { 'extensions/new/manifest.yaml': '' });
    chmodSync(join(root, path), 0o750);
    expect(await write('zwö')).toMatchObject({ created: false, size: 4 });
    approve(root, 'new');
    expect(readFileSync(join(root, path), 'utf8')).toBe('zwö');
    expect(statSync(join(root, path)).mode & 0o777).toBe(0o750);
    expect(readdirSync(join(root, 'extensions/new/deep'))).toEqual(['run.sh']);
  });

  it('makes extensions/ where there is none, and says so where it cannot', async () => {
    const { root, call, codeOf } = await workspace();
    rmSync(join(root, 'extensions'), { recursive: true });
    expect(await call('list_files', { path: 'extensions' })).toMatchObject({ success: true, entries: [] });
    expect(await call('write_file', { path: 'extensions/x/y', content: '' })).toMatchObject({ success: true });
    rmSync(join(root, 'extensions'), { recursive: true });
    symlinkSync(join(root, 'nowhere'), join(root, 'extensions'));
    expect(await codeOf('write_file', { path: 'extensions/x/y', content: '' })).toBe('WRITE_FAILED');
    expect(existsSync(join(root, 'nowhere'))).toBe(false);
  });

  it.each([
    ['a link to a file outside', 'link-outside.md', 'PATH_TRAVERSAL'],
    ['a link to a file inside', 'link-inside.md', 'PATH_TRAVERSAL'],
    ['a link to nothing', 'link-dangling.md', 'PATH_TRAVERSAL'],
    ['a linked folder', 'folder-outside', 'PATH_TRAVERSAL'],
    ['a file in a linked folder outside', 'folder-outside/new.md', 'PATH_TRAVERSAL'],
    ['a new folder in a linked folder outside', 'folder-outside/new/new.md', 'PATH_TRAVERSAL'],
    ['a file in a linked folder inside', 'folder-inside/new.md', 'PATH_TRAVERSAL'],
    ['a linked folder one level down', 'references/folder-outside/new.md', 'PATH_TRAVERSAL'],
    ['a FIFO', 'fifo', 'WRITE_FAILED'],
    ['something below a FIFO', 'fifo/new.md', 'WRITE_FAILED'],
    ['a socket', 'socket', 'WRITE_FAILED'],
    ['a folder', 'references', 'WRITE_FAILED'],
    ['a folder with a slash', 'references/', 'INVALID_ARGUMENT'],
    ['a new folder with a slash', 'new-folder/', 'INVALID_ARGUMENT'],
    ['something below a file', 'references/guide.md/new.md', 'WRITE_FAILED'],
    ['a name of 300 characters', 'n'.repeat(300), 'WRITE_FAILED'],
    ['65 levels', `${'a/'.repeat(64)}x`, 'INVALID_ARGUMENT'],
    ['a way up', '../sibling/private.md', 'PATH_TRAVERSAL'],
    ['more than the limit', 'large.md', 'RESOURCE_TOO_LARGE'],
  ])('leaves everything as it was when the target is %s', async (_title, below, code) => {
    const place = await trappedWorkspace();
    const [before, outsideBefore] = [photograph(place.root), photograph(place.outside)];
    const content = below === 'large.md' ? 'ä'.repeat(MAX_BYTES / 2 + 1) : 'mine';
    expect(await place.codeOf('write_file', { path: `extensions/box/good/${below}`, content })).toBe(code);
    expect(photograph(place.root)).toEqual(before);
    expect(photograph(place.outside)).toEqual(outsideBefore);
  });

  it('takes names as long as the file system does, in any script', async () => {
    const { root, call } = await workspace();
    for (const name of ['漢'.repeat(85), 'n'.repeat(255)]) {
      expect(await call('write_file', { path: `extensions/box/${name}`, content: 'long' })).toMatchObject({
        success: true,
      });
      approve(root, 'box');
      expect(readFileSync(join(root, 'extensions/box', name), 'utf8')).toBe('long');
    }
  });

  it('writes through a workspace folder that the owner has linked elsewhere, and no further', async () => {
    const outside = tempFolder({ 'beside.txt': 'beside', 'own/kept.txt': 'kept' });
    const { root, call, codeOf } = await workspace();
    rmSync(join(root, 'extensions'), { recursive: true });
    symlinkSync(join(outside, 'own'), join(root, 'extensions'));
    expect(await call('write_file', { path: 'extensions/new/a.txt', content: 'new' })).toMatchObject({ success: true });
    approve(root, 'new');
    expect(readFileSync(join(outside, 'own/new/a.txt'), 'utf8')).toBe('new');
    writeTree(outside, { 'own/up': { link: '..' }, 'manifest.yaml': '' });
    expect(await codeOf('write_file', { path: 'extensions/up/beside.txt', content: 'mine' })).toBe('PATH_TRAVERSAL');
    expect(readFileSync(join(outside, 'beside.txt'), 'utf8')).toBe('beside');
  });
});

it('asks for a restart', async () => {
  const { call, restarts } = await workspace();
  expect(await call('request_restart', {})).toMatchObject({ success: true });
  expect(restarts()).toBe(1);
});
