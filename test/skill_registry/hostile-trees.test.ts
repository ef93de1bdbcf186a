import { execFileSync } from 'node:child_process';
import { chmodSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import { briefProblems, openRoot } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { outsideFolder, SECRET } from '../helpers/traps.ts';

const GOOD = { 'skills/good/SKILL.md': skillMd({ name: 'good', description: 'A good skill.' }, 'Good body.') };

async function open(root: string, source: Readonly<Record<string, unknown>> = {}): Promise<SkillRegistry> {
  return openRoot(root, { config: { sources: [{ path: 'skills', ...source }] } });
}

const idsOf = (registry: SkillRegistry): readonly string[] =>
  registry.list({ limit: 200 }).skills.map((s) => s.skillId);

describe('a SKILL.md that is no plain file', () => {
  const make: Readonly<Record<string, (file: string, outside: string) => void>> = {
    FIFO: (file) => void execFileSync('mkfifo', [file]),
    'link to a secret': (file, outside) => symlinkSync(join(outside, 'secret.txt'), file),
    'link to an endless device': (file) => symlinkSync('/dev/zero', file),
    'link to the environment': (file) => symlinkSync('/proc/self/environ', file),
    'link to nothing': (file, outside) => symlinkSync(join(outside, 'missing'), file),
    'link to itself': (file) => symlinkSync('SKILL.md', file),
    'link to a folder outside': (file, outside) => symlinkSync(outside, file),
    'link to a FIFO inside': (file) => {
      execFileSync('mkfifo', [join(file, '..', 'pipe')]);
      symlinkSync('pipe', file);
    },
    'file of a terabyte': (file) => {
      writeFileSync(file, skillMd({ name: 'bad', description: 'Bad.' }));
      truncateSync(file, 2 ** 40);
    },
  };

  it.each([
    ['FIFO', 'SKILL_FILE_UNREADABLE', 'SKILL_FILE_UNREADABLE'],
    ['link to a secret', 'SYMLINK_OUTSIDE', undefined],
    ['link to an endless device', 'SYMLINK_OUTSIDE', 'SKILL_FILE_UNREADABLE'],
    ['link to nothing', 'SYMLINK_BROKEN', 'SYMLINK_BROKEN'],
    ['link to itself', 'SYMLINK_BROKEN', 'SYMLINK_BROKEN'],
    ['link to a folder outside', 'SYMLINK_OUTSIDE', 'SKILL_FILE_UNREADABLE'],
    ['link to a FIFO inside', 'SKILL_FILE_UNREADABLE', 'SKILL_FILE_UNREADABLE'],
    ['file of a terabyte', 'SKILL_FILE_UNREADABLE', 'SKILL_FILE_UNREADABLE'],
  ])('is a problem and no skill: a %s', async (kind, code, codeWithOutside) => {
    const outside = outsideFolder();
    const root = tempFolder({ ...GOOD, 'skills/bad/notes.md': '' });
    make[kind]?.(join(root, 'skills/bad/SKILL.md'), outside);
    const registry = await open(root);
    expect(idsOf(registry)).toEqual(['good']);
    expect(briefProblems(registry.problems(), root)).toEqual([`${code} skills/bad/SKILL.md`]);
    expect(JSON.stringify(registry.problems())).not.toContain(SECRET);
    // Even an owner who lets links leave the source gets no device and no FIFO.
    const trusting = await open(root, { allow_outside: true });
    if (codeWithOutside)
      expect(briefProblems(trusting.problems(), root)).toEqual([`${codeWithOutside} skills/bad/SKILL.md`]);
    else expect(await runRegistryTool(trusting, 'read_skill', { skill_id: 'bad' })).toMatchObject({ content: SECRET });
  });
});

describe('links among skills', () => {
  it('end when they run in circles, and find each skill once', async () => {
    const root = tempFolder({
      ...GOOD,
      'skills/a/up': { link: '..' },
      'skills/a/self': { link: '.' },
      'skills/b/to-a': { link: '../a' },
      'skills/a/to-b': { link: '../b' },
      'skills/top': { link: '../skills' },
    });
    const links = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`skills/z/${n}`, { link: '../good' }]));
    writeTree(root, links);
    const registry = await open(root);
    expect(idsOf(registry)).toHaveLength(1);
    expect(registry.problems()).toEqual([]);
  });

  it('are resolved against the real folder of a source that is itself a link', async () => {
    const real = tempFolder({
      'good/SKILL.md': 'Good body.',
      'good/guide.md': 'guide',
      'good/link.md': { link: 'guide.md' },
    });
    const outside = outsideFolder();
    writeTree(real, { 'leaves/SKILL.md': { link: join(outside, 'SKILL.md') } });
    const root = tempFolder({ skills: { link: real } });
    const registry = await open(root);
    expect(idsOf(registry)).toEqual(['good']);
    const read = (path: string) => runRegistryTool(registry, 'read_skill_resource', { skill_id: 'good', path });
    expect(await read('guide.md')).toMatchObject({ content: 'guide' });
    expect(await read('link.md')).toMatchObject({ error: { code: 'PATH_TRAVERSAL' } });
    expect(briefProblems(registry.problems(), root)).toContain('SYMLINK_OUTSIDE skills/leaves/SKILL.md');
  });

  it('lead nowhere once the source has become a link to somewhere else', async () => {
    const outside = tempFolder({ 'good/SKILL.md': SECRET, 'good/guide.md': SECRET });
    const root = tempFolder({ ...GOOD, 'skills/good/guide.md': 'guide' });
    const registry = await open(root);
    renameSync(join(root, 'skills'), join(root, 'away'));
    symlinkSync(outside, join(root, 'skills'));
    const args = { skill_id: 'good', path: 'guide.md' };
    expect(await runRegistryTool(registry, 'read_skill_resource', args)).toMatchObject({
      error: { code: 'PATH_TRAVERSAL' },
    });
    expect(await runRegistryTool(registry, 'read_skill', args)).not.toMatchObject({ success: true });
    expect((await runRegistryTool(registry, 'read_skill', { skill_id: 'good' })).success).toBe(false);
  });
});

