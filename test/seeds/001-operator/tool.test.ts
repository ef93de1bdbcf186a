import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const ALLOW = { writes: { create: 'allow', update: 'allow', delete: 'allow' }, tools: [], dialect: ['operator'] };

const at = (folder: string, id: string, description = `Does ${id}.`): Tree => ({
  [`${folder}/${id}/SKILL.md`]: skillMd({ name: id, description }),
});

it('3a.25 one skill tool has the actions of the seed, with its arguments', async () => {
  const { root, registry } = await openRegistry(skill('tea'), ALLOW);
  const act = (args: object) => runRegistryTool(registry, 'skill', args);
  const steps = [
    { action: 'create', name: 'coffee', description: 'Brews coffee.', body: 'Grind.' },
    { action: 'edit', name: 'coffee', content: skillMd({ name: 'coffee', description: 'Brews.' }, 'Grind and brew.') },
    { action: 'patch', name: 'coffee', description: 'Brews well.', disable_model_invocation: false },
    { action: 'write_file', name: 'coffee', filename: 'references/beans.md', content: 'Arabica.' },
  ];
  for (const step of steps) expect(await act(step)).toMatchObject({ success: true });
  expect(await act({ action: 'view', name: 'coffee' })).toMatchObject({
    content: expect.stringContaining('Brews well.'),
  });
  expect(registry.admin.resources('coffee')).toMatchObject([{ path: 'references/beans.md' }]);
  expect(await act({ action: 'remove_file', name: 'coffee', filename: 'references/beans.md' })).toMatchObject({
    success: true,
  });
  expect(await act({ action: 'list' })).toMatchObject({ total: 2 });
  expect(await act({ action: 'delete', name: 'coffee' })).toMatchObject({ success: true });
  expect(existsSync(join(root, 'skills/coffee'))).toBe(false);
});

it('3d.8 a name that the loader would warn of is refused when it is written', async () => {
  const { registry } = await openRegistry(skill('tea'), ALLOW);
  for (const name of ['green_tea', 'Tea', '-tea', '../tea']) {
    const create = { action: 'create', name, description: 'Brews.', body: 'Brew.' };
    expect(await runRegistryTool(registry, 'skill', create), name).toMatchObject({
      error: { code: 'INVALID_ARGUMENT' },
    });
  }
});

it('3a.26 the arguments of the code are taken as well, and delete archives', async () => {
  const { registry } = await openRegistry(skill('tea'), ALLOW);
  const act = (args: object) => runRegistryTool(registry, 'skill', args);
  const content = skillMd({ name: 'coffee', description: 'Brews.' }, 'Grind. Grind.');
  expect(await act({ action: 'create', name: 'coffee', content })).toMatchObject({ success: true });
  const patch = { action: 'patch', name: 'coffee', old_string: 'Grind.', new_string: 'Mill.', replace_all: true };
  expect(await act(patch)).toMatchObject({ success: true });
  const write = { action: 'write_file', name: 'coffee', file_path: 'scripts/run.sh', file_content: 'echo' };
  expect(await act(write)).toMatchObject({ success: true });
  expect((await registry.read('coffee')).content).toBe('Mill. Mill.');
  await act({ action: 'delete', name: 'coffee' });
  await registry.history.restore('coffee', { by: 'person:ada' });
  expect(registry.admin.resources('coffee')).toMatchObject([{ path: 'scripts/run.sh' }]);
});

it('3a.27 writes go to the first source that may be written, and view works for every skill', async () => {
  const tree = { ...at('team', 'law'), ...skill('tea') };
  const sources = [{ path: 'team', writable: false }, { path: 'skills' }];
  const { root, registry } = await openRegistry(tree, { ...ALLOW, sources });
  const act = (args: object) => runRegistryTool(registry, 'skill', args);
  expect(await act({ action: 'view', name: 'law' })).toMatchObject({ success: true });
  expect(await act({ action: 'edit', name: 'law', content: 'x' })).toMatchObject({
    error: { code: 'SOURCE_NOT_WRITABLE' },
  });
  await act({ action: 'create', name: 'coffee', description: 'Brews.', body: 'Grind.' });
  expect(existsSync(join(root, 'skills/coffee/SKILL.md'))).toBe(true);
  const none = await openRegistry(tree, { ...ALLOW, sources: [{ path: 'skills', writable: false }] });
  const refused = await runRegistryTool(none.registry, 'skill', {
    action: 'create',
    name: 'x',
    description: 'x',
    body: 'x',
  });
  expect(refused).toMatchObject({ error: { code: 'SOURCE_NOT_WRITABLE' } });
});

it('3a.28, 3d.2 the catalog has changed before the tool answers', async () => {
  const { registry } = await openRegistry(skill('tea'), ALLOW);
  await runRegistryTool(registry, 'skill', { action: 'patch', name: 'tea', fields: { description: 'Now different.' } });
  expect(registry.snapshot().byId.get('tea')?.description).toBe('Now different.');
  expect(await registry.context('')).toContain('Now different.');
});

it('3d.1 no action reads, writes or removes a file outside of its skill', async () => {
  const { root, registry } = await openRegistry({ ...skill('tea'), 'secret.txt': 'secret' }, ALLOW);
  for (const name of ['tea', '../..', '..']) {
    for (const file_path of ['../../secret.txt', 'references/../../../secret.txt', join(root, 'secret.txt')]) {
      for (const args of [
        { action: 'view', file_path },
        { action: 'patch', file_path, old_string: 'secret', new_string: 'changed' },
        { action: 'write_file', file_path, file_content: 'changed' },
        { action: 'remove_file', file_path },
      ]) {
        const result = await runRegistryTool(registry, 'skill', { name, ...args });
        expect(result, JSON.stringify({ name, ...args })).toMatchObject({ success: false });
      }
    }
  }
  expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe('secret');
});

it('2a.35, 3d.3, 8.10 a skill that is read, or never used, stays where it is, and what nobody loads is named', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), ...skill('cup') });
  await runRegistryTool(registry, 'read_skill', { skill_id: 'tea' }, { agentId: 'brewer' });
  const { dead } = await registry.usage.report();
  expect(dead.map(({ skillId }) => skillId)).toEqual(['cup']);
  await registry.refresh();
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['cup', 'tea']);
  expect((await registry.history.revisions('tea')).map(({ kind, by }) => [kind, by])).toEqual([['seen', 'unknown']]);
});
