import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry, type SkillRegistryOptions } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { type PackedEntry, tarGz, zip } from '../../../helpers/archives.ts';
import { gitRepository } from '../../../helpers/git-repository.ts';
import { openRegistry, openRoot } from '../../../helpers/open-registry.ts';
import { ADA } from '../../../helpers/tea.ts';
import { skillMd, type Tree, tempFolder } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

const SKILLS: Tree = {
  'skills/tea/SKILL.md': skillMd({
    name: 'tea',
    description: 'Brews tea.',
    requires: '[kettle]',
    'allowed-tools': 'Bash Read',
  }),
  'skills/tea/scripts/brew.sh': { content: '#!/bin/sh\necho\n', mode: 0o755 },
  'skills/tea/.env': 'KEY=1\n',
  'skills/tea/examples/green/SKILL.md': 'An example.\n',
  'skills/kettle/SKILL.md': skillMd({ name: 'kettle', description: 'Boils water.', requires: '[stove]' }),
  'README.md': 'Skills.\n',
};

const ENTRIES: readonly PackedEntry[] = Object.entries(SKILLS).map(([path, node]) =>
  typeof node === 'object' && 'mode' in node ? { path, ...node } : { path, content: String(node) },
);

function fileWith(name: string, bytes: Buffer): string {
  const file = join(tempFolder(), name);
  writeFileSync(file, bytes);
  return file;
}

const ORIGINS: readonly (readonly [string, () => string])[] = [
  ['a git repository', () => gitRepository(SKILLS).url],
  ['a folder', () => tempFolder(SKILLS)],
  ['a .tar.gz', () => fileWith('all.tar.gz', tarGz(ENTRIES))],
  ['a .zip', () => fileWith('all.zip', zip(ENTRIES))],
];

async function filesOf(registry: SkillRegistry, root: string): Promise<object> {
  expect(await registry.origin.verify()).toMatchObject([
    { id: 'kettle', state: 'same', weak: false },
    { id: 'tea', state: 'same', weak: false },
  ]);
  return treeOf(join(root, 'skills'));
}

describe.each(ORIGINS)('from %s', (_name, make) => {
  it('shows what a skill is, and installs it with what it requires, as its origin has it', async () => {
    const { root, registry } = await openRegistry();
    const what = make();
    const plan = await registry.origin.add(what, { skills: ['tea'] });
    expect(plan.skills).toMatchObject([
      {
        ...{ id: 'tea', description: 'Brews tea.', scripts: ['scripts/brew.sh'], allowedTools: ['Bash', 'Read'] },
        ...{ requires: ['kettle'], missing: [], alongWith: false, folder: join(root, 'skills/tea') },
      },
      { id: 'kettle', alongWith: true, requires: ['stove'], missing: ['stove'] },
    ]);
    expect(existsSync(join(root, 'skills'))).toBe(false);
    expect(await plan.apply(ADA)).toEqual([
      { id: 'tea', revision: 1, proposals: [] },
      { id: 'kettle', revision: 1, proposals: [] },
    ]);
    expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['kettle', 'tea']);
    const files = await filesOf(registry, root);
    expect(files).toMatchObject({
      'tea/scripts/brew.sh': '755 #!/bin/sh\necho\n',
      'tea/examples/green/SKILL.md': '644 An example.\n',
    });
    expect(Object.keys(files)).not.toContain('tea/.env');
    expect(await registry.history.revisions('tea')).toMatchObject([{ kind: 'installed', by: 'person:ada' }]);

    // Another machine, which has the lock alone, and an approved root.
    const other = tempFolder({ 'skills-lock.json': readFileSync(join(root, 'skills-lock.json')) });
    const second = await openRoot(other);
    expect(await second.origin.verify()).toMatchObject([{ state: 'absent' }, { state: 'absent' }]);
    await (await second.origin.restore()).apply(ADA);
    expect(await filesOf(second, other)).toEqual(files);
    expect(readFileSync(join(other, 'skills-lock.json'), 'utf8')).toBe(
      readFileSync(join(root, 'skills-lock.json'), 'utf8'),
    );
    expect((await second.origin.restore()).skills).toEqual([]);
  });
});

