import { expect, it } from 'vitest';
import { callTool, stdioClient } from '../helpers/mcp.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }) };
const FILLER = 'x'.repeat(10 * 1024 * 1024);

it('refuses a message over the limit to the official client, which goes on with the next', async () => {
  const { client, stderr } = await stdioClient(['--root', tempFolder(TEA)]);
  await expect(callTool(client, 'read_skill', { skill_id: FILLER })).rejects.toMatchObject({
    code: -32600,
    message: expect.stringContaining('A message may have 10485760 bytes'),
  });
  expect((await callTool(client, 'read_skill', { skill_id: 'tea' })).result).toMatchObject({ success: true });
  expect(stderr()).toContain('A line of standard input was not used.');
  expect(stderr()).not.toContain('Warning');
});
