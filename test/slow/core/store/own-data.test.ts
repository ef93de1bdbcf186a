import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { createSkillMcpDoor } from 'skill-registry/mcp';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';
import { workspace } from '../../../helpers/workspace.ts';

const SECRET = 'token=hunter2';
/** A project that is a skill itself, with what nobody is to be handed. */
const WHOLE: Tree = {
  'SKILL.md': skillMd({ name: 'whole', description: 'The whole project.' }),
  'references/guide.md': 'Guide.',
  '.env': SECRET,
  '.env.example': 'token=',
  '.git/config': SECRET,
  '.ssh/id_rsa': SECRET,
  'keys/server.pem': SECRET,
  'data/skill_registry/config.yaml': `# ${SECRET}\n`,
  'data/other/state.json': SECRET,
};
const OFFERED = ['.env.example', 'references/guide.md'];
const ADA = { by: 'person:ada' };

async function open(root: string, sources: readonly unknown[]): Promise<SkillRegistry> {
  const registry = await createSkillRegistry({ root, config: { sources: sources as never } });
  onTestFinished(() => registry.close());
  return registry;
}

async function onlySkill(registry: SkillRegistry): Promise<string> {
  const { skills } = registry.snapshot();
  expect(skills).toHaveLength(1);
  return skills[0]?.id ?? '';
}

it('a root that is a skill hands out none of data/, .env, .git and keys, at no door, and says how many', async () => {
  const root = join(tempFolder(), 'whole');
  writeTree(root, WHOLE);
  const registry = await open(root, [{ path: '.' }]);
  const id = await onlySkill(registry);
  // Makes the databases.
  await registry.proposals.propose({ skillId: id, path: 'new.md', content: 'New.', justification: 'x' });
  await registry.history.revisions(id);
  const read = await registry.read(id, { audience: 'model' }, {});
  expect(read.resources.map(({ path }) => path)).toEqual(OFFERED);
  expect(read).toMatchObject({ resourcesLeftOut: 5 });
  const hidden = [
    ...[
      '.env',
      '.git/config',
      '.ssh/id_rsa',
      'keys/server.pem',
      'data/skill_registry/config.yaml',
      'data/other/state.json',
    ],
    ...readdirSync(join(root, 'data/skill_registry')).map((name) => `data/skill_registry/${name}`),
    ...['data/skill_registry/none', './data//skill_registry/history.db'],
  ];
  expect(hidden.length).toBeGreaterThan(10);
  const sent: unknown[] = [];
  for (const path of hidden) {
    const answers = [
      await runRegistryTool(registry, 'read_skill_resource', { skill_id: id, path }),
      await runRegistryTool(registry, 'propose_skill_update', { skill_id: id, path, content: 'x', justification: 'x' }),
    ];
    expect([path, ...answers.map((one) => (one as { error?: { code: string } }).error?.code)]).toEqual([
      path,
      'RESOURCE_NOT_FOUND',
      'INVALID_ARGUMENT',
    ]);
    sent.push(answers);
    for (const content of ['mine', null])
      await expect(registry.admin.management.write(id, path, content, ADA)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
  }
  const asked = await runCommand(['show', id, '--resource', '.env', '--root', root, '--skills', root]);
  expect(asked).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('RESOURCE_NOT_FOUND') });
  expect(JSON.stringify([sent, read, registry.problems()])).not.toContain(SECRET);
  const door = createSkillMcpDoor(registry);
  expect(await door.problems()).toEqual([]);
  door.close();
  const shown = await runCommand(['show', id, '--root', root, '--skills', root]);
  expect(shown.stderr).toContain('Never handed out: 5 more paths');
  const doctor = await runCommand(['doctor', '--json', '--root', root, '--skills', root]);
  expect(JSON.parse(doctor.stdout)).toMatchObject({ left_out: { files: 5, skills: 1 } });
  expect((await runCommand(['doctor', '--root', root, '--skills', root])).stdout).toContain(
    'Never handed out: 5 paths in 1',
  );
});