it('asks which skills are meant, and takes one, several or all', async () => {
  const { root, registry } = await openRegistry();
  const from = tempFolder(SKILLS);
  await expect(registry.origin.add(from)).rejects.toMatchObject({
    code: 'ORIGIN_INVALID',
    message: expect.stringContaining('has 2 skills: kettle, tea. Choose with --skill NAME, or take --all.'),
  });
  await expect(registry.origin.add(from, { skills: ['coffee'] })).rejects.toMatchObject({
    message: expect.stringContaining('it has no skill "coffee". It has: kettle, tea.'),
  });
  await expect(registry.origin.add(from, { skills: ['ketle'] })).rejects.toMatchObject({
    message: expect.stringContaining('it has no skill "ketle". Did you mean "kettle"? It has: kettle, tea.'),
  });
  expect((await registry.origin.add(from, { all: true })).skills).toHaveLength(2);
  expect((await registry.origin.add(join(from, 'skills/kettle'))).skills).toMatchObject([{ id: 'kettle' }]);
  expect(Object.keys(treeOf(root))).toEqual([]);
});

it('names the first thirty of many skills, and says how many more there are', async () => {
  const { registry } = await openRegistry();
  const names = Array.from({ length: 32 }, (_, at) => `tea-${at + 10}`);
  const from = tempFolder(Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillMd({ name })])));
  await expect(registry.origin.add(from)).rejects.toMatchObject({
    message: expect.stringContaining('tea-39 and 2 more. Choose with --skill NAME, or take --all.'),
  });
});

it('takes the folder that is named in a repository, at the ref that is named', async () => {
  const repository = gitRepository(SKILLS);
  const first = repository.git('rev-parse', 'HEAD');
  repository.git('tag', 'v1');
  repository.commit({ 'skills/kettle/SKILL.md': skillMd({ name: 'kettle', description: 'Boils more water.' }) });
  const { registry } = await openRegistry();
  for (const ref of ['v1', first, first.slice(0, 10)]) {
    const { skills } = await registry.origin.add(`${repository.url}#${ref}`, { skills: ['skills/kettle'] });
    expect(skills, ref).toMatchObject([{ description: 'Boils water.' }]);
  }
  await expect(registry.origin.add(`${repository.url}#none`)).rejects.toMatchObject({ code: 'ORIGIN_UNAVAILABLE' });
});

it('says what the id of a skill does to skills that exist', async () => {
  const from = tempFolder(SKILLS);
  const tree = {
    'own/kettle/SKILL.md': skillMd({ name: 'kettle', description: 'Mine.' }),
    'own/kett1e/SKILL.md': skillMd({ name: 'kett1e', description: 'Mine.' }),
  };
  const sources = [{ path: 'own', writable: false }, { path: 'skills' }];
  const plan = async (collision: string) => {
    const { registry } = await openRegistry(tree, { sources, collision });
    return (await registry.origin.add(from, { skills: ['kettle'] })).skills[0];
  };
  const first = await plan('first');
  expect(first?.collides).toMatch(/own:kettle has this id as well and comes first/);
  expect(first?.problems).toMatchObject([{ code: 'SKILL_ID_CONFUSABLE' }]);
  expect((await plan('last'))?.collides).toMatch(/agents will see the new skill/);
  expect((await plan('error'))?.collides).toMatch(/agents will see neither/);
});

it('installs into the source that is named, and into no other folder', async () => {
  const sources = [{ path: 'skills' }, { path: 'team' }];
  const { root, registry } = await openRegistry({ 'team/x.md': '' }, { sources });
  const from = join(tempFolder(SKILLS), 'skills/kettle');
  await expect(registry.origin.add(from, { to: join(root, 'elsewhere') })).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringContaining('no source that may be written is this folder'),
  });
  const plan = await registry.origin.add(from, { to: join(root, 'team') });
  await plan.apply(ADA);
  expect(existsSync(join(root, 'team/kettle/SKILL.md'))).toBe(true);
});

it('overwrites nothing: no folder that is there, and no skill that the lock has', async () => {
  const mine = skillMd({ name: 'kettle', description: 'Mine.' });
  const { root, registry } = await openRegistry({ 'skills/kettle/SKILL.md': mine });
  const from = tempFolder(SKILLS);
  const folder = join(root, 'skills/kettle');
  await expect(registry.origin.add(from, { all: true })).rejects.toMatchObject({
    code: 'SKILL_EXISTS',
    message: `Skill 'kettle' already exists (in ${folder}). To replace it, remove it first: skill-registry remove kettle. To keep both, add it to another source with --to.`,
  });
  expect(readFileSync(join(root, 'skills/kettle/SKILL.md'), 'utf8')).toBe(mine);
  expect(existsSync(join(root, 'skills-lock.json'))).toBe(false);

  const plan = await registry.origin.add(join(from, 'skills/tea'));
  await plan.apply(ADA);
  await expect(plan.apply(ADA)).rejects.toMatchObject({ code: 'SKILL_EXISTS' });
  expect(await registry.origin.add(join(from, 'skills/tea'))).toMatchObject({ skills: [], installed: ['tea'] });
  rmSync(join(root, 'skills/tea'), { recursive: true });
  await registry.refresh();
  await expect(registry.origin.add(join(from, 'skills/tea'))).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringContaining('its files are gone. To get them again: skill-registry add --frozen.'),
  });
});

