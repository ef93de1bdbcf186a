import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { gitRepository } from '../helpers/git-repository.ts';
import { openRoot } from '../helpers/open-registry.ts';
import { servePage } from '../helpers/page-server.ts';
import { runCommand, startCommand } from '../helpers/run-command.ts';
import { LONGER, TEA } from '../helpers/tea.ts';
import { skillMd, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { treeOf } from '../helpers/tree-of.ts';
import { waitFor } from '../helpers/wait-for.ts';

const DOC = readFileSync(join(import.meta.dirname, '../../docs/teams.md'), 'utf8');
const NO_CADDY = 'caddy is not installed here: apt-get install caddy';
const HAS_CADDY = spawnSync('caddy', ['version']).status === 0;

/** The block of docs/teams.md that begins so. */
function shown(start: string): string {
  const block = DOC.split('```').find((one) => one.replace(/^\w*\n/, '').startsWith(start));
  if (block === undefined) throw new Error(`docs/teams.md has no block that begins with ${start}`);
  return block.replace(/^\w*\n/, '');
}

describe('a git repository with pull requests', () => {
  const config = 'sources: [{ path: skills }]\n';

  async function team() {
    vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
    for (const who of ['AUTHOR', 'COMMITTER']) {
      vi.stubEnv(`GIT_${who}_NAME`, 'Ada');
      vi.stubEnv(`GIT_${who}_EMAIL`, 'ada@example.com');
    }
    onTestFinished(() => void vi.unstubAllEnvs());
    const tree = {
      'skills/tea/SKILL.md': TEA,
      'data/skill_registry/config.yaml': config,
      '.gitignore': shown('data/*'),
    };
    const origin = gitRepository(tree);
    origin.git('config', 'receive.denyCurrentBranch', 'ignore');
    const clone = (): string => {
      const folder = join(tempFolder(), 'team');
      execFileSync('git', ['clone', '--quiet', origin.folder, folder]);
      return folder;
    };
    const git = (cwd: string, ...args: readonly string[]): string =>
      execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
    const mine = clone();
    const registry = await openRoot(mine);
    const justification = 'It was weak.\n\nSigned-off-by: Eve <eve@example.com>';
    const input = { skillId: 'tea', content: LONGER, justification, author: 'agent:brewer' };
    const { proposalId } = await registry.proposals.propose(input);
    const exported = (...args: readonly string[]) =>
      runCommand(['proposals', 'export', proposalId, '--root', mine, ...args]);
    return { origin, clone, git, mine, registry, proposalId, exported };
  }

  it('lets a proposal leave as a branch, and the merge comes back with git pull', async () => {
    const { clone, git, mine, registry, proposalId, exported } = await team();
    const before = [git(mine, 'rev-parse', 'HEAD'), git(mine, 'status', '--porcelain'), git(mine, 'write-tree')];
    for (const name of ['reference-transaction', 'post-commit', 'pre-commit', 'commit-msg', 'post-index-change']) {
      writeFileSync(join(mine, '.git/hooks', name), `#!/bin/sh\ntouch ${join(mine, '.git/RAN')}\n`);
      chmodSync(join(mine, '.git/hooks', name), 0o755);
    }
    const { status, stdout, stderr } = await exported('--branch', '--json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('git push -u origin proposals/') });
    const { branch, commit, path } = JSON.parse(stdout) as Readonly<Record<'branch' | 'commit' | 'path', string>>;
    expect(path).toBe('skills/tea/SKILL.md');
    expect(existsSync(join(mine, '.git/RAN'))).toBe(false);
    expect([git(mine, 'rev-parse', 'HEAD'), git(mine, 'status', '--porcelain'), git(mine, 'write-tree')]).toEqual(
      before,
    );
    expect(git(mine, 'rev-parse', `${branch}^`)).toBe(before[0]);
    expect(git(mine, 'show', '--name-only', '--format=', commit)).toBe('skills/tea/SKILL.md');
    expect(`${git(mine, 'show', `${commit}:${path}`)}\n`).toBe(LONGER);
    // What an agent wrote is no trailer.
    expect(git(mine, 'show', '--no-patch', '--format=%(trailers)', commit)).toBe('');
    expect(git(mine, 'show', '--no-patch', '--format=%B', commit)).toContain('> Signed-off-by: Eve');
    for (const name of ['reference-transaction', 'post-commit', 'pre-commit', 'commit-msg', 'post-index-change'])
      writeFileSync(join(mine, '.git/hooks', name), '#!/bin/sh\n');
    git(mine, 'push', '--quiet', '-u', 'origin', branch);
    const reviewer = clone();
    git(reviewer, 'merge', '--quiet', '--no-edit', `origin/${branch}`);
    git(reviewer, 'push', '--quiet', 'origin', 'main');
    git(mine, 'pull', '--quiet', '--ff-only', 'origin', 'main');
    await registry.refresh();
    const [merged] = await registry.proposals.list();
    expect(merged).toMatchObject({ id: proposalId, state: 'stale', conflict: '"SKILL.md" has this content already.' });
    expect((await registry.read('tea')).content).toContain('three minutes');
    const reject = ['proposals', 'reject', proposalId, '--reason', 'merged with the pull request', '--yes'];
    expect((await runCommand([...reject, '--root', mine])).status).toBe(0);
  });

  it.each([
    ['--branch=--help', /is no name of a branch/],
    ['--branch=HEAD', /is no name of a branch/],
    ['--branch=@{-1}', /is no name of a branch/],
    ['--branch=../../x', /is no name of a branch/],
    ['--branch=a b', /is no name of a branch/],
    ['--branch=x.lock', /is no name of a branch/],
    ['--branch=main', /update-ref/],
  ])('refuses the name %s, and makes nothing', async (option, reason) => {
    const { git, mine, exported } = await team();
    const refs = git(mine, 'for-each-ref');
    const { status, stderr } = await exported(option);
    expect(stderr).toMatch(reason);
    expect(status).toBe(2);
    expect(git(mine, 'for-each-ref')).toBe(refs);
  });

  /** Git fetches the commit of HEAD, which is missing, and the config says by which program. */
  const hostile = (ran: string): string => `[core]
	repositoryformatversion = 1
	bare = false
	worktree = ..
	fsmonitor = "touch ${ran};"
	sshCommand = "touch ${ran};"
[extensions]
	partialClone = evil
[remote "evil"]
	url = ssh://git@host.invalid/x
	promisor = true
`;
  const MISSING = `${'1'.repeat(40)}\n`;

  it('uses no repository that a pull request brings among the skills', async () => {
    const { origin, git, mine, exported } = await team();
    const ran = join(tempFolder(), 'RAN');
    const tree = { HEAD: MISSING, config: hostile(ran), 'objects/keep': '', 'refs/heads/keep': '' };
    origin.commit(Object.fromEntries(Object.entries(tree).map(([path, text]) => [`skills/${path}`, text])));
    git(mine, 'pull', '--quiet', '--ff-only', 'origin', 'main');
    const { status, stderr } = await exported('--branch=longer');
    expect(existsSync(ran)).toBe(false);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('longer has one commit') });
    expect(git(mine, 'rev-parse', 'longer^')).toBe(git(mine, 'rev-parse', 'HEAD'));
  });

  it('fetches nothing, so that a config which came with the folder starts no program', async () => {
    const { mine, exported } = await team();
    const ran = join(tempFolder(), 'RAN');
    appendFileSync(join(mine, '.git/config'), hostile(ran));
    writeFileSync(join(mine, '.git/HEAD'), MISSING);
    const { status, stderr } = await exported('--branch');
    expect(existsSync(ran)).toBe(false);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('No branch was made') });
  });

  it('exports from a clone that has not each file, and from another working tree', async () => {
    const { origin, git, mine } = await team();
    origin.git('config', 'uploadpack.allowFilter', 'true');
    origin.commit({ old: 'old' });
    const filtered = join(tempFolder(), 'filtered');
    const clone = ['clone', '--quiet', '--filter=blob:none', '--no-checkout', origin.url, filtered];
    execFileSync('git', clone);
    git(filtered, 'checkout', '--quiet', 'HEAD', '--', 'skills', 'data');
    const linked = join(tempFolder(), 'linked');
    git(mine, 'worktree', 'add', '--quiet', '-b', 'linked', linked);
    for (const root of [filtered, linked]) {
      const registry = await openRoot(root);
      const input = { skillId: 'tea', content: LONGER, justification: 'Weak.', author: 'agent:brewer' };
      const { proposalId: id } = await registry.proposals.propose(input);
      const run = await runCommand(['proposals', 'export', id, '--branch=longer', '--root', root]);
      expect(run.stderr).toContain('longer has one commit');
      expect(git(root, 'diff-tree', '-r', '--name-only', 'longer^', 'longer')).toBe('skills/tea/SKILL.md');
    }
    expect(git(filtered, 'rev-list', '--objects', '--missing=print', 'HEAD')).toMatch(/^\?/m);
  });

  it('refuses what would take the place of a submodule, and a root outside of a repository', async () => {
    const { mine, git, registry } = await team();
    git(mine, 'update-index', '--add', '--cacheinfo', `160000,${git(mine, 'rev-parse', 'HEAD')},skills/milk`);
    git(mine, 'commit', '--quiet', '--message', 'A submodule.');
    const content = skillMd({ name: 'milk', description: 'Warms milk.' }, 'Warm it.');
    const input = { skillId: 'milk', kind: 'create', content, justification: 'New.', author: 'agent:brewer' } as const;
    const { proposalId } = await registry.proposals.propose(input);
    const args = ['proposals', 'export', proposalId, '--branch=milk', '--root', mine];
    expect((await runCommand(args)).stderr).toContain('takes the place of a file or a submodule');
    expect(git(mine, 'branch', '--list', 'milk')).toBe('');
    renameSync(join(mine, '.git'), join(tempFolder(), 'away'));
    expect((await runCommand(args)).stderr).toContain('does not lie in a git repository');
  });

  it('refuses what is not committed, what no longer applies, and a root that nobody has approved', async () => {
    const { mine, git, proposalId, exported } = await team();
    const refs = git(mine, 'for-each-ref');
    writeTree(mine, { 'skills/tea/SKILL.md': `${TEA}\nMy own line.\n` });
    expect((await exported('--branch')).stderr).toContain('is not as it was committed last');
    writeTree(mine, { 'skills/tea/SKILL.md': TEA.replace('two minutes', 'nine minutes') });
    expect((await exported('--branch')).stderr).toContain('is stale');
    const untrusted = ['proposals', 'export', proposalId, '--branch', '--root', mine];
    expect((await runCommand(untrusted, { trust: false })).stderr).toContain('Nobody has approved');
    expect(git(mine, 'for-each-ref')).toBe(refs);
  });

  it('exports a new skill, and uses no other repository that the environment names', async () => {
    const { mine, git, registry } = await team();
    const other = gitRepository({ a: 'a' });
    vi.stubEnv('GIT_DIR', join(other.folder, '.git'));
    vi.stubEnv('GIT_WORK_TREE', other.folder);
    const content = skillMd({ name: 'milk', description: 'Warms milk.' }, 'Warm it.');
    const input = { skillId: 'milk', kind: 'create', content, justification: 'New.', author: 'agent:brewer' } as const;
    const { proposalId } = await registry.proposals.propose(input);
    const run = await runCommand(['proposals', 'export', proposalId, '--branch', 'milk', '--root', mine]);
    vi.stubEnv('GIT_DIR', undefined);
    vi.stubEnv('GIT_WORK_TREE', undefined);
    expect(run.stderr).toContain('The branch milk has one commit for skills/milk/SKILL.md');
    expect(git(mine, 'show', '--name-only', '--format=', 'milk')).toBe('skills/milk/SKILL.md');
    expect(existsSync(join(mine, 'skills/milk'))).toBe(false);
    expect(other.git('branch', '--list')).toBe('* main');
  });
});