it.skipIf(process.getuid?.() === 0)('lists what may be read when a folder or a file beside it may not', async () => {
  const root = tempFolder({
    ...GOOD,
    'skills/good/locked/a.txt': 'a',
    'skills/good/z.txt': 'z',
    'skills/good/y.txt': 'y',
  });
  chmodSync(join(root, 'skills/good/locked'), 0);
  chmodSync(join(root, 'skills/good/y.txt'), 0);
  onTestFinished(() => chmodSync(join(root, 'skills/good/locked'), 0o700));
  const registry = await open(root);
  expect((await registry.read('good')).resources.map(({ path }) => path)).toEqual(['y.txt', 'z.txt']);
  for (const path of ['locked/a.txt', 'y.txt'])
    expect(await runRegistryTool(registry, 'read_skill_resource', { skill_id: 'good', path })).toMatchObject({
      error: { code: 'RESOURCE_NOT_FOUND', message: expect.stringContaining('not permitted') },
    });
});

it('gives no skill the qualified id of another', async () => {
  const root = tempFolder({
    ...GOOD,
    'skills/skills:good/SKILL.md': skillMd({ name: 'good', description: 'Not me.' }),
  });
  const registry = await open(root);
  expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'skills:good' })).toMatchObject({
    content: 'Good body.',
  });
  expect(briefProblems(registry.problems(), root)).toContain('SKILL_ID_INVALID skills/skills:good/SKILL.md');
});

describe('a file beside the skills that is no plain file', () => {
  const pack = { name: 'Packed', description: 'A packed skill.', instructions: 'Do it.' };

  it.each([
    ['FIFO', (file: string) => void execFileSync('mkfifo', [file])],
    ['link to an endless device', (file: string) => symlinkSync('/dev/zero', file)],
    [
      'file of a terabyte',
      (file: string) => {
        writeFileSync(file, '');
        truncateSync(file, 2 ** 40);
      },
    ],
  ])('stops no scan: a .gitignore or a prompt pack that is a %s', async (_kind, make) => {
    const root = tempFolder(GOOD);
    make(join(root, 'skills/.gitignore'));
    make(join(root, 'bad.json'));
    writeTree(root, { 'fine.json': JSON.stringify({ id: 'fine', version: '1', skills: [pack] }) } satisfies Tree);
    const registry = await openRoot(root, {
      config: { sources: [{ path: 'skills', ignore_files: true }, { pack: 'bad.json' }, { pack: 'fine.json' }] },
    });
    expect(idsOf(registry)).toEqual(['good', 'packed']);
    expect(briefProblems(registry.problems(), root)).toEqual(['PACK_UNREADABLE bad.json']);
  });
});
