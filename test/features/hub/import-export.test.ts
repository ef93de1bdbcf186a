import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { attack } from '../../helpers/held.ts';
import { DEPLOY, openHub, skillText } from '../../helpers/hub.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { treeOf } from '../../helpers/tree-of.ts';

/** Runs `hub` on a folder of its own, and says what the command printed as JSON. */
function hubIn(data = tempFolder()) {
  const run = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await runCommand(['hub', ...args, '--data', data, '--json']);
    return { status, stderr, json: stdout === '' ? undefined : JSON.parse(stdout) };
  };
  return {
    data,
    run,
    take: (from: string) => run('import', from, '--space', 'team', '--by', 'ada'),
    give: (to: string) => run('export', to, '--space', 'team'),
  };
}

const TEAM: Tree = {
  'deploy/SKILL.md': DEPLOY,
  'deploy/scripts/push.sh': { content: '#!/bin/sh\nexit 0\n', mode: 0o755 },
  'deploy/assets/logo.bin': Buffer.from([0, 255, 10, 13, 10, 128]),
  'deploy/references/ä b/größe.md': '# Größe\r\n',
  'deploy/extensions/own/main.js': '// never run from a hub\n',
  'deploy/data/table.csv': 'a,b\n',
  'empty-file/SKILL.md': skillText('empty-file', 'Has an empty file.', ['1. Look.']),
  'empty-file/.gitkeep': '',
  'plain/SKILL.md': skillText('plain', 'One file.', ['1. Do it.']),
};

it('refuses a folder without skills, and what allows nothing', async () => {
  const hub = hubIn();
  for (const from of [tempFolder(), tempFolder({ 'a/README.md': '' })])
    expect(await hub.take(from)).toMatchObject({ status: 2, stderr: expect.stringContaining('SKILL.md') });
  const args = ['import', tempFolder(TEAM), '--space', 'team', '--by', 'ada', '--allow-block'];
  expect((await hub.run(...args, 'deploy')).stderr).toContain('<id>@<digest>');
  expect((await hub.run('audit')).json.rows).toEqual([]);
});

it('writes what it has taken byte for byte, and takes the same again without a change', async () => {
  const from = tempFolder(TEAM);
  const hub = hubIn();
  expect((await hub.take(from)).json).toEqual({
    ...{ space: 'team', published: ['deploy', 'empty-file', 'plain'], same: 0, refused: [] },
  });
  const to = join(tempFolder(), 'new');
  const given = await hub.give(to);
  expect(given.status).toBe(0);
  expect(given.json).toEqual({ space: 'team', skills: 3, files: 9, damaged: [] });
  expect(treeOf(to)).toEqual(treeOf(from));
  expect((await hub.take(to)).json).toMatchObject({ published: [], same: 3, refused: [] });
  const { rows } = (await hub.run('audit')).json;
  expect(rows.map(({ by, what, subject }: Record<string, string>) => [by, what, subject])).toEqual([
    ['person:ada', 'published', 'deploy'],
    ['person:ada', 'published', 'empty-file'],
    ['person:ada', 'published', 'plain'],
  ]);
  // Of a tree that has changed, what has changed; what is not in it stays.
  writeTree(to, { 'plain/SKILL.md': skillText('plain', 'One file.', ['1. Do it well.']) });
  expect((await hub.take(join(to, 'plain'))).json).toMatchObject({ published: ['plain'], same: 0 });
  const again = hubIn();
  expect((await again.take(to)).json.published).toEqual(['deploy', 'empty-file', 'plain']);
  const both = [join(tempFolder(), 'one'), join(tempFolder(), 'two')] as const;
  await hub.give(both[0]);
  await again.give(both[1]);
  expect(treeOf(both[0])).toEqual(treeOf(both[1]));
});

it('gives what was imported to machines of that space', async () => {
  const hub = await openHub();
  const token = await hub.token('reader', 'bob');
  await hub.close();
  await hubIn(hub.folder).take(tempFolder(TEAM));
  const again = await openHub({ folder: hub.folder });
  const { json } = await again.ask(token, 'GET', '/changes');
  expect(json.changes.map(({ id }: { id: string }) => id)).toEqual(['deploy', 'empty-file', 'plain']);
  expect((await again.ask(token, 'GET', '/search?q=deploy+the+shop')).json.hits[0].id).toBe('deploy');
  expect((await again.ask(token, 'GET', `/artifacts/${json.changes[2].entry.digest}`)).text).toBe(
    TEAM['plain/SKILL.md'],
  );
});

