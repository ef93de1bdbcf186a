import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import { putBlob } from '../../../../extensions/skill_registry/features/history/revisions.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { openSqlite, type SqliteDatabase } from '../../../../lib/sqlite/index.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { ADA, LONGER, TEA } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

const EVIL = TEA.replace('two minutes', 'evil minutes');
const ID = 'abcdef012345';

interface Foreign {
  /** With `root`, and beside it `outside`. */
  readonly house: string;
  readonly root: string;
  edit(use: (database: SqliteDatabase) => void): void;
}

/** A folder from somebody else, whose history has had an honest beginning. */
async function foreign(): Promise<Foreign> {
  const house = tempFolder({
    'root/skills/tea/SKILL.md': TEA,
    'root/.git/hooks/readme': 'x\n',
    'outside/tea/SKILL.md': TEA,
    'outside/SKILL.md': TEA,
  });
  const root = join(house, 'root');
  const registry = await open(root);
  await registry.history.revisions('tea');
  await registry.close();
  return {
    house,
    root,
    edit(use) {
      const database = openSqlite(join(root, 'data/skill_registry/history.db'));
      use(database);
      database.close();
    },
  };
}

async function open(root: string, more: object = {}): Promise<SkillRegistry> {
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] }, ...more });
  onTestFinished(() => registry.close());
  return registry;
}

/** Everything but the databases of the root and their locks. */
function everything(house: string): object {
  const own = /data\/skill_registry\/(history|cache|write)/;
  return Object.fromEntries(Object.entries(treeOf(house)).filter(([path]) => !own.test(path)));
}

type Fields = Record<string, unknown>;

type Row = Fields & { readonly place: Fields };

/** An unfinished change that would put EVIL in the place of what is there, wherever it is said to be. */
function rowIn(house: string, id: string): Row {
  return {
    id,
    place: { skillId: 'tea', source: 'skills', key: 'skills/tea', base: join(house, 'root/skills'), below: 'tea' },
    changes: [{ path: 'SKILL.md', before: digestOf(EVIL), after: digestOf(TEA) }],
    ...{ kind: 'tool', by: 'person:mallory', at: '2026-01-01T00:00:00.000Z' },
  };
}

/** Writes rows into the journal that are such changes, but for what is made of them. */
function begin({ edit, house }: Foreign, ...makes: readonly ((row: Row, house: string) => void)[]): void {
  edit((database) => {
    putBlob(database, Buffer.from(EVIL));
    for (const [index, make] of makes.entries()) {
      const row = rowIn(house, `${ID.slice(0, -2)}${String(index).padStart(2, '0')}`);
      make(row, house);
      database.prepare('INSERT INTO operation VALUES (?, ?)').run(String(row.id), JSON.stringify(row));
    }
  });
}

const change = (more: Fields) => (row: Fields) => void Object.assign(row, more);
const place = (more: (house: string) => Fields) => (row: Row, house: string) =>
  void Object.assign(row.place, more(house));
const file = (path: unknown, more: Fields = {}) =>
  change({ changes: [{ path, before: digestOf(EVIL), after: digestOf(TEA), ...more }] });
const made = (path: string) => file(path, { before: digestOf(EVIL), after: null });
const both =
  (...makes: readonly ((row: Row, house: string) => void)[]) =>
  (row: Row, house: string) => {
    for (const make of makes) make(row, house);
  };
const move = (direction: string, folder: unknown) => change({ changes: [], move: { direction, folder } });

const ROWS: readonly (readonly [string, (row: Row, house: string) => void])[] = [
  ['a base outside of the root', place((house) => ({ base: join(house, 'outside') }))],
  ['a base and a key outside', place((house) => ({ base: join(house, 'outside'), key: join(house, 'outside/tea') }))],
  ['a key outside and no base', place((house) => ({ base: undefined, key: join(house, 'outside/tea') }))],
  [
    'a key that climbs',
    place(() => ({ base: undefined, key: 'skills/../../outside/tea', below: '../../outside/tea' })),
  ],
  ['a skill that climbs', place(() => ({ base: undefined, below: '../../outside/tea' }))],
  ['the root as base', place((house) => ({ base: join(house, 'root'), below: 'skills/tea' }))],
  ['a source that is none', place(() => ({ source: 'other' }))],
  ['no source', place(() => ({ source: undefined, base: undefined }))],
  ['a skill in .git', place(() => ({ base: undefined, key: 'skills/.git', below: '.git' }))],
  ['a file that climbs', file('../../../outside/SKILL.md')],
  ['an absolute file', file('/etc/hostname')],
  ['a new file that climbs', made('../../../outside/new.md')],
  ['a new file in .git', made('.git/hooks/pre-commit')],
  ['a file that is no text', file(7)],
  ['a digest that is none', file('SKILL.md', { before: 7 })],
  ['a content that is not there', file('SKILL.md', { before: digestOf('nothing') })],
  ['no files', change({ changes: undefined })],
  ['a name that climbs', change({ id: '/../../../../outside/x' })],
  ['a name of something else', change({ id: '012345abcdef0' })],
  ['an archive that climbs', move('out', '../../../outside')],
  ['an archive that is another folder', move('out', 'proposals')],
  ['an archive that climbs behind its name', move('back', `.archive/../../../../outside-${ID}`)],
  ['an archive that is no text', move('back', null)],
  ['a move to nowhere', move('sideways', `.archive/tea-${ID}`)],
  [
    'a change that is done, elsewhere',
    both(
      change({ done: 1 }),
      place((house) => ({ base: join(house, 'outside') })),
    ),
  ],
];

