import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../helpers/boot-root.ts';
import { httpClient, serveRegistry } from '../helpers/mcp.ts';
import { runCommand } from '../helpers/run-command.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

it('a draft is in no block of `prompt` until its last FILL is replaced, which is said', async () => {
  const cwd = tempFolder(skill('tea'));
  expect((await runCommand(['new', 'mug', '--skills', 'skills'], { cwd })).status).toBe(0);
  const draft = await runCommand(['prompt', 'skills/mug', 'skills/tea'], { cwd });
  expect(draft.stdout.match(/<name>\n.*/g)).toEqual(['<name>\ntea']);
  expect(draft.stderr).toMatch(/^skills\/mug is left out\. Models do not see this skill: it is a draft/);
  const json = await runCommand(['prompt', 'skills/mug', '--json'], { cwd });
  expect(JSON.parse(json.stdout)).toEqual({ prompt: '<available_skills>\n</available_skills>' });
  const done = '---\nname: mug\ndescription: Holds tea.\nmetadata:\n  draft: "true"\n---\nHold it.\n';
  writeFileSync(join(cwd, 'skills/mug/SKILL.md'), done);
  const whole = await runCommand(['prompt', 'skills/mug'], { cwd });
  expect(whole).toMatchObject({ stdout: expect.stringContaining('<name>\nmug\n'), stderr: '' });
});

it('a draft is no prompt over MCP', async () => {
  const draft = skill('mug', { metadata: '{ draft: "true" }' }, 'FILL in what it does.');
  const { serving } = await serveRegistry({ ...skill('tea'), ...draft });
  const client = await httpClient(serving.url);
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['tea']);
  await expect(client.getPrompt({ name: 'mug' })).rejects.toThrow('No prompt "mug"');
});
