import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openTrust } from '../../../../../lib/trust/index.ts';
import { scriptedServer, servedSkill } from '../../../../helpers/mcp-server.ts';
import { type RunResult, runCommand } from '../../../../helpers/run-command.ts';
import { TEA } from '../../../../helpers/tea.ts';
import { type Tree, tempFolder } from '../../../../helpers/temp-folder.ts';

/** An approved root with the skill `milk` of its own. @param source - The second one of its config. */
function house(source: string, tree: Tree = {}) {
  const root = tempFolder({
    'own/milk/SKILL.md': TEA.replace('name: tea', 'name: milk'),
    'data/skill_registry/config.yaml': `sources: [{ path: own }, ${source}]\n`,
    ...tree,
  });
  openTrust().decide({ kind: 'root', path: root, action: 'allow', by: 'person:ada' });
  const run = (...args: string[]): Promise<RunResult> =>
    runCommand(args, { cwd: root, environment: { USER: 'ada' }, trust: false });
  return { root, run, listed: async () => listOf(await run('list', '--json')) };
}

function listOf({ stdout }: RunResult) {
  const { skills, problems } = JSON.parse(stdout) as {
    skills: readonly { readonly skill_id: string }[];
    problems: readonly { readonly code: string; readonly message: string }[];
  };
  return {
    ids: skills.map((skill) => skill.skill_id).sort(),
    revoked: problems.filter(({ code }) => code === 'SOURCE_REVOKED').map(({ message }) => message),
  };
}

const TEA_PACKAGE: Tree = {
  'node_modules/@acme/teas/package.json': '{ "name": "@acme/teas" }',
  'node_modules/@acme/teas/skills/tea/SKILL.md': TEA,
};
const PACK = '{ "id": "teas", "name": "Teas", "version": "1.0.0", "prompts": {}, "skills": ["@acme/teas"] }';

const KINDS: readonly (readonly [what: string, source: string, named: string, tree: Tree])[] = [
  ['a folder', '{ path: vendor }', './vendor', { 'vendor/tea/SKILL.md': TEA }],
  ['a folder around the folder', '{ path: vendor/teas }', './vendor', { 'vendor/teas/tea/SKILL.md': TEA }],
  ['a folder in the folder', '{ path: vendor }', './vendor/teas', { 'vendor/teas/tea/SKILL.md': TEA }],
  [
    'a folder that a link leads to',
    '{ path: links }',
    './vendor',
    { 'vendor/tea/SKILL.md': TEA, 'links/tea': { link: '../vendor/tea' } },
  ],
  [
    'a folder that is named by a link',
    '{ path: vendor }',
    './other',
    { 'vendor/tea/SKILL.md': TEA, other: { link: 'vendor' } },
  ],
  ['the folder of a preset', '{ preset: claude }', './.claude/skills', { '.claude/skills/tea/SKILL.md': TEA }],
  ['a file', '{ path: vendor/tea.md }', './vendor/tea.md', { 'vendor/tea.md': TEA }],
  ['a pack', '{ pack: teas.json }', './teas.json', { 'teas.json': PACK, ...TEA_PACKAGE }],
  ['a package', '{ package: "@acme/teas" }', 'npm:@acme/teas', TEA_PACKAGE],
  ['a package that a pack names', '{ pack: teas.json }', 'npm:@acme/teas', { 'teas.json': PACK, ...TEA_PACKAGE }],
];

it.each(KINDS)(
  'gives nothing once it is revoked, until it is allowed again: %s of the config',
  async (_, source, named, tree) => {
    const { run, listed } = house(source, tree);
    expect((await listed()).ids).toEqual(['milk', 'tea']);
    const revoked = await run('trust', 'revoke', named, '--reason', 'they changed hands');
    expect(revoked.status).toBe(0);
    expect(revoked.stderr).toContain('is revoked: nothing is taken from it any more');
    const without = await listed();
    expect(without.ids).toEqual(['milk']);
    expect(without.revoked).toEqual([expect.stringContaining('they changed hands')]);
    expect((await run('show', 'tea')).status).toBe(1);
    const [, again = ''] = /skill-registry approvals allow ("[^"]+")/.exec(without.revoked[0] ?? '') ?? [];
    expect((await run('trust', 'allow', JSON.parse(again) as string)).status).toBe(0);
    expect(await listed()).toEqual({ ids: ['milk', 'tea'], revoked: [] });
  },
);

it('starts no program that is revoked, named as in the config or as trust list shows it', async () => {
  const program = 'require("node:fs").writeFileSync("started", "")';
  const { root, run, listed } = house('{ mcp: { command: [node, server.cjs], args: [--key, hunter2] }, id: far }', {
    'server.cjs': program,
  });
  const started = () => existsSync(join(root, 'started'));
  const revoked = await run('trust', 'revoke', 'mcp:node server.cjs --key hunter2');
  expect(revoked.stderr).toMatch(/^mcp:node#[\da-f]{8} is revoked/);
  expect(revoked.stderr).toContain('In the config it is far.');
  expect((await listed()).revoked).toHaveLength(1);
  expect(started()).toBe(false);
  const shown = await run('trust', 'list', '--json');
  expect(shown.stdout).not.toContain('hunter2');
  const { sources } = JSON.parse(shown.stdout) as { sources: readonly { source: string; in_config: string[] }[] };
  expect(sources.map(({ in_config }) => in_config)).toEqual([['far']]);
  await run('trust', 'allow', sources[0]?.source ?? '');
  await listed();
  expect(started()).toBe(true);
});

it.each(['', '/', '?key=x'])('asks no MCP server at an address that is revoked with "%s" at its end', async (end) => {
  // The server of a later test may get the same port.
  vi.stubEnv('XDG_STATE_HOME', tempFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await scriptedServer([servedSkill('tea')]);
  const { origin } = new URL(server.url);
  const { run, listed } = house(`{ mcp: { url: "${server.url}" } }`);
  const path = new URL(server.url).pathname.replace(/\/$/, '');
  await run('trust', 'revoke', `${origin}${path}${end}`);
  expect((await listed()).revoked).toHaveLength(1);
  expect(server.requests).toEqual([]);
});

it('says when nothing here is called as what was revoked, and when processes go on with it', async () => {
  const { run } = house('{ path: vendor }', { 'vendor/tea/SKILL.md': TEA });
  expect((await run('trust', 'revoke', 'npm:nothing')).stderr).toContain(
    'Neither the config nor the lock of this root names it',
  );
  expect((await run('trust', 'revoke', './vendor')).stderr).toContain(
    'What runs now (start, mcp, review) goes on as before until it is started again.',
  );
  const missing = await run('trust', 'revoke', './vendro');
  expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('ROOT_NOT_APPROVED') });
});

it('lets a nearer folder be allowed', async () => {
  const { run, listed } = house('{ path: vendor }', {
    'vendor/tea/SKILL.md': TEA,
    'vendor/cup/SKILL.md': TEA.replace('name: tea', 'name: cup'),
  });
  await run('trust', 'revoke', './vendor/cup');
  await run('trust', 'revoke', './vendor');
  await run('trust', 'revoke', './vendor/tea');
  await run('trust', 'allow', './vendor/tea');
  expect((await listed()).ids).toEqual(['milk']);
  await run('trust', 'allow', './vendor');
  expect((await listed()).ids).toEqual(['milk', 'tea']);
});
