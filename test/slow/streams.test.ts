import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand, startCommand, startOnTerminal } from '../helpers/run-command.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js');
const never = `export class Never {
  initialize() { return new Promise(() => {}); } async start() {} async stop() {} async destroy() {} healthCheck() { return true; }
}`;
const extension = (id: string, name: string, code: string) => ({
  [`extensions/${id}/manifest.yaml`]: `id: ${id}\nname: X\nversion: 1.0.0\nentrypoint: main:${name}\n`,
  [`extensions/${id}/main.js`]: code,
});

/** Runs a line of the shell. */
function shell(line: string): Promise<{ status: number | null; stderr: string }> {
  const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stderr })));
}

it('is content with a reader that has had enough, and says when it cannot write', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }) });
  const list = `'${process.execPath}' '${MAIN}' list --json --root '${root}'`;
  expect((await shell(`${list} | true`)).stderr).not.toContain('Error');
  if (!existsSync('/dev/full')) return;
  const full = await shell(`${list} > /dev/full`);
  expect(full.status).toBe(1);
  expect(full.stderr).toContain('cannot write: ENOSPC');
});

it('does all of its work, and has its own exit status, where the reader is gone before the first line', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': skillMd({ name: 'Green Tea', description: 'Tea.' }) });
  const command = (args: string) => shell(`'${process.execPath}' '${MAIN}' ${args} 2>&1 | true`);
  expect((await command(`validate '${root}/skills'`)).status).toBe(1);
  expect((await command(`doctor --fix --yes --trust --root '${root}'`)).status).toBe(0);
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toContain('name: tea\n');
});

it.each(['start', 'mcp'])(
  'ends %s when nobody reads what it writes any more, though there is more to answer',
  async (name) => {
    const root = tempFolder({ 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }) });
    await shell(
      `yes '{"jsonrpc":"2.0","id":1,"method":"ping"}' | '${process.execPath}' '${MAIN}' ${name} --root '${root}' | true`,
    );
  },
);

it('takes the global options before the command as well', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }) });
  const { stdout } = await runCommand(['--root', root, '--json', 'list']);
  expect(JSON.parse(stdout).skills[0].skill_id).toBe('tea');
});

it('names a flag that leads nowhere, and flags that exclude each other', async () => {
  const missing = await runCommand(['list', '--skills', 'nowhere'], { cwd: tempFolder() });
  expect(missing).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('--skills nowhere') });
  expect((await runCommand(['show', 'x', '--raw', '--resource', 'a'], { cwd: tempFolder() })).status).toBe(2);
});

it('stops in order on a signal that comes while an extension still starts, and says whom it waits for', async () => {
  const running = startCommand(['start', '--root', tempFolder(extension('never', 'Never', never))]);
  await running.untilStderr('never: takes long to start: waiting for its initialize');
  running.child.kill('SIGTERM');
  expect(await running.exited).toBe(0);
});

it('goes on when an extension throws in a timer, and names it', async () => {
  const bomb = `export class Bomb {
    async initialize() {} async start() { setTimeout(() => { throw new Error('tick'); }, 50); }
    async stop() {} async destroy() {} healthCheck() { return true; }
  }`;
  const running = startCommand(['start', '--root', tempFolder(extension('bomb', 'Bomb', bomb))]);
  await running.untilStderr('extension "bomb" failed outside of any call');
  running.child.stdin?.end('/extensions\n');
  expect(await running.exited).toBe(0);
  expect(running.stdout()).toContain('bomb  RUNNING');
});

it('says which command gave no result, and goes on', async () => {
  const odd = `export class Odd {
    async initialize() {} async start() {} async stop() {} async destroy() {} healthCheck() { return true; }
    getCommands() { return [{ name: 'odd', description: '', execute: async () => ({ kind: 'zzz' }) }]; }
  }`;
  const { status, stdout } = await runCommand(['start', '--root', tempFolder(extension('odd', 'Odd', odd))], {
    input: '/odd\n/extensions\n',
  });
  expect(status).toBe(1);
  expect(stdout).toContain('COMMAND_FAILED: /odd of extension "odd" failed');
  expect(stdout).toContain('odd  RUNNING');
});

it('applies a skill whose id holds a blank', async () => {
  const model = await scriptedModel([{ text: 'ok' }]);
  const root = tempFolder({ 'skills/green tea/SKILL.md': skillMd({ description: 'Tea.' }, 'Boil.') });
  await runCommand(['start', '--root', root], { input: '/skills:green tea now\n', environment: model.environment });
  expect(model.requests[0]?.messages.at(-1)?.content).toBe(
    'Apply Skill "green tea" with arguments: "now"\n\nInstructions:\nBoil.',
  );
});

it.skipIf(!existsSync('/usr/bin/script'))(
  'leaves at once on /quit in the middle of a turn (needs script(1))',
  async () => {
    const model = await scriptedModel([{ hangAfter: 'thinking ' }]);
    const running = startOnTerminal(['start', '--root', tempFolder()], { environment: model.environment });
    await running.until('> ');
    running.child.stdin?.write('hello\r');
    await running.until('thinking');
    running.child.stdin?.write('/quit\r');
    expect(await running.exited).toBe(0);
  },
);