it('links to a folder where the source follows the link, and leaves nothing where it does not', async () => {
  const from = join(tempFolder(SKILLS), 'skills/tea');
  const linked = await openRegistry({ 'skills/x.md': '' }, { sources: [{ path: 'skills', allow_outside: true }] });
  const plan = await linked.registry.origin.add(from, { link: true });
  expect(await plan.apply(ADA)).toEqual([{ id: 'tea', proposals: [] }]);
  expect(treeOf(join(linked.root, 'skills')).tea).toBe(`link ${from}`);
  expect(await linked.registry.origin.verify()).toEqual([]);
  expect(await linked.registry.origin.remove('tea', ADA)).toEqual({ id: 'tea', wasLocked: false });
  expect(existsSync(join(from, 'SKILL.md'))).toBe(true);
  expect(existsSync(join(linked.root, 'skills/tea'))).toBe(false);

  const refused = await openRegistry({ 'skills/x.md': '' });
  await expect((await refused.registry.origin.add(from, { link: true })).apply(ADA)).rejects.toMatchObject({
    message: expect.stringContaining('allow_outside: true'),
  });
  expect(Object.keys(treeOf(join(refused.root, 'skills')))).toEqual(['x.md']);
});

it('leaves a skill alone that another one requires and that is here already', async () => {
  const { registry } = await openRegistry();
  const from = tempFolder(SKILLS);
  await (await registry.origin.add(from, { skills: ['kettle'] })).apply(ADA);
  const plan = await registry.origin.add(from, { skills: ['tea', 'tea'] });
  expect(plan.skills).toMatchObject([{ id: 'tea', requires: ['kettle'], missing: [] }]);
  await plan.apply(ADA);
});

it('gives a skill whose name can be no id the name of its folder, in the lock as well', async () => {
  const { registry } = await openRegistry();
  const from = tempFolder({ 'odd/SKILL.md': skillMd({ name: '"???"', description: 'Odd.' }) });
  await (await registry.origin.add(from)).apply(ADA);
  expect(await registry.origin.verify()).toMatchObject([{ id: 'odd', name: 'odd', state: 'same' }]);
});

it('takes the first skill out again when the second cannot be written', async () => {
  const root = tempFolder({ 'skills/x.md': '' });
  let left = 1;
  const options = { root, config: { sources: [{ path: 'skills' }] } };
  const registry = await createSkillRegistry({
    ...options,
    onWriteStep: (step: string) => {
      // Somebody makes a file where the folder of the second one is to be.
      if (step === 'intent' && left-- === 0) writeFileSync(join(root, 'skills/tea'), '');
    },
  } as SkillRegistryOptions);
  const plan = await registry.origin.add(tempFolder(SKILLS), { all: true });
  await expect(plan.apply(ADA)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
  expect(Object.keys(treeOf(join(root, 'skills')))).toEqual(['tea', 'x.md']);
  expect(await registry.origin.verify()).toEqual([]);
  await registry.close();
});

it('takes what is a skill of all, and says what is none; one that is named is refused before anybody is asked', async () => {
  const { registry } = await openRegistry();
  const broken = '---\nname: broken\ndescription: It never ends.\n\n# Broken\n';
  const from = tempFolder({ ...SKILLS, 'broken/SKILL.md': broken, 'empty/SKILL.md': '' });
  const plan = await registry.origin.add(from, { all: true });
  expect(plan.skills.map(({ id }) => id)).toEqual(['kettle', 'tea']);
  expect([...plan.unreadable].sort()).toEqual(['broken/SKILL.md', 'empty/SKILL.md']);
  expect(await plan.apply(ADA)).toHaveLength(2);
  await expect(registry.origin.add(from, { skills: ['broken'] })).rejects.toMatchObject({ code: 'SKILL_INVALID' });
});

it('gives two skills of one name the names of their folders where that tells them apart', async () => {
  const { registry } = await openRegistry();
  const [one, two] = ['Brews tea.', 'Brews green tea.'].map((description) => skillMd({ name: 'tea', description }));
  const from = tempFolder({ 'a/tea/SKILL.md': one ?? '', 'b/green-tea/SKILL.md': two ?? '' });
  await (await registry.origin.add(from, { all: true })).apply(ADA);
  expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['green-tea', 'tea']);
  expect((await registry.origin.update()).skills).toMatchObject([{ state: 'current' }, { state: 'current' }]);
});
