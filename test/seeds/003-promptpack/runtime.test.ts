import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

it('4a.12, 4a.13 a SKILL.md has the fields of the standard, and what breaks its rules is a problem that names field and line', async () => {
  const fields = { license: 'MIT', compatibility: 'Node', 'allowed-tools': '[Read, Bash]', unknown: 'kept' };
  const { registry } = await openRegistry({
    ...skill('tea', fields),
    ...skill('Bad Name'),
    ...skill('long', { description: 'x'.repeat(1025) }),
  });
  expect(registry.snapshot().byId.get('tea')).toMatchObject({ license: 'MIT', compatibility: 'Node' });
  expect(registry.problems().map(({ code, line }) => `${code} ${line}`)).toEqual([
    'NAME_INVALID 2',
    'DESCRIPTION_TOO_LONG 3',
  ]);
  const spec = await openRegistry({ ...skill('tea'), ...skill('Bad Name') }, { validation: 'spec' });
  expect(spec.registry.list().skills.map(({ skillId }) => skillId)).toEqual(['tea']);
});

it('4a.24 a file outside of the skill is refused, a skill without a folder has no files, and odd spellings are read', async () => {
  const tree = {
    ...skill('tea'),
    ...skill('cup'),
    'skills/tea/refs/data.md': 'Data.',
    'skills/tea/refs/cup.md': { link: '../../cup/SKILL.md' },
  };
  const inline = { name: 'rule', description: 'A rule.', instructions: 'Be kind.' };
  const { registry } = await openRegistry(tree, { sources: [{ path: 'skills' }, { inline }] });
  const read = (skill_id: string, path: string) => runRegistryTool(registry, 'read_skill_resource', { skill_id, path });
  for (const path of ['refs/../../cup/SKILL.md', './../cup/SKILL.md', 'refs/cup.md']) {
    expect(await read('tea', path), path).toMatchObject({ error: { code: 'PATH_TRAVERSAL' } });
  }
  expect(await read('rule', 'refs/data.md')).toMatchObject({ error: { code: 'RESOURCE_NOT_FOUND' } });
  for (const path of ['refs//data.md', './refs/data.md']) {
    expect(await read('tea', path), path).toMatchObject({ content: 'Data.' });
  }
});

it('4d.7 allowed-tools may be a text or a list, and nested metadata costs no skill', async () => {
  const { registry } = await openRegistry({
    ...skill('text', { 'allowed-tools': 'Read Bash(git add *)' }),
    ...skill('list', { 'allowed-tools': '[Read, "Bash(git add *)"]', metadata: '{ a: { b: [1] } }' }),
  });
  for (const id of ['text', 'list']) {
    expect((await registry.read(id)).allowedTools, id).toEqual(['Read', 'Bash(git add *)']);
  }
});

it('4d.10, 8.8 what one prompt narrows the catalog to is not kept for the next one', async () => {
  const many = Object.assign({}, ...Array.from({ length: 30 }, (_, at) => skill(`skill-${at}`)));
  const open = () => openRegistry({ ...many, ...skill('tea') }, { catalog: { budget_tokens: 60 } });
  const [{ registry }, fresh] = [await open(), await open()];
  expect(await registry.context('brew a tea')).toContain('`tea`');
  expect(await registry.context('')).toBe(await fresh.registry.context(''));
});

it('4d.12 no reference leads out of where skills are installed', async () => {
  const outside = { 'outside/SKILL.md': skillMd({ name: 'outside', description: 'Outside.' }) };
  const pack = { id: 'p', skills: ['@../outside', '@a/../../outside', './skills'] };
  const { registry, root } = await openRegistry(
    { 'pack/p.json': JSON.stringify(pack), 'pack/skills/tea/SKILL.md': skillMd({ description: 'Tea.' }), ...outside },
    { sources: [{ pack: 'pack/p.json' }, { path: 'skills', optional: true }] },
  );
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['tea']);
  const errors = registry.problems().filter(({ severity }) => severity === 'error');
  expect(errors.map(({ code }) => code)).toEqual(['PACK_PATH_MISSING', 'PACK_PATH_OUTSIDE']);
  for (const id of ['..', '../outside', '@../outside']) {
    await expect(registry.origin.remove(id, { by: 'person:ada' }), id).rejects.toThrow();
  }
  expect(existsSync(join(root, 'outside/SKILL.md'))).toBe(true);
});
