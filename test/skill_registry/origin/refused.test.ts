import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PackedEntry, tarGz, zip } from '../../helpers/archives.ts';
import { gitRepository } from '../../helpers/git-repository.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { ADA } from '../../helpers/tea.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';
import { treeOf } from '../../helpers/tree-of.ts';

const TEA: PackedEntry = { path: 'tea/SKILL.md', content: skillMd({ name: 'tea', description: 'Brews tea.' }) };
const MEBIBYTE = 1024 * 1024;

/** What an archive must not hold, and what is said of it. */
const EVIL: readonly (readonly [string, readonly PackedEntry[], RegExp])[] = [
  ['a link', [TEA, { path: 'tea/key', type: 'SymbolicLink', leadsTo: '/root/.ssh/id_rsa' }], /"key" is a link/],
  ['a link to a folder', [TEA, { path: 'tea/a', type: 'SymbolicLink', leadsTo: '..' }], /"a" is a link/],
  ['a device', [TEA, { path: 'tea/zero', type: 'CharacterDevice' }], /"zero" is no file/],
  ['a pipe', [TEA, { path: 'tea/pipe', type: 'FIFO' }], /"pipe" is no file/],
  ['a path with ..', [TEA, { path: 'tea/../../evil', content: 'x' }], /no path below a skill|is damaged/],
  ['an absolute path', [{ ...TEA, path: '/tea/SKILL.md' }], /no relative path|is damaged/],
  ['a path with a backslash', [TEA, { path: 'tea/a\\..\\b', content: 'x' }], /no path below a skill|is damaged/],
  ['a path with a control character', [TEA, { path: 'tea/a\u001bb', content: 'x' }], /control character/],
  [
    'two paths that are one on other systems',
    [TEA, { path: 'tea/A' }, { path: 'tea/a' }],
    /differ only in letter case/,
  ],
  ['one file twice', [TEA, { path: 'tea/a', content: '1' }, { path: 'tea/a', content: '2' }], /letter case|twice/],
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
    await expect(registry.origin.add(file)).rejects.toMatchObject({ code: 'ORIGIN_REFUSED', message: why });
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

it('runs nothing of a repository: no hook, no filter, no submodule, no attribute, and follows no link', async () => {
  const mark = join(tempFolder(), 'it-ran');
  const run = `touch ${mark}`;
  const repository = gitRepository({
    'tea/SKILL.md': TEA.content as string,
    'tea/a.txt': 'a\n',
    'tea/b.bin': 'b\r\n',
    '.gitattributes': '* filter=evil diff=evil text eol=crlf\n*.bin -text\n',
    'tea/.gitattributes': '* filter=evil export-subst ident\n',
    '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c ${JSON.stringify(run)}\n\tupdate = !${run}\n`,
    '.lfsconfig': `[lfs]\n\turl = ext::${run}\n`,
  });
  for (const [name, value] of Object.entries({
    'filter.evil.smudge': run,
    'filter.evil.clean': run,
    'filter.evil.process': run,
    'core.fsmonitor': run,
    'core.sshCommand': run,
    'uploadpack.packObjectsHook': run,
    'core.hooksPath': 'hooks',
  }))
    repository.git('config', name, value);
  for (const hook of ['post-checkout', 'pre-receive', 'post-merge', 'reference-transaction', 'post-index-change'])
    writeFileSync(join(repository.folder, '.git/hooks', hook), `#!/bin/sh\n${run}\n`, { mode: 0o755 });

  const { root, registry } = await openRegistry();
  await (await registry.origin.add(repository.url)).apply(ADA);
  expect(treeOf(join(root, 'skills/tea'))).toMatchObject({ 'a.txt': '644 a\n', 'b.bin': '644 b\r\n' });
  expect(existsSync(mark)).toBe(false);
});

it('refuses a link and a submodule in a repository', async () => {
  const { registry } = await openRegistry();
  const linked = gitRepository({ 'tea/SKILL.md': TEA.content as string, 'tea/users': { link: '/etc/passwd' } });
  await expect(registry.origin.add(linked.url)).rejects.toMatchObject({ message: /"users" is a link/ });
  const inner = gitRepository({ 'x.md': 'x' });
  const outer = gitRepository({ 'tea/SKILL.md': TEA.content as string });
  outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.url, 'tea/inner');
  outer.commit({});
  await expect(registry.origin.add(outer.url)).rejects.toMatchObject({ message: /"inner" is no file/ });
});
