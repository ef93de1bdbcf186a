import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { httpClient, serveRegistry } from '../helpers/mcp.ts';
import { startCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const MANY = Object.fromEntries(
  Array.from({ length: 150 }, (_, n) => [
    `skills/skill-${n}/SKILL.md`,
    skillMd({ name: `skill-${n}`, description: `Does ${n}.` }, 'text '.repeat(5000)),
  ]),
);

/** So many of them are in a process that uses a server over HTTP, and die together: each has connections and a subscription of its own. */
const CLIENTS = 4;

/** Clients that wait for notifications and ask and ask, until they are killed. */
const CLIENT = `
  import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
  import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
  import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
  const [kind, ...rest] = process.argv.slice(1);
  const listChanged = { prompts: { autoRefresh: false, onChanged() {} } };
  const transports = kind === 'http'
    ? Array.from({ length: ${CLIENTS} }, () => new StreamableHTTPClientTransport(new URL(rest[0])))
    : [new StdioClientTransport({ command: process.execPath, args: rest, stderr: 'ignore' })];
  await Promise.all(transports.map(async (transport) => {
    const client = new Client({ name: 'victim', version: '1' }, { listChanged, versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(transport);
    const skills = new SkillsClient(client);
    const ask = async () => { for (;;) await Promise.all([skills.list(), client.listPrompts({}, { cacheMode: 'refresh' })]); };
    for (let n = 0; n < 4; n++) void ask();
  }));
  console.log('busy ' + (transports[0].pid ?? ''));
`;

/** Starts clients and waits until they are in the middle of their requests. @returns what it printed. */
async function startClients(
  args: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly printed: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', CLIENT, ...args], {
    cwd: packageRoot(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (data) => {
    printed += String(data);
  });
  await waitFor('the clients to be busy', () => printed.includes('\n'), 60_000);
  return { child, printed };
}

function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  return gone;
}

/** What a process has open: files by path, sockets all alike. */
function openIn(pid: number | undefined): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((descriptor) => {
    try {
      return [readlinkSync(join(folder, descriptor)).replace(/^socket:.*/, 'socket')];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}

const socketsOf = (open: readonly string[]): number => open.filter((name) => name === 'socket').length;

/** What is open now and was not before, or not as often. */
function added(before: readonly string[], now: readonly string[]): readonly string[] {
  const known = [...before];
  return now.filter((name) => {
    const at = known.indexOf(name);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

/** What a server that watches its skills opens a second after its start, and keeps open. */
const HISTORY = ['history.db', 'history.db-wal', 'history.db-shm', 'write.lock'];
/** What it opens when it has something to record, and keeps open. */
const USAGE = ['usage.db', 'usage.db-wal', 'usage.db-shm'];

/** One that has ended and that nobody has asked for its status has a folder in /proc, too. */
function isRunning(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

it.skipIf(process.platform !== 'linux')(
  'a server whose clients are killed in mid-request a hundred times stays up, with as many descriptors as before (Linux)',
  async () => {
    const root = tempFolder(MANY);
    const server = startCommand(['mcp', '--http', '0', '--root', root]);
    await server.until('/mcp\n', 60_000);
    const url = server.stdout().trim();
    const { pid } = server.child;
    const sockets = socketsOf(openIn(pid));
    const { child } = await startClients(['http', url]);
    await kill(child);
    const before = await waitFor(
      'the history to be open, and no socket of the client',
      () => {
        const open = openIn(pid);
        const hasHistory = HISTORY.every((name) => open.some((path) => path.endsWith(`/${name}`)));
        return hasHistory && socketsOf(open) === sockets ? open : undefined;
      },
      60_000,
    );
    for (let round = 0; round < 100 / CLIENTS; round++) {
      const clients = await startClients(['http', url]);
      await kill(clients.child);
    }
    const usage = USAGE.map((name) => join(root, 'data', 'skill_registry', name));
    const more = (): readonly string[] => {
      const now = openIn(pid);
      // Each once: a server that is quick opens them, and begins to watch, only after the first look.
      const cache = new Set(now.filter((path) => /\/(?:cache|inspections)\.db(?:-wal|-shm)?$/.test(path)));
      return added([...before, ...usage, ...cache, 'anon_inode:inotify'], now);
    };
    const isAsBefore = () => more().length === 0;
    await waitFor('everything else to be closed', isAsBefore, 60_000).catch(() => undefined);
    expect(more()).toEqual([]);
    const { skills } = await new SkillsClient(await httpClient(url)).list();
    expect(skills.map(({ uri }) => uri)).toContain('skill://skill-149/SKILL.md');
    expect(server.child.exitCode).toBeNull();
  },
);

it('no connection and no subscription outlives its client', async () => {
  const { serving } = await serveRegistry(MANY);
  for (let round = 0; round < 5; round++) {
    const { child } = await startClients(['http', serving.url]);
    await waitFor('the subscriptions', async () => (await serving.status()).subscriptions === CLIENTS, 60_000);
    await kill(child);
    await waitFor(
      'everything to be let go',
      async () => JSON.stringify(await serving.status()) === '{"connections":0,"subscriptions":0}',
      60_000,
    );
  }
});

it.skipIf(process.platform !== 'linux')('a server on stdio ends when its client is killed (Linux)', async () => {
  const main = join(packageRoot(), 'dist', 'cli', 'main.js');
  const { child, printed } = await startClients(['stdio', main, 'mcp', '--root', tempFolder(MANY)]);
  const pid = printed.trim().split(' ')[1] ?? '';
  expect(isRunning(pid)).toBe(true);
  await kill(child);
  await waitFor('the server to end', () => !isRunning(pid), 60_000);
});
