import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { registryConfig } from '../../../extensions/skill_registry/config.ts';
import { packageRoot } from '../../../kernel/host.ts';
import { agent, bootRoot, skill } from '../../helpers/boot-root.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const SHIPPED = ['code-review', 'extension-development', 'skill-authoring', 'task-decomposition'];
const idsIn = async (root: string, config: object = {}): Promise<readonly string[]> => {
  const registry = await openRoot(root, { config: { ...config } });
  return registry.snapshot().skills.map(({ id }) => id);
};

describe('the shipped skills', () => {
  it('are offered in a root that has no skill of its own, and are gone with the first one', async () => {
    const root = tempFolder();
    const registry = await openRoot(root, { config: {} });
    const ids = () => registry.snapshot().skills.map(({ id }) => id);
    expect(ids()).toEqual(SHIPPED);
    writeTree(root, skill('tea'));
    await registry.refresh();
    expect(ids()).toEqual(['tea']);
    expect(await registry.context('review code')).toBe(
      '[Available Skills]\n• `tea` — Does tea.\n\nUse read_skill(skill_id) to load full instructions.',
    );
    await expect(registry.read('code-review')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    rmSync(join(root, 'skills'), { recursive: true });
    await registry.refresh();
    expect(ids()).toEqual(SHIPPED);
    expect((await registry.read('code-review')).source).toBe('shipped');
  });

  it('are offered beside others where the config says so, and nowhere else', async () => {
    const root = tempFolder(skill('tea'));
    expect(await idsIn(root, { sources: [{ path: 'skills' }, { shipped: true }] })).toEqual(['tea', ...SHIPPED]);
    expect(await idsIn(tempFolder(), { sources: [{ path: 'skills', optional: true }] })).toEqual([]);
  });

  it('count as none of the root: a skill that an extension adds does not take them away', async () => {
    const registry = await openRoot(tempFolder({ 'far/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }) }), {
      config: {},
    });
    const remove = await registry.addSource({ path: 'far' });
    expect(registry.snapshot().skills).toHaveLength(SHIPPED.length + 1);
    await remove();
  });

  it.each<[string, Record<string, string>]>([
    ['is empty', { 'skills/tea/SKILL.md': '' }],
    ['is no UTF-8 text', { 'skills/tea/SKILL.md': '\0\u0001\0\u0001'.repeat(20) }],
    ['has an id that nobody can type', { 'skills/te:a/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }) }],
  ])('are not offered where the only skill %s: that one is to be mended', async (_, tree) => {
    const registry = await openRoot(tempFolder(tree), { config: {} });
    expect(registry.snapshot().skills).toEqual([]);
    expect(registry.problems().map(({ severity }) => severity)).toContain('error');
  });

  it('may be asked for that way in a root that nobody has approved', () => {
    const sources = [{ path: 'skills' }, { shipped: 'if_none' }];
    expect(registryConfig.ofUntrustedRoot({ sources }, '/root')).toEqual({ values: { sources }, ignored: [] });
    const bare = { sources: [{ path: 'skills', bare_files: true }] };
    expect(registryConfig.ofUntrustedRoot(bare, '/root')).toEqual({
      values: { sources: [{ path: 'skills' }] },
      ignored: ['sources.0.bare_files'],
    });
  });

  it('are those of this repository, whose config asks for them', async () => {
    const { status, stdout } = await runCommand(['list', '--root', packageRoot(), '--json']);
    const { skills } = JSON.parse(stdout) as { skills: { skill_id: string; source: string }[] };
    expect([status, skills.map(({ skill_id }) => skill_id)]).toEqual([0, SHIPPED]);
    expect(new Set(skills.map(({ source }) => source))).toEqual(new Set(['skills']));
  });

  it('are found by the agents that come with the package whatever the sources are', async () => {
    for (const config of [{}, { sources: [{ preset: 'agents' }] }, { sources: [] }]) {
      const { kernel } = await bootRoot({ ...skill('tea'), ...agent('lost', 'uses_skills: [code-reviewer]') }, config);
      const parts = await kernel.describeTurn('builder_agent', 'x', {});
      expect(parts[0]?.text).toContain('[Skill: skill-registry:extension-development | ');
      expect(kernel.problems().map(({ code, message }) => [code, message.includes('code-reviewer')])).toEqual([
        ['AGENT_NOT_READY', true],
      ]);
    }
  });
});

describe('the root of a command', () => {
  it.each<[string, string]>([
    ['a config of the registry', 'data/skill_registry/config.yaml'],
    ['a skill', 'skills/tea/SKILL.md'],
    ['an extension', 'extensions/box/manifest.yaml'],
  ])('is the nearest folder with %s', async (_, file) => {
    const root = tempFolder({ [file]: '', 'in/skills/.keep': '', 'in/extensions/.keep': '', 'in/data/x': '' });
    const { stdout } = await runCommand(['doctor', '--json'], { cwd: join(root, 'in/skills') });
    expect(JSON.parse(stdout).root).toBe(root);
  });

  it('is the folder it is called in where there is none', async () => {
    const root = tempFolder({ 'skills/SKILL.md': '', 'skills/tea/notes.md': '', 'extensions/manifest.yaml': '' });
    const { stdout } = await runCommand(['doctor', '--json'], { cwd: join(root, 'skills/tea') });
    expect(JSON.parse(stdout).root).toBe(join(root, 'skills/tea'));
  });
});