it('takes nothing from outside the tree, and says of each skill why it is refused', async () => {
  const outside = tempFolder({ 'secret.txt': 'SECRET', 'other/SKILL.md': skillText('other', 'Other.', ['SECRET']) });
  const skill = (id: string): string => skillText(id, 'How to do it.', ['1. Do it.']);
  const from = tempFolder({
    'bad--name/SKILL.md': skill('bad--name'),
    'Big/SKILL.md': skill('Big'),
    'deep/er/deploy/SKILL.md': DEPLOY,
    'deploy/SKILL.md': DEPLOY,
    'good/SKILL.md': skill('good'),
    'good/.env': 'KEY=SECRET',
    'huge/SKILL.md': skill('huge'),
    'huge/data.txt': 'x'.repeat(5 * 1024 * 1024),
    'linked-file/SKILL.md': skill('linked-file'),
    'linked-file/notes.md': { link: join(outside, 'secret.txt') },
    'linked-folder/SKILL.md': skill('linked-folder'),
    'linked-folder/notes': { link: outside },
    'linked-skill/SKILL.md': { link: join(outside, 'other/SKILL.md') },
    'no-frontmatter/SKILL.md': '# Nothing\n',
    'turned/SKILL.md': skill('turned'),
    'turned/a\u202eb.md': 'x',
    other: { link: join(outside, 'other') },
  });
  const hub = hubIn();
  const { status, stderr, json } = await hub.take(from);
  const refused = Object.fromEntries(json.refused.map((one: Record<string, string>) => [one.id, one.code]));
  expect(refused).toEqual({
    'bad--name': 'SKILL_INVALID',
    Big: 'SKILL_INVALID',
    deploy: 'SKILL_EXISTS',
    huge: 'RESOURCE_TOO_LARGE',
    'linked-file': 'ORIGIN_REFUSED',
    'linked-folder': 'ORIGIN_REFUSED',
    'no-frontmatter': 'SKILL_INVALID',
    turned: 'ORIGIN_REFUSED',
  });
  expect(JSON.stringify(json.refused)).not.toContain('limits.');
  expect([status, json.published]).toEqual([1, ['deploy', 'good']]);
  expect(stderr).not.toContain('SECRET');
  const to = join(tempFolder(), 'new');
  await hub.give(to);
  expect(JSON.stringify(treeOf(to))).not.toContain('SECRET');
  expect((await hub.take(join(from, 'nothing'))).status).toBe(1);
});

it('lets in what looks like an attack only with the digest that was shown', async () => {
  const from = tempFolder({ 'deploy/SKILL.md': DEPLOY.replace('2. Push it.', attack(7)) });
  const hub = hubIn();
  const shown = await hub.take(from);
  const [{ code, digest }] = shown.json.refused;
  expect([shown.status, code, shown.json.published]).toEqual([1, 'BLOCK_NOT_CONFIRMED', []]);
  expect(shown.stderr).toContain(`--allow-block deploy@${digest}`);
  const letting = (wanted: string) => hub.run('import', from, '--space', 'team', '--allow-block', wanted);
  expect((await letting(`deploy@sha256:${'0'.repeat(64)}`)).json.refused).toMatchObject([{ code: 'SHOWN_CHANGED' }]);
  expect((await letting(`other@${digest}`)).json.refused).toMatchObject([{ code: 'BLOCK_NOT_CONFIRMED' }]);
  expect((await letting(`deploy@${digest}`)).json.published).toEqual(['deploy']);
});

it('is the way into an empty space where four eyes are wanted, and into no other', async () => {
  const data = tempFolder({ 'data/skill_registry/config.yaml': 'hub: { four_eyes: true }\n' });
  const hub = hubIn(data);
  const [one, two] = [tempFolder({ 'deploy/SKILL.md': DEPLOY }), tempFolder(TEAM)];
  expect((await hub.take(one)).json.published).toEqual(['deploy']);
  const refused = await hub.take(two);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('FOUR_EYES')]);
  expect((await hub.run('import', two, '--space', 'other')).json.published).toHaveLength(3);
});

it('writes below no folder that has something in it, and says what the database has not whole', async () => {
  const hub = hubIn();
  await hub.take(tempFolder(TEAM));
  const foreign = tempFolder({ 'notes.txt': 'mine' });
  expect((await hub.give(foreign)).status).toBe(2);
  expect(treeOf(foreign)).toEqual({ 'notes.txt': expect.stringContaining('mine') });
  expect((await hub.give(join(foreign, 'notes.txt'))).status).toBe(2);
  expect((await hub.run('export', tempFolder(), '--space', 'nobody')).status).toBe(2);
  const database = openSqlite(join(hub.data, 'data/hub/hub.db'));
  const digest = "(SELECT digest FROM skill WHERE id = 'plain')";
  database.exec(`UPDATE artifact SET bytes = CAST('other' AS BLOB) WHERE digest = ${digest}`);
  database.close();
  const to = tempFolder();
  const { status, json } = await hub.give(to);
  expect([status, json.skills, json.damaged]).toEqual([1, 2, ['plain']]);
  expect(Object.keys(treeOf(to))).not.toContain('plain');
  writeFileSync(join(to, 'deploy/SKILL.md'), 'mine');
  expect((await hub.give(to)).status).toBe(2);
});
