import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PackedEntry, tarGz, zip } from '../../../helpers/archives.ts';
import { openRegistry } from '../../../helpers/open-registry.ts';
import { startOnTerminal } from '../../../helpers/run-command.ts';
import { serve } from '../../../helpers/serve.ts';
import { skillMd, tempFolder } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

const TEA: PackedEntry = { path: 'tea/SKILL.md', content: skillMd({ name: 'tea', description: 'Brews tea.' }) };
const MEBIBYTE = 1024 * 1024;

/** What an archive must not hold, and what is said of it. */
const EVIL: readonly (readonly [string, readonly PackedEntry[], RegExp])[] = [
  ['a link', [TEA, { path: 'tea/key', type: 'SymbolicLink', leadsTo: '/root/.ssh/id_rsa' }], /"tea\/key" is a link/],
  ['a link to a folder', [TEA, { path: 'tea/a', type: 'SymbolicLink', leadsTo: '..' }], /"tea\/a" is a link/],
  ['a device', [TEA, { path: 'tea/zero', type: 'CharacterDevice' }], /"tea\/zero" is no file/],
  ['a pipe', [TEA, { path: 'tea/pipe', type: 'FIFO' }], /"tea\/pipe" is no file/],
  ['a path with ..', [TEA, { path: 'tea/../../evil', content: 'x' }], /no path below it|is damaged/],
  ['an absolute path', [{ ...TEA, path: '/tea/SKILL.md' }], /no path below it|is damaged/],
  [
    'a link beside the skill',
    [TEA, { path: 'key', type: 'SymbolicLink', leadsTo: '/root/.ssh/id_rsa' }],
    /"key" is a link/,
  ],
  ['a device beside the skill', [TEA, { path: 'other/zero', type: 'CharacterDevice' }], /"other\/zero" is no file/],
  ['a path with .. beside the skill', [TEA, { path: '../evil', content: 'x' }], /no path below it|is damaged/],
  ['an absolute folder', [TEA, { path: '/evil/', type: 'Directory' }], /no path below it|is damaged/],
  ['a path with a backslash', [TEA, { path: 'tea/a\\..\\b', content: 'x' }], /no path below it|is damaged/],
  ['a path with a control character', [TEA, { path: 'tea/a\u001bb', content: 'x' }], /control character/],
  [
    'two paths that are one on other systems',
    [TEA, { path: 'tea/A' }, { path: 'tea/a' }],
    /differ only in letter case/,
  ],
  ['one file twice', [TEA, { path: 'tea/a', content: '1' }, { path: 'tea/a', content: '2' }], /letter case|twice/],
  ['a file that is a folder, too', [TEA, { path: 'tea/A' }, { path: 'tea/a/b' }], /"a" is a file and a folder/],
  ['1,001 files', [TEA, ...Array.from({ length: 1_000 }, (_, at) => ({ path: `tea/${at}` }))], /1001 files, more than/],
  [
    '51 MiB',
    [TEA, ...[1, 2].map((at) => ({ path: `tea/${at}`, content: Buffer.alloc(26 * MEBIBYTE) }))],
    /bytes, more/,
  ],
];

describe.each([
  ['.tar.gz', tarGz],
  ['.zip', zip],
] as const)('%s', (ending, pack) => {
  it.each(EVIL)('refuses %s, and writes nothing', async (_name, entries, why) => {
    const { root, registry } = await openRegistry();
    const file = join(tempFolder(), `evil${ending}`);
    writeFileSync(file, pack(entries));
    await expect(registry.origin.add(file)).rejects.toMatchObject({
      code: 'ORIGIN_REFUSED',
      message: expect.stringMatching(why),
    });
    expect(Object.keys(treeOf(root))).toEqual([]);
  });
});

it('refuses a hard link in an archive', async () => {
  const { registry } = await openRegistry();
  const file = join(tempFolder(), 'evil.tar.gz');
  writeFileSync(file, tarGz([TEA, { path: 'tea/key', type: 'Link', leadsTo: 'tea/SKILL.md' }]));
  await expect(registry.origin.add(file)).rejects.toMatchObject({ message: expect.stringMatching(/is a link/) });
});

it('refuses a link and a pipe in a folder, and copies no secret out of it', async () => {
  const { root, registry } = await openRegistry();
  const files = { 'SKILL.md': TEA.content as string, id_rsa: 'secret', '.env': 'KEY=1', '.git/config': 'x' };
  const from = tempFolder(files);
  const [skill] = (await registry.origin.add(from)).skills;
  expect(skill?.files.map(({ path }) => path)).toEqual(['SKILL.md']);
  execFileSync('mkfifo', [join(from, 'pipe')]);
  await expect(registry.origin.add(from)).rejects.toMatchObject({
    message: expect.stringMatching(/"pipe" is no file/),
  });
  const other = tempFolder(files);
  symlinkSync('/etc/passwd', join(other, 'users'));
  await expect(registry.origin.add(other)).rejects.toMatchObject({
    message: expect.stringMatching(/"users" is a link/),
  });
  expect(Object.keys(treeOf(root))).toEqual([]);
});

it('says what to do about a repository that wants a user name', async () => {
  const { registry } = await openRegistry();
  const url = await serve((_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="a"' }).end());
  const credentials = { code: 'ORIGIN_UNAVAILABLE', message: expect.stringMatching(/credential helper.*ssh: address/) };
  await expect(registry.origin.add(`${url}/a.git`)).rejects.toMatchObject(credentials);
  await expect(registry.origin.add(`${url.replace('//', '//ada:wrong@')}/a.git`)).rejects.toMatchObject(credentials);
});

it('asks nobody at a terminal for the user name of a repository (needs script(1))', async () => {
  const url = await serve((_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="a"' }).end());
  const running = startOnTerminal(['add', `${url}/a.git`], { cwd: tempFolder({ 'skills/x.md': '' }) }, 400);
  await running.until('credential helper');
  expect(running.stdout()).not.toContain('Username');
});
