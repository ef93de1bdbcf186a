import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSession } from '../../extensions/cli_channel/session.ts';
import { delimited } from '../../lib/text/index.ts';
import { bootRoot, skill } from '../helpers/boot-root.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { startCommand } from '../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { workspace } from '../helpers/workspace.ts';

const ROWS = 'A1 A2 A4 A6 A8 A9 A11 A14 A16'.split(' ');
const LATER: readonly string[] = [];

const at = (folder: string, id: string): Tree => ({
  [`${folder}/${id}/SKILL.md`]: skillMd({ name: id, description: `Does ${id}.` }, `Body of ${id}.`),
});

it('tests every row of the list but those that belong to later work', ({ task }) => {
  const tested = new Set(task.file.tasks.map(({ name }) => name.split(' ')[0]));
  expect(ROWS.filter((id) => !tested.has(id))).toEqual(LATER);
});

it('A1 a whole workspace is searched but for .git and node_modules, and a skill is not searched for others (decision 25)', async () => {
  const hidden = { ...at('node_modules/x', 'no'), ...at('.git/x', 'nor'), ...at('skills/tea/examples', 'inner') };
  const tree = {
    ...at('skills', 'tea'),
    ...at('.ak-coder/skills', 'cup'),
    ...at('.cursor/skills', 'pot'),
    ...at('a/b/c', 'deep'),
  };
  const { registry } = await openRegistry({ ...tree, ...hidden }, { sources: [{ path: '.' }] });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['cup', 'deep', 'pot', 'tea']);
});

it('A2 what follows the frontmatter is the body (decision 2)', async () => {
  const { registry } = await openRegistry(skill('tea', {}, '# Tea\n\n---\n\nMore.'));
  expect(await registry.read('tea')).toMatchObject({ name: 'tea', content: '# Tea\n\n---\n\nMore.' });
  expect((await registry.read('tea', { view: 'raw' })).content).toMatch(/^---\nname: tea\n/);
});

it('A4 all bodies stand in every prompt when they are asked for, within the budget (decision 21)', async () => {
  const { registry } = await openRegistry({ ...skill('cup'), ...skill('tea') }, { inject: 'bodies' });
  const block = (id: string) =>
    `\n- Skill Name: ${id}\n  Description: Does ${id}.\n  Instructions:\n${delimited(`Skill: ${id}`, `Body of ${id}.`)}`;
  for (const prompt of ['one', 'two']) {
    expect(await registry.context(prompt)).toBe(`Available Skills:${block('cup')}\n${block('tea')}`);
  }
  const long = { ...skill('cup'), ...skill('tea', {}, 'word '.repeat(3000)) };
  const { registry: full } = await openRegistry(long, { inject: 'bodies' });
  const text = await full.context('tea');
  expect(text).toContain('Instructions of 1 of 2 skills are given; the others are listed.');
  expect(text).toContain('• `tea` — Does tea.');
});

it('A6 skills are read anew by /skills reload, by /new and by a write of a SKILL.md', async () => {
  const root = tempFolder({ ...skill('a'), 'data/skill_registry/config.yaml': 'watch: { mode: "off" }\n' });
  const running = startCommand(['start', '--root', root]);
  await running.until('Type /help');
  const type = (line: string): void => void running.child.stdin?.write(`${line}\n`);
  writeTree(root, skill('b'));
  type('/context x');
  await running.until('=== 2 parts');
  expect(running.stdout()).not.toContain('`b` — Does b.');
  type('/skills reload');
  await running.until('Reloaded ');
  type('/context x');
  await running.until('`b` — Does b.');
  writeTree(root, skill('c'));
  type('/new');
  await running.until('New conversation.');
  type('/context x');
  await running.until('`c` — Does c.');
  running.child.stdin?.end();
  expect(await running.exited).toBe(0);

  const { call, registry } = await workspace({}, { writes: { create: 'allow', update: 'allow' } });
  const content = skillMd({ name: 'good', description: 'Written anew.' });
  await call('write_file', { path: 'skills/good/SKILL.md', content });
  expect(registry.list().skills).toMatchObject([{ description: 'Written anew.' }]);
});

it('A8 a reload replaces what was known and says how many there are', async () => {
  const { root, kernel } = await bootRoot(
    { ...skill('a'), ...skill('b') },
    { sources: [{ path: 'skills' }], watch: { mode: 'off' } },
  );
  rmSync(join(root, 'skills/a'), { recursive: true });
  writeTree(root, { ...skill('b', { description: 'Changed.' }), ...skill('c') });
  expect(await kernel.runCommand('/skills reload', {})).toEqual({ kind: 'print', text: 'Reloaded 2 skill(s).' });
  const { text } = (await kernel.runCommand('/skills', {})) as { text: string };
  expect(text).toContain('Changed.');
  expect(text).not.toContain('Does a.');
});

it('A9 /skills:<id> sends the instructions in the exact words, with and without arguments', async () => {
  const { kernel } = await bootRoot(skill('tea'));
  expect(await kernel.runCommand('/skills:tea green, please', {})).toEqual({
    kind: 'send',
    message: 'Apply Skill "tea" with arguments: "green, please"\n\nInstructions:\nBody of tea.',
  });
  expect(await kernel.runCommand('/skills:tea', {})).toEqual({
    kind: 'send',
    message: 'Apply Skill "tea".\n\nInstructions:\nBody of tea.',
  });
});

it('A11 the line is completed with /skills reload and every /skills:<id>, base commands first and none twice', async () => {
  const { kernel } = await bootRoot({ ...skill('tea'), ...skill('cup') }, { sources: [{ path: 'skills' }] });
  const session = createSession({
    kernel,
    agentId: 'orchestrator_agent',
    write: () => {},
    onNewConversation: () => {},
  });
  expect(session.complete('/skills')[0]).toEqual(['/skills', '/skills reload', '/skills:cup', '/skills:tea']);
  expect(session.complete('/skills:t')[0]).toEqual(['/skills:tea']);
  const names = kernel.commands().map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.indexOf('quit')).toBeLessThan(names.indexOf('skills'));
  expect(kernel.commands().find(({ name }) => name === 'skills:tea')?.description).toBe('Does tea.');
});

it('A14 whether a skill was invoked is seen in what the model was sent', async () => {
  const { kernel, model } = await bootRoot(skill('tea'));
  const session = createSession({
    kernel,
    agentId: 'orchestrator_agent',
    write: () => {},
    onNewConversation: () => {},
  });
  await session.handle('/skills:tea');
  const said = model.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user'));
  expect(said.some(({ content }) => content?.includes('Apply Skill "tea"'))).toBe(true);
});

it('A16 a skill adds instructions and no tools, and one that is too long is named', async () => {
  const script = { 'skills/tea/scripts/run.sh': { content: '#!/bin/sh\ntouch ran\n', mode: 0o755 } };
  const { registry } = await openRegistry({
    ...skill('tea', { 'allowed-tools': 'Bash' }, 'word '.repeat(9000)),
    ...script,
  });
  expect(registry.tools().map(({ name }) => name)).toEqual([
    'list_skills',
    'read_skill',
    'read_skill_resource',
    'propose_skill_update',
  ]);
  expect(await registry.readResource('tea', 'scripts/run.sh')).toMatchObject({ content: '#!/bin/sh\ntouch ran\n' });
  await registry.admin.tokenCounts();
  expect(registry.problems().map(({ code }) => code)).toEqual(['SKILL_TOO_LONG']);
});
