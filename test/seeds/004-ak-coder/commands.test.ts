import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { invokeSkill, skillInvoked, withSkill } from 'skill-registry/testing';
import { beforeAll, expect, it } from 'vitest';
import { type BootedRoot, bootRoot, skill } from '../../helpers/boot-root.ts';
import { startCommand } from '../../helpers/run-command.ts';
import { runKernelTool } from '../../helpers/run-registry-tool.ts';
import { atEndOfSuite, skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { extension } from '../../kernel/boot/boot-extensions.ts';

/** An extension that hands the registry of the kernel to this file, and adds a command. */
const HAND = extension(
  'hand',
  'depends_on: [skill_registry]',
  `async start() { globalThis.handedRegistry = this.context.getExtension('skill_registry').registry; }
   getCommands() {
     return [{ name: 'brew', description: 'Brews.', execute: async () => ({ kind: 'print', text: 'Brewed.' }) }];
   }`,
);

const atEnd = atEndOfSuite();
let booted: BootedRoot;
beforeAll(async () => {
  const tree = { ...skill('tea'), ...skill('cup'), ...skill('help'), ...HAND };
  const config = {
    sources: [{ path: 'skills' }],
    watch: { mode: 'off' },
    writes: { create: 'allow', update: 'allow' },
  };
  booted = await bootRoot(tree, config, atEnd);
});

const print = async (line: string): Promise<string> =>
  ((await booted.kernel.runCommand(line, {})) as { text: string }).text;

it('5a.6 /skills reload and /new read skills anew', async () => {
  const root = tempFolder({ ...skill('a'), 'data/skill_registry/config.yaml': 'watch: { mode: "off" }\n' });
  const running = startCommand(['start', '--root', root]);
  const type = (line: string): void => void running.child.stdin?.write(`${line}\n`);
  await running.until('Type /help');
  writeTree(root, skill('b'));
  type('/skills reload');
  await running.until('Reloaded 2');
  writeTree(root, skill('c'));
  type('/new');
  await running.until('New conversation.');
  type('/context x');
  await running.until('`c` — Does c.');
  running.child.stdin?.end();
  expect(await running.exited).toBe(0);
});

it('5a.6, 5a.7 a file tool that writes a SKILL.md answers when the skill is read anew, and says what it was', async () => {
  const content = skillMd({ name: 'cup', description: 'Written anew.' });
  const written = await runKernelTool(booted.kernel, 'write_file', { path: 'skills/cup/SKILL.md', content });
  expect(written).toMatchObject({ success: true });
  const listed = await runKernelTool(booted.kernel, 'list_skills', { query: 'cup' });
  expect(listed.skills).toMatchObject([{ skill_id: 'cup', description: 'Written anew.' }]);
});

it('5a.8, 3a.38 a reload replaces what was known and says how many there are', async () => {
  const { root } = booted;
  writeTree(root, { ...skill('pot'), ...skill('cup', { description: 'Changed.' }) });
  expect(await print('/skills reload')).toBe('Reloaded 4 skills.');
  rmSync(join(root, 'skills/pot'), { recursive: true });
  expect(await print('/skills reload')).toBe('Reloaded 3 skills.');
  expect(await print('/skills')).toContain('Changed.');
  expect(await print('/skills')).not.toContain('Does pot.');
});

it('5a.9, 3a.39, 5d.7 /skills:<id> sends the instructions in the exact words, with and without arguments', async () => {
  expect(await booted.kernel.runCommand('/skills:tea green, please', {})).toMatchObject({
    kind: 'send',
    message: 'Apply Skill "tea" with arguments: "green, please"\n\nInstructions:\nBody of tea.',
  });
  expect(await booted.kernel.runCommand('/skills:tea', {})).toMatchObject({
    kind: 'send',
    message: 'Apply Skill "tea".\n\nInstructions:\nBody of tea.',
  });
});

it('5a.10, 5d.9 /<id> applies a skill, too; a base command of that name wins, and the long form reaches the skill', async () => {
  expect(await booted.kernel.runCommand('/tea', {})).toMatchObject({ kind: 'send' });
  expect(await booted.kernel.runCommand('/help', {})).toMatchObject({ kind: 'print' });
  expect(await booted.kernel.runCommand('/skills:help', {})).toMatchObject({ kind: 'send' });
});

it('5a.11 what completes a line knows the commands of extensions, /skills reload and every /skills:<id>, none twice', async () => {
  const commands = booted.kernel.commands();
  const names = commands.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.indexOf('quit')).toBeLessThan(names.indexOf('skills'));
  expect(commands.find(({ name }) => name === 'skills')?.choices).toEqual(['reload']);
  expect(commands.find(({ name }) => name === 'skills:tea')?.description).toBe('Does tea.');
  expect(names).toContain('brew');
  expect(await print('/brew')).toBe('Brewed.');
});

it('5a.13 /skills, /help and /context show skills', async () => {
  expect(await print('/skills')).toMatch(/\ntea +\d+ +Does tea\.\n/);
  expect(await print('/help')).toContain('/skills');
  expect(await print('/context brew')).toContain('• `tea` — Does tea.');
});

it('5a.14 a test adds a skill, invokes it, and sees in the conversation that it was invoked', async () => {
  const { handedRegistry: registry } = globalThis as unknown as { handedRegistry: SkillRegistry };
  const turn = { agentId: 'orchestrator_agent', threadId: 'one' };
  const ahoy = { name: 'say-ahoy', description: 'How to greet.', instructions: 'Say Ahoy.' };
  await withSkill(registry, ahoy, () => invokeSkill(booted.kernel, 'say-ahoy', 'the crew', turn));
  const [said] = booted.model.requests.at(-1)?.messages.filter(({ role }) => role === 'user') ?? [];
  expect(said?.content).toContain('Apply Skill "say-ahoy" with arguments: "the crew"');
  const events = await registry.usage.events({ thread: 'one' });
  expect(() => skillInvoked('say-ahoy')(events)).not.toThrow();
  expect(() => skillInvoked('tea')(events)).toThrow(/tea/);
});
