import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { tarGz } from '../helpers/archives.ts';
import { gitRepository } from '../helpers/git-repository.ts';
import { openRegistry, openRoot } from '../helpers/open-registry.ts';
import { runCommand } from '../helpers/run-command.ts';
import { serveFiles, serveGit } from '../helpers/serve.ts';
import { ADA, LONGER, TEA } from '../helpers/tea.ts';
import { tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { treeOf } from '../helpers/tree-of.ts';

it('installs, restores and updates over the smart protocol of git', async () => {
  const repository = gitRepository({ 'skills/tea/SKILL.md': TEA, 'big.bin': Buffer.alloc(3_000_000, 'x') });
  const first = repository.commit({ 'skills/tea/a.md': 'a\n' });
  const url = `${await serveGit(dirname(repository.folder))}/${basename(repository.folder)}/.git`;
  const { root, registry } = await openRegistry();
  await (await registry.origin.add(url)).apply(ADA);
  const lock = readFileSync(join(root, 'skills-lock.json'), 'utf8');
  expect(JSON.parse(lock).skills.tea).toMatchObject({ sourceUrl: url, registry: { commit: first } });
  repository.commit({ 'skills/tea/SKILL.md': LONGER });

  const other = tempFolder({ 'skills-lock.json': lock });
  const second = await openRoot(other);
  await (await second.origin.restore()).apply(ADA);
  expect(treeOf(join(other, 'skills'))).toEqual(treeOf(join(root, 'skills')));
  await (await second.origin.update()).apply(ADA);
  expect(readFileSync(join(other, 'skills/tea/SKILL.md'), 'utf8')).toBe(LONGER);
});

it.each(['sha1', 'sha256'] as const)('takes skills of a repository that names its contents by %s', async (format) => {
  const repository = gitRepository({ 'tea/SKILL.md': TEA }, format);
  const first = repository.git('rev-parse', 'HEAD');
  const { root, registry } = await openRegistry();
  vi.stubEnv('GIT_DEFAULT_HASH', format === 'sha1' ? 'sha256' : 'sha1');
  onTestFinished(() => void vi.unstubAllEnvs());
  await (await registry.origin.add(repository.url)).apply(ADA);
  const lock = readFileSync(join(root, 'skills-lock.json'), 'utf8');
  expect(JSON.parse(lock).skills.tea).toMatchObject({ registry: { commit: first } });
  repository.commit({ 'tea/SKILL.md': LONGER });
  const other = await openRoot(tempFolder({ 'skills-lock.json': lock }));
  await (await other.origin.restore()).apply(ADA);
  expect(await other.origin.verify()).toMatchObject([{ state: 'same' }]);
  expect((await other.origin.update()).skills).toMatchObject([{ state: 'outdated' }]);
});

/** A registry of npm on loopback with one package. */
async function npmRegistry(
  versions: Readonly<Record<string, Buffer>>,
  tags: Readonly<Record<string, string>>,
  digestOf = (bytes: Buffer): string => createHash('sha512').update(bytes).digest('base64'),
) {
  const url: string = await serveFiles((path) => {
    const tarball = versions[/^\/tea-skills\/-\/(.*)\.tgz$/.exec(path)?.[1] ?? ''];
    if (tarball) return tarball;
    if (path !== '/tea-skills') return undefined;
    const described = Object.entries(versions).map(([version, bytes]) => {
      const integrity = `sha512-${digestOf(bytes)}`;
      const dist = { tarball: `${url}/tea-skills/-/${version}.tgz`, integrity };
      return [version, { name: 'tea-skills', version, dist }];
    });
    return JSON.stringify({ name: 'tea-skills', 'dist-tags': tags, versions: Object.fromEntries(described) });
  });
  return url;
}

it('takes a package by version, range and tag, from the registry of the person alone, and runs no script of it', async () => {
  const mark = join(tempFolder(), 'it-ran');
  const scripts = Object.fromEntries(
    ['preinstall', 'install', 'postinstall', 'prepare', 'prepack', 'postpack', 'prepublish'].map((name) => [
      name,
      `touch ${mark}`,
    ]),
  );
  const packageOf = (version: string, text: string): Buffer =>
    tarGz([
      { path: 'package/package.json', content: JSON.stringify({ name: 'tea-skills', version, scripts }) },
      { path: 'package/skills/tea/SKILL.md', content: text },
      { path: 'package/.npmrc', content: 'ignore-scripts=false\n' },
    ]);
  const url = await npmRegistry(
    { '1.0.0': packageOf('1.0.0', TEA), '1.1.0': packageOf('1.1.0', LONGER), '2.0.0': packageOf('2.0.0', TEA) },
    { latest: '2.0.0', next: '1.1.0' },
  );
  // What a folder above says of registries and scripts does not count, and neither does the root.
  const elsewhere = { '.npmrc': 'registry=http://127.0.0.1:1/\nignore-scripts=false\n', 'package.json': '{}' };
  vi.stubEnv('npm_config_userconfig', join(tempFolder({ npmrc: `registry=${url}\n` }), 'npmrc'));
  vi.stubEnv('npm_config_registry', undefined);
  vi.stubEnv('npm_config_cache', tempFolder());
  vi.stubEnv('TMPDIR', tempFolder(elsewhere));
  onTestFinished(() => void vi.unstubAllEnvs());
  const { root, registry } = await openRegistry(elsewhere);
  const shown = async (what: string) => (await registry.origin.add(what)).skills;
  for (const what of ['npm:tea-skills', 'npm:tea-skills@2.0.0', 'npm:tea-skills@~1.0'])
    expect(await shown(what), what).toMatchObject([{ id: 'tea' }]);
  const plan = await registry.origin.add('npm:tea-skills@^1.0.0');
  await plan.apply(ADA);
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(LONGER);
  const lock = readFileSync(join(root, 'skills-lock.json'), 'utf8');
  expect(JSON.parse(lock).skills.tea).toMatchObject({ source: 'npm:tea-skills@^1.0.0', version: '1.1.0' });
  await expect(registry.origin.add('npm:tea-skills@9')).rejects.toMatchObject({ code: 'ORIGIN_UNAVAILABLE' });
  const other = await openRoot(tempFolder({ 'skills-lock.json': lock }));
  await (await other.origin.restore()).apply(ADA);
  expect(await other.origin.verify()).toMatchObject([{ state: 'same' }]);
  expect(existsSync(mark)).toBe(false);
});

it('says why npm gives no package: its registry is away, or sends other bytes than it says', {
  timeout: 300_000,
}, async () => {
  const bytes = tarGz([{ path: 'package/skills/tea/SKILL.md', content: TEA }]);
  const lying = await npmRegistry({ '1.0.0': bytes }, { latest: '1.0.0' }, () => Buffer.alloc(64).toString('base64'));
  const { registry } = await openRegistry();
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [url, why] of [
    ['http://127.0.0.1:1/', /ECONNREFUSED/],
    [lying, /integrity/i],
  ] as const) {
    vi.stubEnv('npm_config_registry', url);
    vi.stubEnv('npm_config_cache', tempFolder());
    await expect(registry.origin.add('npm:tea-skills')).rejects.toMatchObject({
      code: 'ORIGIN_UNAVAILABLE',
      message: expect.stringMatching(why),
    });
  }
});