it('keeps none of it in revisions, neither recording, proposing, changing nor going back', async () => {
  const root = tempFolder(WHOLE);
  const registry = await open(root, [{ path: '.' }]);
  const id = await onlySkill(registry);
  const { proposalId } = await registry.proposals.propose({
    skillId: id,
    path: 'a.md',
    content: 'A.',
    justification: 'x',
  });
  await registry.proposals.approve(proposalId, ADA);
  await registry.admin.management.write(id, 'b.md', 'B.', ADA);
  writeFileSync(join(root, '.env'), 'token=changed');
  await registry.history.rollback(id, 1, ADA);
  const revisions = await registry.history.revisions(id);
  const kept = new Set(revisions.flatMap(({ files }) => files.map(({ path }) => path)));
  expect([...kept].sort()).toEqual(['.env.example', 'SKILL.md', 'a.md', 'b.md', 'references/guide.md']);
  expect(readFileSync(join(root, '.env'), 'utf8')).toBe('token=changed');
  await expect(registry.admin.management.remove(id, ADA)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

it('does not wake at what the registry writes itself', async () => {
  const root = tempFolder(WHOLE);
  const registry = await open(root, [{ path: '.' }]);
  const id = await onlySkill(registry);
  const ending = new AbortController();
  const watching = registry.watch(ending.signal);
  await waitFor('the first revision', () => existsSync(join(root, 'data/skill_registry/history.db')), 10_000);
  await waitFor('it to be recorded', async () => (await registry.history.revisions(id)).length === 1, 10_000);
  const { version } = registry.snapshot();
  for (let n = 0; n < 3; n++)
    await registry.proposals.propose({ skillId: id, path: `${n}.md`, content: 'x', justification: 'x' });
  await registry.refresh();
  expect(registry.snapshot().version).toBe(version);
  expect(await registry.history.revisions(id)).toHaveLength(1);
  ending.abort();
  await watching;
});

describe('a source', () => {
  const SKILL = skillMd({ name: 'inner', description: SECRET }, SECRET);
  const INNER: Tree = { 'data/skill_registry/inner/SKILL.md': SKILL, 'data/note.md': SKILL, 'skills/.keep': '' };

  it.each<[string, Tree, readonly unknown[], string]>([
    ['data/ itself', INNER, [{ path: 'data' }], 'data'],
    ['a folder in data/', INNER, [{ path: 'data/skill_registry/inner' }], 'data/skill_registry/inner'],
    ['a file in data/', INNER, [{ path: 'data/note.md' }], 'data/note.md'],
    ['a link that leads into data/', { ...INNER, way: { link: 'data/skill_registry' } }, [{ path: 'way' }], 'way'],
    [
      'a link in it to data/',
      { ...INNER, 'skills/way': { link: '../data' } },
      [{ path: 'skills', allow_outside: true }],
      'skills/way',
    ],
    [
      'a link in it to a folder in data/',
      { ...INNER, 'skills/way': { link: '../data/skill_registry/inner' } },
      [{ path: 'skills', allow_outside: true }],
      'skills/way',
    ],
    [
      'a SKILL.md that is a link into data/',
      { ...INNER, 'skills/x/SKILL.md': { link: '../../data/note.md' } },
      [{ path: 'skills', allow_outside: true }],
      'skills/x/SKILL.md',
    ],
    [
      'a SKILL.md that is a link to .env',
      { '.env': SKILL, 'skills/x/SKILL.md': { link: '../../.env' } },
      [{ path: '.' }],
      'skills/x/SKILL.md',
    ],
    [
      'a SKILL.md that is a link into .git',
      { '.git/config': SKILL, 'skills/x/SKILL.md': { link: '../../.git/config' } },
      [{ path: '.' }],
      'skills/x/SKILL.md',
    ],
    [
      'what the link data/ leads to',
      { 'store/skill_registry/inner/SKILL.md': SKILL, data: { link: 'store' } },
      [{ path: 'store' }],
      'store',
    ],
    [
      'what a link in data/ leads to',
      { 'store/inner/SKILL.md': SKILL, 'data/skill_registry': { link: '../store' } },
      [{ path: 'store' }],
      'store',
    ],
  ])('reads nothing of %s, and says so', async (_title, tree, sources, file) => {
    const root = tempFolder(tree);
    const registry = await open(root, sources);
    expect(registry.snapshot().skills).toEqual([]);
    const problem = registry.problems().find(({ code }) => code === 'SOURCE_RESERVED');
    expect(problem).toMatchObject({ severity: 'error', file: join(root, file) });
    expect(JSON.stringify(registry.problems())).not.toContain(SECRET);
    // Nor is anything put there.
    await registry.admin.management.create('inner', SKILL.replace(SECRET, 'x'), ADA).catch(() => undefined);
    for (const place of ['data/inner', 'data/skill_registry/inner/inner', 'store/inner/inner'])
      expect(existsSync(join(root, place)), place).toBe(false);
  });

  it('in data/ takes no new skill, and another one does', async () => {
    const root = tempFolder({ 'data/.keep': '' });
    const registry = await open(root, [{ path: 'data' }]);
    const content = skillMd({ name: 'tea', description: 'Tea.' });
    await expect(registry.admin.management.create('tea', content, ADA)).rejects.toMatchObject({
      code: 'SOURCE_NOT_WRITABLE',
    });
    const both = await open(root, [{ path: 'data' }, { path: 'skills' }]);
    await both.admin.management.create('tea', content, ADA);
    expect(existsSync(join(root, 'skills/tea/SKILL.md'))).toBe(true);
  });

  it('above data/ reads the rest, wherever data/ has come from since', async () => {
    const root = tempFolder({ 'a/SKILL.md': skillMd({ name: 'a', description: 'A.' }), 'store/x/SKILL.md': SKILL });
    const registry = await open(root, [{ path: '.' }]);
    expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['a', 'x']);
    symlinkSync('store', join(root, 'data'));
    await registry.refresh();
    expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['a']);
    expect(registry.problems().map(({ code }) => code)).toEqual(['SOURCE_RESERVED']);
  });

  it('that is a pack, a package or a role template is not read in data/ either', async () => {
    const pack = { id: 'p', skills: [{ name: 'Inner', description: 'd', instructions: SECRET }] };
    const root = tempFolder({
      'data/pack.json': JSON.stringify(pack),
      'data/roles/cook/system_prompt.md': SECRET,
      'node_modules/brew/package.json': '{ "skills": "skills" }',
      'node_modules/brew/skills': { link: '../../data/roles' },
      '.ignore': { link: 'data/pack.json' },
    });
    const sources = [
      { pack: 'data/pack.json' },
      { package: 'brew', allow_outside: true },
      { path: '.', ignore_files: true },
    ];
    const registry = await open(root, sources);
    expect(registry.snapshot().skills).toEqual([]);
    expect(
      registry
        .problems()
        .map(({ code }) => code)
        .sort(),
    ).toEqual(['PACK_UNREADABLE', 'SOURCE_RESERVED']);
    const prompt = await registry.admin.resolveRolePrompt('cook', { templates: 'data/roles' });
    expect(prompt).toEqual({ source: 'fallback', text: 'You are a cook specialist.' });
  });
});

it('a skill in which data/ lies by a link cannot be moved away with it', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }),
    'skills/tea/store/.keep': '',
  });
  symlinkSync('skills/tea/store', join(root, 'data'));
  const registry = await open(root, [{ path: 'skills' }]);
  expect(registry.admin.resources('tea')).toEqual([]);
  await expect(registry.admin.management.remove('tea', ADA)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(
    registry.proposals.propose({ skillId: 'tea', kind: 'delete', justification: 'x' }),
  ).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  expect(existsSync(join(root, 'skills/tea/store/skill_registry/history.db'))).toBe(true);
});

