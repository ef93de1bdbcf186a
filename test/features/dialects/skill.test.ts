import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { TEA, teaRegistry } from '../../helpers/tea.ts';

const ALL = { create: 'allow', update: 'allow', delete: 'allow' };

async function tool(writes: object = ALL, config: object = {}) {
  const opened = await teaRegistry(
    { 'skills/tea/references/a.md': 'one\n' },
    { writes, tools: ['skill', 'create_skill'], ...config },
  );
  const skill = (action: string, args: object = {}) =>
    runRegistryTool(opened.registry, 'skill', { action, ...args }, { agentId: 'brewer' });
  return { ...opened, skill, ids: () => opened.registry.snapshot().skills.map(({ id }) => id) };
}

const codeOf = (result: Readonly<Record<string, unknown>>): unknown =>
  (result.error as { code?: string } | undefined)?.code;

describe('the skill tool', () => {
  it('views and lists', async () => {
    const { skill } = await tool();
    expect(await skill('view', { name: 'tea' })).toMatchObject({ success: true, content: TEA });
    expect(await skill('list')).toMatchObject({ success: true, skills: [{ skill_id: 'tea' }] });
  });

  it('makes a skill of a description and a body, or of a whole text, and not of both', async () => {
    const { skill, ids, registry } = await tool();
    const body = '# Coffee\n\nGrind.';
    expect(await skill('create', { name: 'coffee', description: 'Brews: coffee.', body })).toMatchObject({
      success: true,
      message: "Skill 'coffee' created.",
    });
    expect(
      await skill('create', { name: 'juice', content: '---\nname: juice\ndescription: Juices.\n---\n\nPress.\n' }),
    ).toMatchObject({ success: true });
    expect(ids()).toEqual(['coffee', 'juice', 'tea']);
    expect(registry.snapshot().byId.get('coffee')?.description).toBe('Brews: coffee.');
    expect(codeOf(await skill('create', { name: 'mix', description: 'x', body, content: 'y' }))).toBe(
      'INVALID_ARGUMENT',
    );
    expect(codeOf(await skill('create', { name: 'tea', description: 'x', body }))).toBe('SKILL_EXISTS');
    for (const name of ['Tea', '../x', 'a b', '-a', '']) {
      expect(codeOf(await skill('create', { name, description: 'x', body })), name).toBe('INVALID_ARGUMENT');
    }
  });

  it('edits the whole file and patches fields or a text', async () => {
    const { skill, tea, registry } = await tool();
    await skill('edit', { name: 'tea', content: TEA.replace('Serve.', 'Serve hot.') });
    expect(tea()).toContain('Serve hot.');
    await skill('patch', { name: 'tea', old_string: 'Serve hot.', new_string: 'Serve at once.' });
    expect(tea()).toContain('Serve at once.');
    await skill('patch', { name: 'tea', fields: { description: 'Brews good tea.', tags: ['kitchen'], author: null } });
    expect(registry.snapshot().byId.get('tea')).toMatchObject({ description: 'Brews good tea.', tags: ['kitchen'] });
    expect(await skill('patch', { name: 'tea', old_string: 'nothing', new_string: 'x' })).toMatchObject({
      error: { message: expect.stringContaining('String not found in SKILL.md.') },
    });
    expect(codeOf(await skill('patch', { name: 'tea', old_string: 'the pot', new_string: 'x' }))).toBe(
      'INVALID_ARGUMENT',
    );
    await skill('patch', { name: 'tea', old_string: 'the pot', new_string: 'the kettle', replace_all: true });
    expect(tea().match(/the kettle/g)).toHaveLength(2);
    expect(codeOf(await skill('patch', { name: 'tea', fields: { a: 1 }, old_string: 'x' }))).toBe('INVALID_ARGUMENT');
    expect(codeOf(await skill('edit', { name: 'tea', content: 'no frontmatter and nothing' }))).toBe('SKILL_INVALID');
  });

  it('writes and removes files below the known folders, and takes empty folders away', async () => {
    const { skill, root } = await tool();
    const file = join(root, 'skills/tea/scripts/deep/run.sh');
    await skill('write_file', { name: 'tea', file_path: 'scripts/deep/run.sh', file_content: 'echo\n' });
    expect(readFileSync(file, 'utf8')).toBe('echo\n');
    await skill('write_file', { name: 'tea', filename: 'scripts/deep/run.sh', content: 'echo 2\n' });
    expect(readFileSync(file, 'utf8')).toBe('echo 2\n');
    expect(await skill('remove_file', { name: 'tea', file_path: 'scripts/deep/run.sh' })).toMatchObject({
      message: "Removed scripts/deep/run.sh from skill 'tea'.",
    });
    expect(existsSync(join(root, 'skills/tea/scripts'))).toBe(false);
    for (const file_path of ['run.sh', 'references/../../x', '../x', '/etc/x']) {
      const result = await skill('write_file', { name: 'tea', file_path, file_content: 'x' });
      expect(codeOf(result), file_path).toMatch(/INVALID_ARGUMENT|PATH_TRAVERSAL/);
      expect(codeOf(await skill('remove_file', { name: 'tea', file_path })), file_path).toMatch(
        /INVALID_ARGUMENT|PATH_TRAVERSAL/,
      );
    }
  });

  it('refuses what an action does not take, so that an edit of a file never lands in SKILL.md', async () => {
    const { skill, tea } = await tool();
    const file_path = 'references/a.md';
    expect(await skill('edit', { name: 'tea', file_path, content: 'two\n' })).toMatchObject({
      success: false,
      error: { message: 'skill: edit takes no file_path; it takes content.' },
    });
    expect(codeOf(await skill('delete', { name: 'tea', file_path }))).toBe('INVALID_ARGUMENT');
    expect(codeOf(await skill('remove_file', { name: 'tea', file_path, content: 'x' }))).toBe('INVALID_ARGUMENT');
    expect(tea()).toBe(TEA);
    // Some models fill in every field.
    expect(await skill('view', { name: 'tea', file_path, content: '', replace_all: false })).toMatchObject({
      content: 'one\n',
    });
  });

  it('writes an empty file, and patches any file of the skill, whatever its line ends', async () => {
    const { skill, root, tea } = await tool();
    const read = (path: string) => readFileSync(join(root, 'skills/tea', path), 'utf8');
    await skill('write_file', { name: 'tea', file_path: 'scripts/__init__.py', content: '' });
    expect(read('scripts/__init__.py')).toBe('');
    writeFileSync(join(root, 'skills/tea/references/a.md'), 'one\r\ntwo\r\nthree\r\n');
    const file_path = 'references/a.md';
    await skill('patch', { name: 'tea', file_path, old_string: 'one\ntwo', new_string: 'one\n2' });
    expect(read('references/a.md')).toBe('one\r\n2\r\nthree\r\n');
    await skill('patch', { name: 'tea', file_path: 'SKILL.md', old_string: 'Serve.', new_string: '' });
    expect(tea()).not.toContain('Serve.');
    expect(codeOf(await skill('write_file', { name: 'tea', file_path, content: 'one\n2\nthree\n' }))).toBe(
      'PROPOSAL_NO_CHANGE',
    );
  });

  it('patches what is there when its turn comes, so that no change made meanwhile is lost', async () => {
    const { skill, tea } = await tool();
    await Promise.all(
      ['Warm', 'Boil', 'Serve', 'Rinse'].map((word) =>
        skill('patch', { name: 'tea', old_string: word, new_string: word.toUpperCase() }),
      ),
    );
    expect(tea()).toMatch(/WARM[\s\S]*BOIL[\s\S]*SERVE[\s\S]*RINSE/);
  });

  it('archives what it deletes, and keeps what is pinned', async () => {
    const { skill, ids, registry } = await tool();
    expect(await skill('delete', { name: 'tea' })).toMatchObject({ message: expect.stringContaining('archived') });
    expect(ids()).toEqual([]);
    await registry.history.restore('tea', { by: 'person:ada' });
    expect(ids()).toEqual(['tea']);
    const pinned = await tool(ALL, { catalog: { pinned: ['tea'] } });
    expect(codeOf(await pinned.skill('delete', { name: 'tea' }))).toBe('INVALID_ARGUMENT');
    expect(codeOf(await pinned.skill('delete', { name: 'skills:tea' }))).toBe('INVALID_ARGUMENT');
    expect(pinned.ids()).toEqual(['tea']);
  });

  it('records who did it and why', async () => {
    const { skill, registry } = await tool();
    await skill('edit', { name: 'tea', content: TEA.replace('Serve.', 'Pour.'), justification: 'Clearer.' });
    expect((await registry.history.revisions('tea')).at(-1)).toMatchObject({
      kind: 'tool',
      by: 'agent:brewer',
      reason: 'Clearer.',
    });
  });

  it('proposes or refuses as writes says, action by action', async () => {
    const { skill, tea, registry, ids } = await tool({ create: 'propose', update: 'propose', delete: 'deny' });
    expect(await skill('edit', { name: 'tea', content: TEA.replace('Serve.', 'Pour.') })).toMatchObject({
      success: true,
      state: 'open',
    });
    expect(await skill('create', { name: 'coffee', description: 'Brews.', body: 'Grind.' })).toMatchObject({
      success: true,
      state: 'open',
    });
    expect(codeOf(await skill('delete', { name: 'tea' }))).toBe('WRITE_DENIED');
    expect(tea()).toBe(TEA);
    expect(ids()).toEqual(['tea']);
    expect((await registry.proposals.list()).map(({ kind, author }) => [kind, author])).toEqual([
      ['create', 'agent:brewer'],
      ['update', 'agent:brewer'],
    ]);
  });

  it('is off by default', async () => {
    const { registry } = await teaRegistry();
    expect(registry.tools().map(({ name }) => name)).toEqual([
      'list_skills',
      'read_skill',
      'read_skill_resource',
      'propose_skill_update',
      'list_proposals',
    ]);
  });
});

describe('create_skill', () => {
  it('creates where it may, and proposes where a person decides', async () => {
    const args = {
      skill_id: 'coffee',
      description: 'Brews coffee.',
      body: 'Grind.',
      justification: 'Asked for twice.',
    };
    const allowed = await tool();
    expect(await runRegistryTool(allowed.registry, 'create_skill', args)).toMatchObject({
      success: true,
      state: 'created',
    });
    expect(allowed.ids()).toEqual(['coffee', 'tea']);
    const proposed = await tool({ create: 'propose' });
    expect(await runRegistryTool(proposed.registry, 'create_skill', args)).toMatchObject({
      success: true,
      state: 'open',
    });
    expect(proposed.ids()).toEqual(['tea']);
  });
});
