import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { workspace } from '../../helpers/workspace.ts';

/** A SKILL.md for the folder of a path. */
const newFor = (path: string): string => skillMd({ name: path.split('/').at(-2) ?? '', description: 'A new skill.' });
const NEW = newFor('new/SKILL.md');
const ALLOW = { writes: { create: 'allow', update: 'allow' } };

const idsOf = (list: { skills: readonly { skillId: string }[] }): readonly string[] =>
  list.skills.map(({ skillId }) => skillId);

describe('the writes policy', () => {
  it.each(['propose', 'deny'])('keeps a write below a source from being done: %s', async (mode) => {
    const { root, registry, call } = await workspace({}, { writes: { create: mode, update: mode } });
    const before = readFileSync(join(root, 'skills/good/SKILL.md'), 'utf8');
    const answer =
      mode === 'deny'
        ? { success: false, error: { code: 'WRITE_DENIED' } }
        : { success: true, written: false, state: 'open' };
    expect(
      await call('write_file', { path: 'skills/new/SKILL.md', content: newFor('skills/new/SKILL.md') }),
    ).toMatchObject(answer);
    expect(
      await call('write_file', { path: 'skills/good/SKILL.md', content: newFor('skills/good/SKILL.md') }),
    ).toMatchObject(answer);
    expect(
      await call('write_file', {
        path: 'skills/good/references/new.md',
        content: newFor('skills/good/references/new.md'),
      }),
    ).toMatchObject(answer);
    expect(existsSync(join(root, 'skills/new'))).toBe(false);
    expect(readFileSync(join(root, 'skills/good/SKILL.md'), 'utf8')).toBe(before);
    await registry.refresh();
    expect(idsOf(registry.list())).toEqual(['good']);
  });

  it('is to propose unless the owner says otherwise, and leaves other files alone', async () => {
    const { call, codeOf } = await workspace();
    expect(
      await call('write_file', { path: 'skills/new/SKILL.md', content: newFor('skills/new/SKILL.md') }),
    ).toMatchObject({ written: false });
    expect(
      await codeOf('write_file', { path: 'skills/group/new/SKILL.md', content: newFor('skills/group/new/SKILL.md') }),
    ).toBe('PROPOSAL_REQUIRED');
    expect(await codeOf('write_file', { path: 'skills/loose.md', content: newFor('skills/loose.md') })).toBe(
      'PROPOSAL_REQUIRED',
    );
    expect(await call('write_file', { path: 'extensions/new/SKILL.md', content: NEW })).toMatchObject({
      success: true,
    });
  });

  it('lets the registry see an allowed write before the tool answers', async () => {
    const { registry, call } = await workspace({}, ALLOW);
    expect(
      await call('write_file', { path: 'skills/new/SKILL.md', content: newFor('skills/new/SKILL.md') }),
    ).toMatchObject({ created: true });
    expect(idsOf(registry.list())).toEqual(['good', 'new']);
    const changed = skillMd({ name: 'new', description: 'Quite another skill.' });
    expect(await call('write_file', { path: 'skills/new/SKILL.md', content: changed })).toMatchObject({
      created: false,
    });
    expect(registry.list({ query: 'new' }).skills).toMatchObject([{ description: 'Quite another skill.' }]);
    const kinds = (await registry.history.revisions('new')).map(({ kind }) => kind);
    expect(kinds).toEqual(['created', 'tool']);
  });

  it.each([
    ['create', 'skills/new/SKILL.md', 'skills/good/SKILL.md'],
    ['create', 'skills/group/new/SKILL.md', 'skills/good/references/deep/new.md'],
    ['update', 'skills/good/SKILL.md', 'skills/new/SKILL.md'],
    ['update', 'skills/good/new.md', 'skills/loose.md'],
  ])('tells a new skill from a change of one: only %s is allowed', async (allowed, writable, refused) => {
    const writes = { create: 'deny', update: 'deny', [allowed]: 'allow' };
    const { call, codeOf } = await workspace({}, { writes });
    expect(await call('write_file', { path: writable, content: newFor(writable) })).toMatchObject({ success: true });
    expect(await codeOf('write_file', { path: refused, content: NEW })).toBe('WRITE_DENIED');
  });

  it('takes a skill that a person has just put there for what it is', async () => {
    const { root, call, codeOf } = await workspace({}, { writes: { create: 'allow', update: 'deny' } });
    writeTree(root, { 'skills/theirs/SKILL.md': newFor('skills/theirs/SKILL.md') });
    expect(await codeOf('write_file', { path: 'skills/theirs/SKILL.md', content: 'mine' })).toBe('WRITE_DENIED');
    expect(
      await call('write_file', { path: 'skills/mine/SKILL.md', content: newFor('skills/mine/SKILL.md') }),
    ).toMatchObject({ success: true });
  });
});