it('file tools reach nothing of data/, wherever its link leads', async () => {
  const place = await workspace({ 'extensions/box/store/skill_registry/config.yaml': SECRET });
  // As an older release may have left it.
  mkdirSync(join(place.root, 'data'), { recursive: true });
  renameSync(join(place.root, 'data'), join(place.root, 'old'));
  symlinkSync('extensions/box/store', join(place.root, 'data'));
  await place.registry.refresh();
  const path = 'extensions/box/store/skill_registry/config.yaml';
  expect(await place.codeOf('read_file', { path })).toBe('RESOURCE_NOT_FOUND');
  expect(await place.codeOf('write_file', { path, content: 'mine' })).toBe('INVALID_ARGUMENT');
  expect(await place.codeOf('list_files', { path: 'extensions/box/store' })).toBe('RESOURCE_NOT_FOUND');
  expect(await place.call('list_files', { path: 'extensions/box' })).toMatchObject({ left_out: 1 });
  expect(readFileSync(join(place.root, path), 'utf8')).toBe(SECRET);
});

it('what an older version has kept of it is neither shown nor brought back', async () => {
  const root = tempFolder(WHOLE);
  const registry = await open(root, [{ path: '.' }]);
  const id = await onlySkill(registry);
  await registry.admin.management.write(id, 'a.md', 'A.', ADA);
  await registry.close();
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  const [{ tree = '[]' } = {}] = database.prepare('SELECT tree FROM revision WHERE number = 1').all() as {
    tree: string;
  }[];
  const [file] = JSON.parse(tree) as object[];
  const before = JSON.stringify([...JSON.parse(tree), { ...file, path: '.env' }]);
  database.prepare('UPDATE revision SET tree = ? WHERE number = 1').run(before);
  database.close();
  const again = await open(root, [{ path: '.' }]);
  expect((await again.history.revisions(id))[0]?.files.map(({ path }) => path)).not.toContain('.env');
  await again.history.rollback(id, 1, ADA);
  expect(readFileSync(join(root, '.env'), 'utf8')).toBe(SECRET);
  await expect(again.history.read(id, 1, '.env')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
});
