import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

async function portInUse(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it.each([
  ['without a token', async () => ['--http', '0', '--host', '0.0.0.0'], 'MCP_TOKEN_MISSING'],
  ['on a port in use', async () => ['--http', `${await portInUse()}`], 'MCP_LISTEN_FAILED'],
])('says why it cannot listen %s, and nothing about the skills', async (_title, flags, code) => {
  const ids = ['one', 'two', 'three'];
  const skills = ids.map((id) => [`skills/${id}/SKILL.md`, skillMd({ name: id, description: 'Helps.' })]);
  const root = tempFolder(Object.fromEntries(skills));
  const args = ['mcp', ...(await flags()), '--root', root, '--skills', join(root, 'skills')];
  const { status, stdout, stderr } = await runCommand(args, { environment: { SKILL_MCP_TOKEN: '' } });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^skill-registry: ${code}: [^\\n]*\\n$`));
});

it.each(['--host', '--allow-host'])(
  'refuses %s without --http: on standard input and output it would do nothing',
  async (flag) => {
    const { status, stdout, stderr } = await runCommand(['mcp', flag, '127.0.0.1', '--root', tempFolder({})]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('INVALID_ARGUMENT: --host and --allow-host are for HTTP: give --http <port>, too.');
  },
);
