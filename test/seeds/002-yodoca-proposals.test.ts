import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { bootRoot, skill } from '../helpers/boot-root.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';
import { skillMd } from '../helpers/temp-folder.ts';
import { workspace } from '../helpers/workspace.ts';

it('Y34 a skill that an agent writes with a file tool is there for the next turn, where writes allow it, else proposed (decision 31)', async () => {
  const content = skillMd({ name: 'new', description: 'Just written.' });
  const open = await workspace({}, { writes: { create: 'allow' } });
  expect(await open.call('write_file', { path: 'skills/new/SKILL.md', content })).toMatchObject({ success: true });
  expect(await open.registry.context('')).toContain('`new` — Just written.');
  const shut = await workspace();
  const proposed = await shut.call('write_file', { path: 'skills/new/SKILL.md', content });
  expect(proposed).toMatchObject({ success: true, written: false, state: 'open' });
  expect(await shut.registry.context('')).not.toContain('Just written.');
});

const DIFF = { skill_id: 'tea', diff: '@@\n-Body of tea.\n+Better body.\n', justification: 'It was wrong.' };

it('Y35 an update goes through propose_skill_update, which writes a file named after skill and time', async () => {
  const { root, registry } = await openRegistry(skill('tea'));
  const { file = '' } = (await runRegistryTool(registry, 'propose_skill_update', DIFF)) as { file?: string };
  expect(file).toMatch(/^data\/skill_registry\/proposals\/tea-\d{8}T\d{6}Z-[0-9a-f]{6}\.md$/);
  expect(existsSync(join(root, file))).toBe(true);
  expect((await registry.read('tea')).content).toBe('Body of tea.');
});

it('Y36 a proposal has the sections Diff, Justification and Evidence', async () => {
  const { root, registry } = await openRegistry(skill('tea'));
  const { file = '' } = (await runRegistryTool(registry, 'propose_skill_update', DIFF)) as { file?: string };
  expect(readFileSync(join(root, file), 'utf8').match(/^## .*$/gm)).toEqual([
    '## Diff',
    '## Justification',
    '## Evidence',
    '## Checks',
  ]);
});

it('Y37 a person or the reviewing agent reviews it, and SKILL.md changes only after approval', async () => {
  const { kernel, root } = await bootRoot(skill('tea'));
  const propose = kernel.tools().find(({ tool }) => tool.name === 'propose_skill_update')?.tool as Tool;
  const call = { turn: { agentId: 'orchestrator_agent' }, signal: new AbortController().signal };
  const { proposal_id } = (await propose.execute(DIFF as never, call)) as unknown as { proposal_id: string };
  const body = (): string => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8');
  expect(kernel.agents().map(({ id }) => id)).toContain('skill_reviewer');
  expect(body()).toContain('Body of tea.');
  await kernel.runCommand(`/proposals show ${proposal_id}`, {});
  await kernel.runCommand(`/proposals approve ${proposal_id}`, {});
  expect(body()).toContain('Better body.');
});

it('Y38 versions and changes of a skill are tracked below data/skill_registry', async () => {
  const { root, registry } = await openRegistry(skill('tea'));
  await runRegistryTool(registry, 'propose_skill_update', DIFF);
  const [{ id } = { id: '' }] = await registry.proposals.list();
  await registry.proposals.approve(id, { by: 'person:ada' });
  expect((await registry.history.revisions('tea')).map(({ kind, by }) => [kind, by])).toEqual([
    ['seen', 'unknown'],
    ['proposal', 'person:ada'],
  ]);
  expect(existsSync(join(root, 'data/skill_registry/history.db'))).toBe(true);
});