describe('an unfinished change in a history from somewhere else', () => {
  it('is refused when no registry has written it: nothing is written, it is a problem, and skills can be changed', async () => {
    const there = await foreign();
    begin(there, ...ROWS.map(([, make]) => make));
    there.edit((database) =>
      database.exec("INSERT INTO operation VALUES ('1', 'no JSON'), ('2', '[]'), ('3', 'null')"),
    );
    const before = everything(there.house);
    const { status, stdout } = await runCommand(['list', '--json', '--root', there.root]);
    const { problems } = JSON.parse(stdout) as { problems: { code: string }[] };
    const names = [...ROWS.map(([name]) => name), 'no JSON', 'a list', 'nothing'];
    const codes = problems.map(({ code }, index) => [names[index], code]);
    expect([status, codes]).toEqual([1, names.map((name) => [name, 'HISTORY_ROW_REFUSED'])]);
    expect(everything(there.house)).toEqual(before);
    const registry = await open(there.root);
    await registry.admin.management.write('tea', 'references/new.md', 'new\n', ADA);
    expect(readFileSync(join(there.root, 'skills/tea/SKILL.md'), 'utf8')).toBe(TEA);
    expect(treeOf(join(there.house, 'outside'))).toEqual(treeOf(join((await foreign()).house, 'outside')));
  });

  it('would be undone if it were of the source, with the base that earlier releases wrote and without', async () => {
    for (const base of [(house: string) => join(house, 'root/skills'), () => undefined]) {
      const there = await foreign();
      begin(
        there,
        place((house) => ({ base: base(house) })),
      );
      const registry = await open(there.root);
      expect(readFileSync(join(there.root, 'skills/tea/SKILL.md'), 'utf8')).toBe(EVIL);
      expect(registry.problems()).toEqual([]);
    }
  });

  it('is left alone where nothing is to be ended, and the skill is not changed before somebody has looked', async () => {
    const there = await foreign();
    begin(there, () => undefined);
    const before = everything(there.house);
    const registry = await open(there.root, { trust: false });
    expect(await registry.history.revisions('tea')).toHaveLength(1);
    expect(everything(there.house)).toEqual(before);
    expect(registry.problems().map(({ code }) => code)).toEqual(['CHANGE_UNFINISHED']);
    await expect(registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA)).rejects.toMatchObject({
      code: 'CHANGE_UNFINISHED',
    });
    await expect(registry.admin.management.remove('tea', ADA)).rejects.toMatchObject({ code: 'CHANGE_UNFINISHED' });
    expect(everything(there.house)).toEqual(before);
    await registry.admin.management.create('coffee', TEA.replace('name: tea', 'name: coffee'), ADA);
  });
});

