import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { exchangeAtEachOpening } from '../helpers/exchange.ts';
import { attack } from '../helpers/held.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';
import { type Workspace, workspace } from '../helpers/workspace.ts';

const HIDDEN = 'nobody told you this';
const NO_MODEL = { 'disable-model-invocation': 'true' };

const hiddenSkill = (id: string, fields: Readonly<Record<string, string>> = {}): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Does ${id}.`, ...fields }, HIDDEN),
  [`skills/${id}/references/a.md`]: HIDDEN,
});

/** Bound to `good` alone. */
const BOUND: TurnContext = { agentId: 'narrow', boundSkills: ['good'] };
const ALL: TurnContext = { agentId: 'wide' };

const answerOf = async (place: Workspace, tool: string, path: string, turn: TurnContext): Promise<string> =>
  JSON.stringify(await place.call(tool, { path }, turn)).replaceAll(path, '<path>');

it.each<[string, Tree, TurnContext, string, Readonly<Record<string, unknown>>?]>([
  ['out of scope', hiddenSkill('other'), BOUND, 'SKILL_OUT_OF_SCOPE'],
  ['kept from models by its author', hiddenSkill('other', NO_MODEL), ALL, 'SKILL_NOT_MODEL_INVOCABLE'],
  [
    'gated',
    hiddenSkill('other', { metadata: '{ openclaw: { requires: { bins: [no-such-program] } } }' }),
    ALL,
    'SKILL_HIDDEN',
  ],
  [
    'of another state of a workflow',
    hiddenSkill('other'),
    { ...ALL, workflowState: { pack: 'none' } },
    'SKILL_OUT_OF_SCOPE',
  ],
  ['deeper down', { 'skills/group/x': '', ...hiddenSkill('group/other') }, BOUND, 'SKILL_OUT_OF_SCOPE'],
])('a skill that is %s is not there, and the attempt is told of', async (_title, tree, turn, reason) => {
  const place = await workspace(tree);
  const folder =
    Object.keys(tree)
      .find((path) => path.endsWith('/SKILL.md'))
      ?.replace('/SKILL.md', '') ?? '';
  for (const below of ['SKILL.md', 'references/a.md', 'references/none.md', '', 'references']) {
    const [path, missing] = [`${folder}/${below}`, `${folder.replace(/other$/, 'never')}/${below}`];
    for (const tool of below.endsWith('.md') ? ['read_file'] : ['read_file', 'list_files']) {
      const slashless = path.replace(/\/$/, '');
      const answer = await answerOf(place, tool, slashless, turn);
      expect(answer).toContain('SKILL_NOT_FOUND');
      // The very answer that a skill gets which never was.
      expect(answer).toBe(await answerOf(place, tool, missing.replace(/\/$/, ''), turn));
    }
  }
  const refused = place.loaded.filter(({ outcome }) => outcome === 'refused');
  expect(refused.length).toBeGreaterThan(2);
  expect(new Set(refused.map(({ error, agentId: agent_id }) => `${agent_id} ${error}`))).toEqual(
    new Set([`${turn.agentId} ${reason}`]),
  );
  const above = folder.replace(/\/[^/]*$/, '');
  const { entries } = (await place.call('list_files', { path: above }, turn)) as unknown as {
    entries: { name: string }[];
  };
  expect(entries.map(({ name }) => name)).not.toContain('other');
});

it('a skill in scope is handed over with its event, and lists what its resources are', async () => {
  const place = await workspace({
    'skills/good/references/a.md': 'A.',
    'skills/good/references/deep/b.md': 'Bee.',
    'skills/good/node_modules/x/index.js': '',
    'skills/good/empty/sub/.keep': '',
    'skills/good/.git/config': HIDDEN,
    'skills/good/.env': HIDDEN,
    'skills/good/link.md': { link: 'references/a.md' },
    ...hiddenSkill('other'),
  });
  const read = await place.call('read_file', { path: 'skills/good/SKILL.md' }, BOUND);
  expect(read).toMatchObject({ success: true, content: expect.stringContaining('name: good') });
  const file = await place.call('read_file', { path: 'skills/./good/references/deep/b.md' }, BOUND);
  expect(file).toMatchObject({ success: true, content: 'Bee.', size: 4 });
  expect(place.loaded).toMatchObject([
    { skillId: 'good', outcome: 'success', agentId: 'narrow', audience: 'model' },
    { skillId: 'good', path: 'references/deep/b.md', outcome: 'success', agentId: 'narrow' },
  ]);
  expect(place.loaded[0]).not.toHaveProperty('path');
  expect(await place.call('list_files', { path: 'skills/good/' }, BOUND)).toEqual({
    success: true,
    path: 'skills/good/',
    left_out: 2,
    entries: [
      { name: 'SKILL.md', kind: 'file', size: expect.any(Number) },
      { name: 'empty', kind: 'directory', size: 0 },
      { name: 'references', kind: 'directory', size: 0 },
    ],
  });
  expect(await place.call('list_files', { path: 'skills/good/references' }, BOUND)).toMatchObject({
    entries: [
      { name: 'a.md', kind: 'file', size: 2 },
      { name: 'deep', kind: 'directory', size: 0 },
    ],
  });
  for (const [path, code] of [
    ['skills/good/none.md', 'RESOURCE_NOT_FOUND'],
    ['skills/good/SKILL.md/', 'INVALID_ARGUMENT'],
    ['skills/good/link.md', 'PATH_TRAVERSAL'],
    ['skills/good/.git/config', 'RESOURCE_NOT_FOUND'],
    ['skills/good/.env', 'RESOURCE_NOT_FOUND'],
  ] as const)
    expect([path, await place.codeOf('read_file', { path }, BOUND)]).toEqual([path, code]);
  expect(await place.codeOf('list_files', { path: 'skills/good/none' }, BOUND)).toBe('RESOURCE_NOT_FOUND');
  expect(await place.codeOf('list_files', { path: 'skills/good/.git' }, BOUND)).toBe('RESOURCE_NOT_FOUND');
});

it('hides what has come since the last look, what cannot be loaded, and what a bare file or a pack holds', async () => {
  const pack = { id: 's', skills: [{ name: 'Secret', description: 'd', instructions: HIDDEN }] };
  const place = await workspace(
    {
      'skills/broken/SKILL.md': '',
      'skills/broken/notes.md': HIDDEN,
      'skills/bare.md': skillMd({ description: 'Bare.' }, HIDDEN),
      'skills/support.json': JSON.stringify(pack),
      'skills/README.md': 'For everybody.',
    },
    { sources: [{ path: 'skills' }, { path: 'skills/bare.md' }, { pack: 'skills/support.json' }] },
  );
  const late = tempFolder(hiddenSkill('late', NO_MODEL));
  renameSync(join(late, 'skills/late'), join(place.root, 'skills/late'));
  for (const path of ['skills/broken/notes.md', 'skills/broken/SKILL.md', 'skills/bare.md', 'skills/support.json'])
    expect([path, await place.codeOf('read_file', { path }, BOUND)]).toEqual([path, 'SKILL_NOT_FOUND']);
  expect(await place.codeOf('read_file', { path: 'skills/late/references/a.md' }, ALL)).toBe('SKILL_NOT_FOUND');
  const { entries } = (await place.call('list_files', { path: 'skills' }, BOUND)) as unknown as {
    entries: { name: string }[];
  };
  expect(entries.map(({ name }) => name)).toEqual(['README.md', 'good']);
  expect(await place.call('read_file', { path: 'skills/README.md' }, BOUND)).toMatchObject({
    content: 'For everybody.',
  });
  // Who sees everything mends what is broken, and reads the pack.
  expect(await place.call('read_file', { path: 'skills/broken/notes.md' }, ALL)).toMatchObject({ content: HIDDEN });
  expect(await place.call('read_file', { path: 'skills/support.json' }, ALL)).toMatchObject({ success: true });
  expect(await place.call('read_file', { path: 'skills/bare.md' }, ALL)).toMatchObject({ success: true });
});

it('a skill that a link leads to is hidden and served by the name of the link as well', async () => {
  const outside = tempFolder(hiddenSkill('far'));
  const place = await workspace(
    { 'skills/far': { link: join(outside, 'skills/far') } },
    { sources: [{ path: 'skills', allow_outside: true }] },
  );
  expect(await place.codeOf('read_file', { path: 'skills/far/references/a.md' }, BOUND)).toBe('SKILL_NOT_FOUND');
  expect(await place.codeOf('list_files', { path: 'skills/far' }, BOUND)).toBe('SKILL_NOT_FOUND');
  expect(JSON.stringify(await place.call('list_files', { path: 'skills' }, BOUND))).not.toContain('far');
  expect(await place.call('read_file', { path: 'skills/far/references/a.md' }, ALL)).toMatchObject({ content: HIDDEN });
});

it('the text of a skill is hidden where it lies, too, when its SKILL.md is a link', async () => {
  const tree = {
    'extensions/text.md': skillMd({ name: 'linked', description: 'Linked.' }, HIDDEN),
    'skills/linked/SKILL.md': { link: '../../extensions/text.md' },
  };
  const place = await workspace(tree, { sources: [{ path: 'skills', allow_outside: true }] });
  expect(await place.codeOf('read_file', { path: 'extensions/text.md' }, BOUND)).toBe('SKILL_NOT_FOUND');
  expect(await place.call('read_file', { path: 'extensions/text.md' }, ALL)).toMatchObject({ success: true });
  expect(place.loaded.map(({ skillId, outcome }) => `${skillId} ${outcome}`)).toEqual([
    'linked refused',
    'linked success',
  ]);
});

it.each([
  '.git/hooks/post-checkout',
  '.GIT/config',
  '.git./config',
  '.git /config',
  '.g\u200cit/config',
  '.git::$INDEX_ALLOCATION/config',
  'git~1/config',
  '\uff0egit/config',
  'references/.git',
  'node_modules/x/index.js',
  'Node_Modules/x/index.js',
  'node_modules./x',
  '.ssh/authorized_keys',
  '.env',
  '.ENV.local',
  'keys/id_ed25519',
])('write_file writes no %j, in a source or beside it', async (path) => {
  const place = await workspace({}, { writes: { create: 'allow', update: 'allow' } });
  for (const folder of ['skills/good', 'skills', 'extensions/box', 'extensions']) {
    const result = await place.call('write_file', { path: `${folder}/${path}`, content: 'mine' });
    expect(result).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
  }
  expect(await place.codeOf('read_file', { path: `extensions/box/${path}` })).toBe('RESOURCE_NOT_FOUND');
});

it('errors of the file tools carry codes and no path of the machine', async () => {
  const place = await workspace({}, { writes: { create: 'allow', update: 'allow' } });
  mkdirSync(join(place.root, 'skills/good/folder'));
  writeFileSync(join(place.root, 'skills/good/file'), '');
  const long = 'n'.repeat(300);
  const below = [long, `${long}/x`, 'folder', 'file/x', '.git/x', '../x', `SKILL.md/${long}`, 'SKILL.md/'];
  const results = await Promise.all(
    ['skills/good', 'skills', 'extensions/box', 'extensions/new'].flatMap((folder) =>
      below.flatMap((path) => [
        place.call('write_file', { path: `${folder}/${path}`, content: '' }),
        place.call('read_file', { path: `${folder}/${path}` }),
        place.call('list_files', { path: `${folder}/${path}` }),
      ]),
    ),
  );
  const errors = results.flatMap((one) =>
    one.success ? [] : [(one as { error: { code: string; message: string } }).error],
  );
  expect(errors.length).toBeGreaterThan(60);
  expect(errors.filter(({ code }) => code === 'TOOL_FAILED')).toEqual([]);
  expect(JSON.stringify(errors)).not.toContain(place.root);
});

it('gives no file with a block finding that lies in a source beside the skills that could be loaded', async () => {
  const broken = '---\nname: [\n---\n';
  const { root, call } = await workspace(
    {
      'skills/broken/SKILL.md': `${broken}MARKED ${attack(41)}`,
      'skills/broken/times.md': `MARKED ${attack(42)}`,
      'skills/no-skill/notes.md': `MARKED ${attack(43)}`,
      'skills/bare.md': `MARKED ${attack(44)}`,
      'skills/harmless/SKILL.md': `${broken}Harmless.`,
    },
    { validation: 'spec' },
  );
  for (const path of ['broken/SKILL.md', 'broken/times.md', 'no-skill/notes.md', 'bare.md']) {
    const answer = await call('read_file', { path: `skills/${path}` }, ALL);
    expect([path, JSON.stringify(answer)]).toEqual([path, expect.stringContaining('SKILL_NOT_FOUND')]);
  }
  expect(await call('read_file', { path: 'skills/harmless/SKILL.md' }, ALL)).toMatchObject({ success: true });
  // What was read is what is judged.
  exchangeAtEachOpening(join(root, 'skills/harmless/SKILL.md'), [
    `${broken}MARKED ${attack(45)}`,
    `${broken}Harmless.`,
  ]);
  const answer = await call('read_file', { path: 'skills/harmless/SKILL.md' }, ALL);
  expect(JSON.stringify(answer)).not.toContain('MARKED');
});
