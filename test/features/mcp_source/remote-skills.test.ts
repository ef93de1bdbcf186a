import { expect, it } from 'vitest';
import { scriptedServer, servedSkill } from '../../helpers/mcp-server.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

it.each([
  ['list', ['list']],
  ['list --all', ['list', '--all']],
  ['doctor', ['doctor']],
  ['show', ['show', 'tea']],
])(
  'skills of a server are neither held nor “not inspected” for %s: their source inspects what it fetches',
  async (_, args) => {
    const server = await scriptedServer([servedSkill('tea', { 'scripts/a.sh': 'echo\n' })]);
    const config = `sources:\n  - mcp:\n      url: ${server.url}\n    id: pantry\n`;
    const root = tempFolder({ 'data/skill_registry/config.yaml': config });
    const { status, stdout, stderr } = await runCommand([...args, '--root', root]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringMatching(/held|inspected/i) });
    expect(stdout).toMatch(args[0] === 'doctor' ? /^1 skill\n/ : /tea/);
    expect(stdout).not.toMatch(/held|inspected/i);
  },
);