describe('a history from somewhere else', () => {
  it.each([
    ['is another folder', '../../../outside', 'HISTORY_ROW_REFUSED'],
    ['is the folder of proposals', 'proposals', 'HISTORY_ROW_REFUSED'],
    ['climbs behind its name', `.archive/../../../../outside-${ID}`, 'HISTORY_ROW_REFUSED'],
  ])('whose archive %s restores nothing from there', async (_name, folder, code) => {
    const there = await foreign();
    const registry = await open(there.root);
    await registry.proposals.propose({ skillId: 'tea', content: LONGER, justification: 'Needed.' });
    await registry.admin.management.remove('tea', ADA);
    there.edit((database) => database.prepare('UPDATE archived SET folder = ?').run(folder));
    const before = everything(there.house);
    await expect(registry.history.restore('tea', ADA)).rejects.toMatchObject({ code });
    expect(everything(there.house)).toEqual(before);
  });

  it.each([
    ['outside', (house: string) => join(house, 'outside/new')],
    ['that climbs', () => 'skills/../../outside/new'],
    ['in .git', () => '.git/hooks/new'],
  ])('whose removed skill was in a place %s restores nothing there', async (_name, key) => {
    const there = await foreign();
    const registry = await open(there.root);
    await registry.admin.management.remove('tea', ADA);
    there.edit((database) => {
      database.prepare('UPDATE revision SET place = ?').run(key(there.house));
      database.prepare('UPDATE archived SET place = ?').run(key(there.house));
    });
    const before = everything(there.house);
    await expect(registry.history.restore('tea', ADA)).rejects.toMatchObject({ code: 'SOURCE_NOT_WRITABLE' });
    expect(everything(there.house)).toEqual(before);
  });

  it.each([
    ['../../../outside/new.md', 'refused'],
    ['/tmp/x', 'refused'],
    ['scripts/../../x', 'refused'],
    ['a\\b', 'refused'],
    ['.git/hooks/pre-commit', 'left out'],
  ])('whose revision has a file %j goes back to nothing of it: %s', async (path, outcome) => {
    const there = await foreign();
    there.edit((database) => {
      const digest = putBlob(database, Buffer.from('evil\n'));
      const { tree } = database.prepare('SELECT tree FROM revision').get() as { tree: string };
      const files = [...JSON.parse(tree), { path, digest, size: 5, mode: 0o755, kept: true }];
      database.prepare('UPDATE revision SET tree = ?, digest = ?').run(JSON.stringify(files), digest);
    });
    const before = everything(there.house);
    const rollback = (await open(there.root)).history.rollback('tea', 1, ADA);
    if (outcome === 'refused') await expect(rollback).rejects.toMatchObject({ code: 'HISTORY_ROW_REFUSED' });
    else await rollback;
    expect(everything(there.house)).toEqual(before);
  });

  it.each<readonly [string, string, Fields]>([
    ['another content than its diff shows', 'HISTORY_ROW_REFUSED', { proposed: digestOf(EVIL) }],
    ['a file that climbs', 'HISTORY_ROW_REFUSED', { path: '../../../outside/SKILL.md' }],
    ['a file in .git', 'HISTORY_ROW_REFUSED', { path: '.git/config', base: null }],
    ['no content for SKILL.md', 'HISTORY_ROW_REFUSED', { proposed: null }],
    ['a content that is not there', 'HISTORY_ROW_REFUSED', { proposed: digestOf('nothing') }],
    ['a new skill in .git', 'SOURCE_NOT_WRITABLE', { kind: 'create', place: 'skills/.git', base: null }],
    ['a new skill that is another one', 'HISTORY_ROW_REFUSED', { kind: 'create', place: 'skills/other', base: null }],
    ['a new skill outside', 'SOURCE_NOT_WRITABLE', { kind: 'create', place: '../outside/new', base: null }],
    [
      'a new skill without SKILL.md',
      'HISTORY_ROW_REFUSED',
      { kind: 'create', skill_id: 'n', place: 'skills/n', base: null, path: 'a.md' },
    ],
  ])('whose proposal has %s is not approved', async (_name, code, fields) => {
    const there = await foreign();
    const registry = await open(there.root);
    const { proposalId: id } = await registry.proposals.propose({
      skillId: 'tea',
      content: LONGER,
      justification: 'x',
    });
    there.edit((database) => {
      putBlob(database, Buffer.from(EVIL));
      const sets = Object.keys(fields).map((name) => `${name} = ?`);
      // Its file says what it said.
      database
        .prepare(`UPDATE proposal SET ${sets.join(', ')}, file_due = 1`)
        .run(...(Object.values(fields) as (string | null)[]));
    });
    const skills = treeOf(join(there.root, 'skills'));
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code });
    expect(treeOf(join(there.root, 'skills'))).toEqual(skills);
    expect(treeOf(join(there.house, 'outside'))).toEqual(treeOf(join((await foreign()).house, 'outside')));
  });

  it('whose contents are others than their digests say gives none of them out', async () => {
    const there = await foreign();
    there.edit((database) =>
      database.prepare('UPDATE blob SET bytes = ?, deflated = 0, size = ?').run(Buffer.from(EVIL), EVIL.length),
    );
    const registry = await open(there.root);
    await expect(registry.history.read('tea', 1)).rejects.toMatchObject({ code: 'HISTORY_ROW_REFUSED' });
    writeFileSync(join(there.root, 'skills/tea/SKILL.md'), LONGER);
    await registry.refresh();
    await expect(registry.history.rollback('tea', 1, ADA)).rejects.toMatchObject({ code: 'HISTORY_ROW_REFUSED' });
    expect(readFileSync(join(there.root, 'skills/tea/SKILL.md'), 'utf8')).toBe(LONGER);
  });

  it('whose proposal has a name that climbs writes its file nowhere else', async () => {
    const there = await foreign();
    const registry = await open(there.root);
    await registry.proposals.propose({ skillId: 'tea', content: LONGER, justification: 'x' });
    there.edit((database) => {
      database.exec('PRAGMA foreign_keys = OFF');
      database.prepare('UPDATE proposal SET id = ?, file_due = 1').run('../../../../outside/x');
    });
    await (await open(there.root)).admin.management.write('tea', 'a.md', 'a\n', ADA);
    expect(existsSync(join(there.house, 'outside/x.md'))).toBe(false);
  });
});
