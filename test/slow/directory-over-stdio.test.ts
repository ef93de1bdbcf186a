import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callTool, type Era, stdioClient } from '../helpers/mcp.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const TREE = {
  'skills/brew/SKILL.md': skillMd(
    { name: 'brew', description: 'Brews tea.', 'allowed-tools': 'Read Bash(git add *)' },
    'Run scripts/brew.mjs.',
  ),
  'skills/brew/scripts/brew.mjs': 'console.log("brewed");',
};

it.each<Era>(['modern', 'legacy'])('is told over stdio, so that a script runs from any folder (%s)', async (era) => {
  const root = tempFolder(TREE);
  const { client } = await stdioClient(['--root', root], era);
  const { result } = await callTool(client, 'read_skill', { skill_id: 'brew' });
  expect(result).toMatchObject({
    directory: realpathSync(join(root, 'skills/brew')),
    allowed_tools: ['Read', 'Bash(git add *)'],
  });
  const script = join(String(result.directory), 'scripts/brew.mjs');
  expect(execFileSync(process.execPath, [script], { cwd: tempFolder(), encoding: 'utf8' })).toBe('brewed\n');
});