it('unpacks a bomb no further than its limit', async () => {
  const file = join(tempFolder(), 'bomb.tar.gz');
  const zeros = { path: 'tea/zeros', content: Buffer.alloc(600 * 1024 * 1024) };
  writeTree(dirname(file), { 'bomb.tar.gz': tarGz([{ path: 'tea/SKILL.md', content: TEA }, zeros]) });
  const root = tempFolder();
  expect(await runCommand(['add', file, '--yes'], { cwd: root })).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/more than 536870912 bytes, unpacked/),
  });
  expect(Object.keys(treeOf(root))).toEqual([]);
});

it('runs nothing of a repository: no hook, no filter, no submodule, no attribute, and follows no link', async () => {
  const mark = join(tempFolder(), 'it-ran');
  const run = `touch ${mark}`;
  const repository = gitRepository({
    'tea/SKILL.md': TEA,
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

it('says that a repository has no such commit, and refuses a name in it that is no text', async () => {
  const repository = gitRepository({ 'tea/SKILL.md': TEA });
  const { registry } = await openRegistry();
  for (const commit of ['0123456789', '0'.repeat(40)])
    await expect(registry.origin.add(`${repository.url}#${commit}`)).rejects.toMatchObject({
      code: 'ORIGIN_UNAVAILABLE',
      message: expect.stringContaining(`it has no commit "${commit}"`),
    });
  writeFileSync(
    Buffer.concat([Buffer.from(`${repository.folder}/tea/b`), Buffer.from([0xe4]), Buffer.from('d.md')]),
    '',
  );
  repository.commit({});
  await expect(registry.origin.add(repository.url)).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringContaining('is no UTF-8 text'),
  });
});

it('refuses a link and a submodule in a repository', async () => {
  const { registry } = await openRegistry();
  const linked = gitRepository({ 'tea/SKILL.md': TEA, 'tea/users': { link: '/etc/passwd' } });
  await expect(registry.origin.add(linked.url)).rejects.toMatchObject({
    message: expect.stringMatching(/"users" is a link/),
  });
  const inner = gitRepository({ 'x.md': 'x' });
  const outer = gitRepository({ 'tea/SKILL.md': TEA });
  outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.url, 'tea/inner');
  outer.commit({});
  await expect(registry.origin.add(outer.url)).rejects.toMatchObject({
    message: expect.stringMatching(/"inner" is no file/),
  });
});