it('a page in a bucket: publish, a policy beside the index, and another machine that reads both', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': TEA,
    'skills/rum/SKILL.md': skillMd({ name: 'rum', description: 'Rum.' }),
    'policy.json': JSON.stringify({ version: 1, denied: { ids: ['rum'] } }),
  });
  const bucket = join(root, 'public');
  expect((await runCommand(['publish', '--to', bucket, '--root', root])).status).toBe(0);
  copyFileSync(join(root, 'policy.json'), join(bucket, '.well-known/agent-skills/policy.json'));
  const page = await servePage(bucket);
  const there = tempFolder({
    'data/skill_registry/config.yaml': shown('sources: [{ wellKnown').replaceAll(
      'https://skills.example.com',
      page.url,
    ),
  });
  const { stdout } = await runCommand(['list', '--root', there]);
  expect(stdout).toContain('tea');
  const listed = await openRoot(there, { config: { sources: [{ wellKnown: page.url }], policy: { from: page.url } } });
  expect(listed.visible().map(({ id }) => id)).toEqual(['tea']);
  // Publishing again keeps the policy.
  expect((await runCommand(['publish', '--to', bucket, '--root', root])).status).toBe(0);
  expect(Object.keys(treeOf(bucket))).toContain('.well-known/agent-skills/policy.json');
});