/** Ways to write a skill that do not look like it. Each must be refused as long as skills are for people to write. */
describe('a way round the writes policy', () => {
  const denied = (source: Readonly<Record<string, unknown>>) => ({
    sources: [source],
    writes: { create: 'deny', update: 'deny' },
  });

  it.each([
    'extensions/../skills/new/SKILL.md',
    './extensions/.././skills/new/SKILL.md',
    'extensions/x/../../skills/new/SKILL.md',
  ])('does not lead through %s', async (path) => {
    const { root, codeOf } = await workspace({}, ALLOW);
    expect(await codeOf('write_file', { path, content: NEW })).toBe('PATH_TRAVERSAL');
    expect(existsSync(join(root, 'skills/new'))).toBe(false);
  });

  it.each(['skills/./new/SKILL.md', 'skills/new//SKILL.md', './skills/new/./SKILL.md', '././skills/new/SKILL.md'])(
    'does not open by another spelling: %s',
    async (path) => {
      const { codeOf } = await workspace({}, denied({ path: 'skills' }));
      expect(await codeOf('write_file', { path, content: NEW })).toBe('WRITE_DENIED');
    },
  );

  it('does not open where skills/ is a link', async () => {
    const elsewhere = tempFolder({ 'theirs/SKILL.md': NEW });
    const { root, registry, codeOf } = await workspace({}, denied({ path: 'skills' }));
    rmSync(join(root, 'skills'), { recursive: true });
    symlinkSync(elsewhere, join(root, 'skills'));
    await registry.refresh();
    expect(idsOf(registry.list())).toEqual(['theirs']);
    expect(await codeOf('write_file', { path: 'skills/theirs/SKILL.md', content: 'mine' })).toBe('WRITE_DENIED');
    expect(await codeOf('write_file', { path: 'skills/new/SKILL.md', content: newFor('skills/new/SKILL.md') })).toBe(
      'WRITE_DENIED',
    );
  });

  it('does not open where extensions/ is a link to the skills', async () => {
    const { root, codeOf } = await workspace({}, denied({ path: 'skills' }));
    rmSync(join(root, 'extensions'), { recursive: true });
    symlinkSync('skills', join(root, 'extensions'));
    expect(await codeOf('write_file', { path: 'extensions/new/SKILL.md', content: NEW })).toBe('WRITE_DENIED');
    expect(await codeOf('write_file', { path: 'extensions/good/SKILL.md', content: NEW })).toBe('WRITE_DENIED');
  });

  it('does not open where a source lies below extensions/, there already or still to be made', async () => {
    const { registry, codeOf } = await workspace({}, denied({ path: 'extensions/pack/skills' }));
    expect(registry.problems().map(({ code }) => code)).toEqual(['SOURCE_MISSING']);
    const path = 'extensions/pack/skills/new/SKILL.md';
    expect(await codeOf('write_file', { path, content: NEW })).toBe('WRITE_DENIED');
  });

  it('does not open where the source to be made is reached through links', async () => {
    const tree = { shortcut: { link: 'extensions' }, 'shortcut-to-be': { link: 'shortcut/later' } };
    const through = await workspace(tree, denied({ path: 'shortcut/pack' }));
    expect(await through.codeOf('write_file', { path: 'extensions/pack/new/SKILL.md', content: NEW })).toBe(
      'WRITE_DENIED',
    );
    const dangling = await workspace(tree, denied({ path: 'shortcut-to-be/pack' }));
    const path = 'extensions/later/pack/new/SKILL.md';
    expect(await dangling.codeOf('write_file', { path, content: NEW })).toBe('WRITE_DENIED');
  });

  it.each([
    ['a linked skill', { 'extensions/team/SKILL.md': NEW }, 'extensions/team/SKILL.md'],
    ['a new file of a linked skill', { 'extensions/team/SKILL.md': NEW }, 'extensions/team/notes.md'],
    ['a new skill in a linked folder', { 'extensions/team/old/SKILL.md': NEW }, 'extensions/team/new/SKILL.md'],
    ['the first skill in a linked folder', { 'extensions/team/.keep': '' }, 'extensions/team/new/SKILL.md'],
    ['a skill in a linked folder that is not there yet', {}, 'extensions/team/SKILL.md'],
  ])('does not open behind a link that may leave the source: %s', async (_title, tree, path) => {
    const links = { 'skills/team': { link: '../extensions/team' } };
    const { codeOf } = await workspace({ ...tree, ...links }, denied({ path: 'skills', allow_outside: true }));
    expect(await codeOf('write_file', { path, content: 'mine' })).toBe('WRITE_DENIED');
  });

  it.each([
    ['there', { 'extensions/text.md': NEW }],
    ['not there yet', {}],
  ])('does not open behind a SKILL.md that is a link to a file %s', async (_title, tree) => {
    const links = { 'skills/linked/SKILL.md': { link: '../../extensions/text.md' } };
    const { call, codeOf } = await workspace({ ...tree, ...links }, denied({ path: 'skills', allow_outside: true }));
    expect(await codeOf('write_file', { path: 'extensions/text.md', content: 'mine' })).toBe('WRITE_DENIED');
    expect(await call('write_file', { path: 'extensions/other/text.md', content: 'mine' })).toMatchObject({
      success: true,
    });
  });

  it.each(['skills/SKILL.md', 'skills/group/skill.md'])(
    'does not open to skills that are kept from models, by a skill that takes them in: %s',
    async (path) => {
      const hidden = skillMd({ name: 'hidden', description: 'x', 'disable-model-invocation': 'true' });
      const tree = { 'skills/group/hidden/SKILL.md': hidden, 'skills/group/hidden/a.md': 'secret' };
      const { root, call, codeOf } = await workspace(tree, ALLOW);
      expect(await codeOf('write_file', { path, content: NEW })).toBe('WRITE_DENIED');
      expect(existsSync(join(root, path))).toBe(false);
      expect(await codeOf('read_file', { path: 'skills/group/hidden/a.md' })).toBe('SKILL_NOT_FOUND');
      // A new one beside them takes in nothing.
      expect(
        await call('write_file', { path: 'skills/group/new/SKILL.md', content: newFor('skills/group/new/SKILL.md') }),
      ).toMatchObject({
        success: true,
      });
    },
  );

  it.each([
    ['the pack itself', 'extensions/team/pack.json'],
    ['a skill of the pack', 'extensions/team/there/SKILL.md'],
    ['a skill the pack names that is not there yet', 'extensions/team/later/SKILL.md'],
    ['a bare file the pack names', 'extensions/team/bare.md'],
    ['what a link in a skill folder of the pack leads to', 'extensions/team/shared/linked/SKILL.md'],
    ['a package the pack names', 'extensions/team/node_modules/@acme/skills/skills/new/SKILL.md'],
    ['a package nearer than the one there is', 'extensions/node_modules/@acme/skills/package.json'],
  ])('does not open in a prompt pack: %s', async (_title, path) => {
    const skills = ['./there', './later', './bare.md', './many', '@acme/skills'].map((reference) => ({
      path: reference,
    }));
    const tree = {
      'extensions/team/manifest.yaml': '',
      'extensions/team/pack.json': JSON.stringify({ id: 'team', version: '1', skills }),
      'extensions/team/there/SKILL.md': NEW,
      'extensions/team/shared/linked/SKILL.md': NEW,
      'extensions/team/many/linked': { link: '../shared/linked' },
      'node_modules/@acme/skills/package.json': '{ "skills": "skills" }',
    };
    const { registry, call, codeOf } = await workspace(tree, denied({ pack: 'extensions/team/pack.json' }));
    expect(idsOf(registry.list())).toEqual(['linked', 'there']);
    const code = path.includes('node_modules') ? 'INVALID_ARGUMENT' : 'WRITE_DENIED';
    expect(await codeOf('write_file', { path, content: NEW })).toBe(code);
    expect(await call('write_file', { path: 'extensions/team/readme.md', content: '' })).toMatchObject({
      success: true,
    });
  });

  it('does not open for a bare file that is a source', async () => {
    const { codeOf } = await workspace({}, denied({ path: 'extensions/later.md' }));
    expect(await codeOf('write_file', { path: 'extensions/later.md', content: NEW })).toBe('WRITE_DENIED');
  });

  it('does not open through links: those within the root are followed, and the folder they lead to is a skill', async () => {
    const tree = {
      'skills/team': { link: '../extensions/team' },
      'extensions/team/SKILL.md': NEW,
      'extensions/team/manifest.yaml': '',
    };
    const { root, registry, codeOf } = await workspace(tree, denied({ path: 'skills' }));
    expect(await codeOf('write_file', { path: 'extensions/team/SKILL.md', content: NEW })).toBe('WRITE_DENIED');
    expect(await codeOf('write_file', { path: 'skills/team/SKILL.md', content: newFor('skills/team/SKILL.md') })).toBe(
      'WRITE_DENIED',
    );
    symlinkSync('../skills', join(root, 'extensions/way-in'));
    expect(await codeOf('write_file', { path: 'extensions/way-in/new/SKILL.md', content: NEW })).toBe('PATH_TRAVERSAL');
    expect(idsOf(registry.list())).toEqual(['good', 'team']);
  });
});
