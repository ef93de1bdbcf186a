import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PRESET_NAMES, type PresetName } from '../../../extensions/skill_registry/core/config/preset-table.ts';
import { presetFolders } from '../../../extensions/skill_registry/core/sources/agent-folders.ts';
import { packageRoot } from '../../../kernel/host.ts';
import { delimited } from '../../../lib/text/index.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

/** Whoever runs this may have skills of their own at home. */
beforeEach(() => void vi.stubEnv('HOME', '/no/home'));
afterEach(() => void vi.unstubAllEnvs());

const NAMES: readonly (readonly [PresetName, string, string])[] = [
  ['agents', '.agents/skills', '.agents/skills'],
  ['claude', '.claude/skills', '.claude/skills'],
  ['codex', '.codex/skills', '.codex/skills'],
  ['copilot', '.github/skills', '.copilot/skills'],
  ['cursor', '.cursor/skills', '.cursor/skills'],
  ['gemini', '.gemini/skills', '.gemini/skills'],
  ['github', '.github/skills', '.copilot/skills'],
  ['goose', '.goose/skills', '.config/goose/skills'],
  ['openclaw', 'skills', '.openclaw/skills'],
  ['opencode', '.opencode/skills', '.config/opencode/skills'],
  ['pi', '.pi/skills', '.pi/agent/skills'],
  ['windsurf', '.windsurf/skills', '.codeium/windsurf/skills'],
];
const brief = (name: PresetName, root: string, home: string) =>
  presetFolders(name, root, home).map(({ id, path }) => [id, path]);

describe('the folders of a preset', () => {
  it.each(NAMES)('%s: the project first, up to the root of the repository, then home', (name, project, home) => {
    const repository = tempFolder({ '.git/HEAD': '', 'a/b/x': '' });
    const root = join(repository, 'a/b');
    expect(brief(name, root, '/home/me')).toEqual([
      [name, join(root, project)],
      [`${name}-up-1`, join(repository, 'a', project)],
      [`${name}-up-2`, join(repository, project)],
      [`${name}-home`, join('/home/me', home)],
    ]);
  });

  it.each(NAMES)('%s: only those of the root where there is no repository', (name, project, home) => {
    const root = tempFolder({ 'a/x': '' });
    expect(brief(name, join(root, 'a'), root)).toEqual([
      [name, join(root, 'a', project)],
      [`${name}-home`, join(root, home)],
    ]);
  });

  it('end at the nearest repository, whether .git is a folder or a file', () => {
    const outer = tempFolder({ '.git/HEAD': '', 'inner/.git': 'gitdir: elsewhere', 'inner/x/y': '' });
    const folders = brief('claude', join(outer, 'inner/x'), '/home/me').map(([id]) => id);
    expect(folders).toEqual(['claude', 'claude-up-1', 'claude-home']);
  });

  it('name no folder twice where home is the project', () => {
    const root = tempFolder({ '.git/HEAD': '' });
    expect(brief('claude', root, root)).toEqual([['claude', join(root, '.claude/skills')]]);
    expect(brief('github', root, root)).toHaveLength(2);
  });

  it('end at the root of the file system', () => {
    expect(brief('claude', '/', '/home/me')).toEqual([
      ['claude', '/.claude/skills'],
      ['claude-home', '/home/me/.claude/skills'],
    ]);
  });
});

it('knows the agents that people have, and documents the folders of each', () => {
  expect(NAMES.map(([name]) => name)).toEqual([...PRESET_NAMES]);
  const page = readFileSync(join(packageRoot(), 'docs/configuration.md'), 'utf8');
  const rows = NAMES.map(([name, project, home]) => `| \`${name}\` | \`${project}\` | \`${home}\` |`);
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});

describe('a preset as a source', () => {
  const skill = (path: string, body: string) => ({
    [`${path}/SKILL.md`]: skillMd({ name: path.split('/').at(-1) as string, description: 'Does it.' }, body),
  });

  it('gives the nearest skill, says nothing of folders that are not there, and takes flags and an id', async () => {
    const { registry, root } = await openRegistry(
      { ...skill('.cursor/skills/near', 'Near.'), ...skill('.agents/skills/near', 'Other.') },
      { sources: [{ preset: 'cursor', preload: true }, { preset: 'agents', id: 'mine' }, { preset: 'github' }] },
    );
    const { sources } = registry.snapshot();
    expect(sources.map(({ id }) => id).filter((id) => !id.includes('-'))).toEqual(['cursor', 'mine', 'github']);
    expect(sources[0]).toEqual({ id: 'cursor', kind: 'directory', location: join(root, '.cursor/skills'), skills: 1 });
    expect((await registry.read('near')).content).toBe('Near.');
    expect((await registry.read('mine:near')).content).toBe('Other.');
    expect(await registry.context('')).toContain(delimited('Skill: near', 'Near.'));
    expect(registry.problems().map(({ code }) => code)).toEqual(['SKILL_ID_TAKEN']);
  });

  it.each(NAMES)('%s gives the skills of the project and of the home directory', async (preset, project, home) => {
    const user = tempFolder(skill(`${home}/of-user`, 'User.'));
    vi.stubEnv('HOME', user);
    const { registry } = await openRegistry(skill(`${project}/of-project`, 'Project.'), { sources: [{ preset }] });
    const { content, source } = await registry.read('of-project');
    expect([content, source]).toEqual(['Project.', preset]);
    expect(await registry.read('of-user')).toMatchObject({ content: 'User.', source: `${preset}-home` });
    expect(registry.problems()).toEqual([]);
  });

  it('gives the skills of the home directory last', async () => {
    const home = tempFolder({ ...skill('.claude/skills/near', 'Home.'), ...skill('.claude/skills/far', 'Far.') });
    vi.stubEnv('HOME', home);
    const tree = skill('.claude/skills/near', 'Near.');
    const { registry } = await openRegistry(tree, { sources: [{ preset: 'claude' }] });
    expect((await registry.read('near')).content).toBe('Near.');
    expect((await registry.read('claude-home:near')).content).toBe('Home.');
    expect((await registry.read('far')).source).toBe('claude-home');
  });
});