it('one server behind caddy: TLS, and each agent opens its own address with its token only', async ({ skip }) => {
  if (!HAS_CADDY && process.env.SKILL_CADDY === 'required') throw new Error(NO_CADDY);
  skip(!HAS_CADDY, NO_CADDY);
  const config = `${shown('agents:')}sources: [{ path: skills }]\n`;
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA, 'data/skill_registry/config.yaml': config });
  const added = await runCommand(['mcp', 'token', 'add', 'helper', '--json', '--root', root]);
  const { token } = JSON.parse(added.stdout) as { readonly token: string };
  const secret = 'a-long-random-text-for-this-test';
  const args = ['mcp', '--http', '0', '--allow-host', 'skills.example.com', '--root', root];
  const server = startCommand(args, { environment: { SKILL_MCP_TOKEN: secret } });
  await waitFor('its address', () => /127\.0\.0\.1:\d+/.test(server.stdout() + server.stderr()));
  const [address = ''] = /127\.0\.0\.1:\d+/.exec(server.stdout() + server.stderr()) ?? [];
  const port = await freePort();
  const home = tempFolder();
  // No certificate authority of this machine is changed, and no other port is opened.
  const options = '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n';
  const caddyfile = shown('skills.example.com {')
    .replace('skills.example.com', `https://skills.example.com:${port}`)
    .replace('127.0.0.1:7337', address)
    .replace('{\n', '{\n\ttls internal\n\tbind 127.0.0.1\n');
  writeFileSync(join(home, 'Caddyfile'), options + caddyfile);
  const environment = { ...process.env, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, HOME: home };
  const caddy = spawn('caddy', ['run', '--config', join(home, 'Caddyfile')], { env: environment, stdio: 'ignore' });
  onTestFinished(() => void caddy.kill());
  const authority = join(home, 'caddy/pki/authorities/local/root.crt');
  await waitFor('its certificate', () => existsSync(authority), 30_000);
  const asks = (path: string, bearer: string) => askOverTls(port, authority, path, bearer);
  await waitFor('caddy', async () => (await asks('/mcp', 'wrong')).status !== 0, 30_000);
  expect(await asks('/agents/helper/mcp', token)).toEqual({ status: 200, text: expect.stringContaining('tea') });
  for (const [path, bearer] of [
    ['/agents/helper/mcp', 'wrong'],
    ['/agents/helper/mcp', secret],
    ['/agents/other/mcp', token],
    ['/mcp', token],
    ['/mcp', ''],
  ] as const)
    expect({ path, status: (await asks(path, bearer)).status }).toEqual({ path, status: 401 });
  expect((await asks('/mcp', secret)).status).toBe(200);
  expect((await runCommand(['mcp', 'token', 'revoke', 'helper', '--root', root])).status).toBe(0);
  expect((await asks('/agents/helper/mcp', token)).status).toBe(401);
}, 120_000);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Calls list_skills by the name of the site, with its certificate checked. Status 0: nothing answers yet. */
async function askOverTls(port: number, authority: string, path: string, bearer: string) {
  const { request } = await import('node:https');
  const params = { name: 'list_skills', arguments: {} };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(bearer && { authorization: `Bearer ${bearer}` }),
  };
  return new Promise<{ readonly status: number; readonly text: string }>((resolve) => {
    const sent = request(
      `https://skills.example.com:${port}${path}`,
      { method: 'POST', headers, ca: readFileSync(authority), lookup: here },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', ({ message }) => resolve({ status: 0, text: message }));
    sent.end(body);
  });
}

/** The site is on this machine. */
const here = ((_name: string, options: { readonly all?: boolean }, done: (...given: unknown[]) => void): void => {
  if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
}) as never;
