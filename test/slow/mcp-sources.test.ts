import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { loadedModules } from '../helpers/loaded-modules.ts';
import { scriptedServer, servedSkill } from '../helpers/mcp-server.ts';
import { briefProblems, openRoot } from '../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const MAIN = join(packageRoot(), 'dist', 'cli', 'main.js');

const skill = (id: string): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Does ${id}.` }, `Body of ${id}.`),
  [`skills/${id}/leaf.png`]: Uint8Array.from([0x89, 0x50, 0xff, 0x00]),
});

/** A folder with a skill, and a program that serves it: every process that runs it is written down. */
function servable(id: string): {
  readonly root: string;
  readonly server: string;
  readonly pids: () => readonly number[];
} {
  const root = tempFolder(skill(id));
  const [server, log] = [join(root, 'server.mjs'), join(root, 'pids.log')];
  writeTree(root, {
    'server.mjs': `import { appendFileSync } from 'node:fs';
      appendFileSync(${JSON.stringify(log)}, process.pid + '\\n');
      const write = process.stderr.write.bind(process.stderr);
      process.stderr.write = (text, ...rest) => (appendFileSync(${JSON.stringify(`${log}.err`)}, text), write(text, ...rest));
      process.stderr.write('Much is said at the start.\\n'.repeat(20_000));
      process.argv.push('mcp', '--trust', '--root', ${JSON.stringify(root)});
      await import(${JSON.stringify(MAIN)});`,
  });
  const pids = (): readonly number[] =>
    existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').map(Number) : [];
  onTestFinished(() => {
    for (const pid of pids().filter(isRunning)) process.kill(pid, 'SIGKILL');
  });
  return { root, server, pids };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const sourceOf = (server: string) => ({ id: 'far', mcp: { command: [process.execPath, server] } });
const names = ({ snapshot }: Pick<SkillRegistry, 'snapshot'>): readonly string[] => [
  ...snapshot().byQualifiedId.keys(),
];

it('starts a server, hears of its changes, starts it again when it has died, and ends it with the registry', async () => {
  const { root, server, pids } = servable('tea');
  const registry = await createSkillRegistry({
    ...{ root: tempFolder(), cache: 'memory', config: { sources: [sourceOf(server)] } },
  });
  await waitFor('the first list', () => names(registry).length > 0);
  expect([registry.problems(), names(registry)]).toEqual([[], ['far:tea']]);
  expect((await registry.read('tea')).content).toBe('Body of tea.');
  expect((await registry.readResource('tea', 'leaf.png')).encoding).toBe('base64');
  // Nothing here watches or refreshes: the server tells.
  writeTree(root, skill('cup'));
  await waitFor('the new skill', () => names(registry).includes('far:cup'));
  const [first = 0] = pids();
  process.kill(first, 'SIGKILL');
  await waitFor('the end of the server', () => !isRunning(first));
  expect(names(registry)).toEqual(['far:cup', 'far:tea']);
  expect((await registry.read('cup')).content).toBe('Body of cup.');
  expect(pids()).toHaveLength(2);
  await registry.close();
  expect(pids().filter(isRunning)).toEqual([]);
});

it('says why a program is no server, and tries it again less and less often', async () => {
  const root = tempFolder({
    'broken.mjs':
      "import { appendFileSync } from 'node:fs'; appendFileSync('runs', 'x'); throw new Error('no such thing');",
  });
  const registry = await openRoot(root, {
    config: {
      sources: [
        { id: 'broken', mcp: { command: process.execPath, args: ['broken.mjs'] } },
        { id: 'absent', mcp: { command: 'no-such-program-anywhere' } },
      ],
    },
  });
  const messages = registry.problems().map(({ code, message }) => `${code} ${message}`);
  expect(messages).toEqual([
    expect.stringMatching(/^MCP_SERVER_FAILED .*"broken".*; it wrote: Error: no such thing/),
    expect.stringMatching(/^MCP_SERVER_FAILED .*"absent".*ENOENT/),
  ]);
  const runs = readFileSync(join(root, 'runs'), 'utf8').length;
  for (let refresh = 0; refresh < 20; refresh++) await registry.refresh();
  expect(readFileSync(join(root, 'runs'), 'utf8')).toHaveLength(runs);
});

it('ends a registry that is its own server with a problem, over one hop and over two', async () => {
  const [one, other] = [servable('tea'), servable('cup')];
  const configOf = (server: string): Tree => ({
    'data/skill_registry/config.yaml': JSON.stringify({ sources: [{ path: 'skills' }, sourceOf(server)] }),
  });
  const open = (root: string, server: string) =>
    openRoot(root, { config: { sources: [{ path: 'skills' }, sourceOf(server)] } });

  writeTree(one.root, configOf(one.server));
  const alone = await open(one.root, one.server);
  expect([briefProblems(alone.problems(), one.root), names(alone)]).toEqual([
    [`MCP_CIRCLE ${process.execPath}`],
    ['skills:tea'],
  ]);
  await alone.close();
  expect(one.pids()).toHaveLength(1);

  writeTree(one.root, configOf(other.server));
  writeTree(other.root, configOf(one.server));
  const first = await open(one.root, other.server);
  await waitFor('the skills of the other', () => names(first).includes('far:cup'));
  expect([first.problems(), names(first)]).toEqual([[], ['skills:tea', 'far:cup']]);
  await waitFor('the problem of the second', () =>
    readFileSync(join(other.root, 'pids.log.err'), 'utf8').includes('uses this one'),
  );
  for (let refresh = 0; refresh < 3; refresh++) await first.refresh();
  expect([one.pids().length, other.pids().length]).toEqual([2, 1]);
  await first.close();
  await waitFor('the end of all', () => [...one.pids(), ...other.pids()].filter(isRunning).length === 0);
});

it('keeps no process running, neither its own nor that of a server', async () => {
  const { server, pids } = servable('tea');
  const address = await scriptedServer([servedSkill('cup')]);
  const sources = JSON.stringify([sourceOf(server), { id: 'near', mcp: { url: address.url } }]);
  const program = `const { createSkillRegistry } = await import('skill-registry');
    const registry = await createSkillRegistry({ cache: 'memory', config: { sources: ${sources} } });
    // A scan waits for a server a moment only.
    const has = (id) => registry.snapshot().byId.has(id);
    for (const until = Date.now() + 60_000; !(has('tea') && has('cup')) && Date.now() < until; await registry.refresh())
      await new Promise((done) => setTimeout(done, 20));
    await registry.read('tea');
    console.log(registry.snapshot().skills.map(({ id }) => id).join());`;
  const child = runAsync(program);
  const { status, stdout, stderr } = await child;
  expect([status, stdout.trim(), stderr]).toEqual([0, 'tea,cup', '']);
  await waitFor('the end of the server', () => pids().length === 1 && pids().filter(isRunning).length === 0);
});

it('loads nothing for MCP without such a source', () => {
  const program = `const { createSkillRegistry } = await import('skill-registry');
    const registry = await createSkillRegistry({ cache: 'memory' });
    await registry.context('x'); await registry.close()`;
  expect(loadedModules(program).filter((file) => /modelcontextprotocol|sources\/mcp\/connect/.test(file))).toEqual([]);
});

/** Runs a program with the built package. */
async function runAsync(program: string): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: packageRoot() });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (data) => {
    stdout += String(data);
  });
  child.stderr.on('data', (data) => {
    stderr += String(data);
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
}
