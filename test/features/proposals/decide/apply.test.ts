import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import type { InternalOptions } from '../../../../extensions/skill_registry/core/options.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

/** Opened again over the same root; `onStep` is called between the steps of a change. */
async function reopen(root: string, onStep: (step: string) => void = () => {}): Promise<SkillRegistry> {
  const options: InternalOptions = { root, config: { sources: [{ path: 'skills' }] }, onWriteStep: onStep };
  const registry = await createSkillRegistry(options);
  onTestFinished(() => registry.close());
  return registry;
}

it('writes over nothing that an editor saves in the middle of a change, and undoes what it had done, modes included', async () => {
  const { root, propose } = await teaRegistry();
  const [skill, script] = ['SKILL.md', 'scripts/run.sh'].map((path) => join(root, 'skills/tea', path)) as [
    string,
    string,
  ];
  let byHand = TEA.replace('Serve.', 'Serve with milk.');
  let isSaved = false;
  const registry = await reopen(root, (step) => {
    if (step !== 'temporary' || isSaved) return;
    isSaved = true;
    writeFileSync(skill, byHand);
  });
  await registry.history.revisions('tea');
  const id = await propose(LONGER);
  await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
  expect(readFileSync(skill, 'utf8')).toBe(byHand);
  expect(await registry.proposals.get(id)).toMatchObject({ decision: null, revision: null });

  mkdirSync(join(root, 'skills/tea/scripts'));
  writeFileSync(script, 'echo\n');
  chmodSync(script, 0o755);
  isSaved = false;
  byHand = TEA.replace('Serve.', 'Serve with lemon.');
  await expect(registry.history.rollback('tea', 1, ADA)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
  expect(readFileSync(script, 'utf8')).toBe('echo\n');
  expect(statSync(script).mode & 0o777).toBe(0o755);
  await registry.history.rollback('tea', 1, ADA);
  expect([readFileSync(skill, 'utf8'), existsSync(script)]).toEqual([TEA, false]);
});

it('undoes what a crash has left half done and somebody has gone on from', async () => {
  const { root, registry } = await teaRegistry({ 'skills/tea/references/new.md': 'new\n' });
  await registry.history.revisions('tea');
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  const changes = [
    { path: 'references/new.md', before: null, after: digestOf('new\n') },
    { path: 'SKILL.md', before: digestOf(LONGER), after: digestOf(TEA) },
  ];
  const place = { skillId: 'tea', source: 'skills', key: 'skills/tea', base: join(root, 'skills'), below: 'tea' };
  const operation = {
    id: 'abcdef012345',
    place,
    changes,
    kind: 'rollback',
    by: 'person:ada',
    at: '2026-01-01T00:00:00.000Z',
  };
  database.prepare('INSERT INTO operation VALUES (?, ?)').run('abcdef012345', JSON.stringify(operation));
  database.close();
  rmSync(join(root, 'skills/tea/SKILL.md'));
  symlinkSync('/etc/hostname', join(root, 'skills/tea/SKILL.md'));
  const again = await reopen(root);
  expect(again.problems().map(({ code }) => code)).not.toContain('PATH_TRAVERSAL');
  expect(existsSync(join(root, 'skills/tea/references'))).toBe(false);
});

it('undoes nothing over what somebody has written after the crash, and the rest all the same', async () => {
  const { root, registry, tea } = await teaRegistry({ 'skills/tea/references/a.md': 'new a\n' });
  await registry.history.revisions('tea');
  writeFileSync(join(root, 'skills/tea/references/a.md'), 'old a\n');
  writeFileSync(join(root, 'skills/tea/SKILL.md'), LONGER);
  await registry.history.revisions('tea');
  await registry.close();
  // The process died when it had made LONGER of TEA and `old a` of `new a`; then a person wrote into SKILL.md.
  const byHand = LONGER.replace('Serve.', 'Serve with milk.');
  writeFileSync(join(root, 'skills/tea/SKILL.md'), byHand);
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  const changes = [
    { path: 'references/a.md', before: digestOf('new a\n'), after: digestOf('old a\n') },
    { path: 'SKILL.md', before: digestOf(TEA), after: digestOf(LONGER) },
  ];
  const place = { skillId: 'tea', source: 'skills', key: 'skills/tea', below: 'tea' };
  const entry = JSON.stringify({ id: 'abcdef012345', place, changes });
  database.prepare('INSERT INTO operation VALUES (?, ?)').run('abcdef012345', entry);
  database.close();
  const again = await reopen(root);
  expect([tea(), readFileSync(join(root, 'skills/tea/references/a.md'), 'utf8')]).toEqual([byHand, 'new a\n']);
  expect(again.problems()).toEqual([]);
});

it('puts nothing in the place of a folder that somebody has made since, and loses none of the two', async () => {
  const { root, registry } = await teaRegistry();
  await registry.history.revisions('tea');
  await registry.close();
  // The process died when the skill was in the archive; then a person made another one of its name.
  const folder = '.archive/tea-abcdef012345';
  const [here, archived] = [join(root, 'skills/tea'), join(root, 'data/skill_registry', folder)];
  mkdirSync(dirname(archived));
  renameSync(here, archived);
  mkdirSync(here);
  writeFileSync(join(here, 'SKILL.md'), LONGER);
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  const place = { skillId: 'tea', source: 'skills', key: 'skills/tea', below: 'tea' };
  const entry = JSON.stringify({ id: 'abcdef012345', place, changes: [], move: { direction: 'out', folder } });
  database.prepare('INSERT INTO operation VALUES (?, ?)').run('abcdef012345', entry);
  database.close();
  expect((await reopen(root)).problems()).toMatchObject([
    { code: 'CHANGE_UNFINISHED', message: expect.stringContaining('Move one of the two folders away') },
  ]);
  expect([join(here, 'SKILL.md'), join(archived, 'SKILL.md')].map((file) => readFileSync(file, 'utf8'))).toEqual([
    LONGER,
    TEA,
  ]);
  renameSync(here, join(root, 'skills/other'));
  expect((await reopen(root)).problems().map(({ code }) => code)).not.toContain('CHANGE_UNFINISHED');
  expect([readFileSync(join(here, 'SKILL.md'), 'utf8'), existsSync(archived)]).toEqual([TEA, false]);
});

it('says that a change is made when the registry is closed before it has looked again', async () => {
  const { root, propose, tea } = await teaRegistry();
  const id = await propose(LONGER);
  let closing: Promise<void> | undefined;
  const registry: SkillRegistry = await reopen(root, (step) => {
    if (step === 'committed') closing = registry.close();
  });
  expect(await registry.proposals.approve(id, ADA)).toMatchObject({ state: 'approved' });
  await closing;
  expect(tea()).toBe(LONGER);
});

it('begins anew when somebody removes the folder of the history under a registry that is open', async () => {
  const { root, registry, propose } = await teaRegistry();
  await propose(LONGER);
  rmSync(join(root, 'data/skill_registry'), { recursive: true });
  const other = await reopen(root);
  await other.admin.management.write('tea', 'references/a.md', 'x', ADA);
  await propose(LONGER);
  expect(await other.proposals.list()).toHaveLength(1);
  expect((await registry.history.revisions('tea')).map(({ kind }) => kind)).toEqual(['seen', 'tool']);
});

it('goes back with hundreds of files and loses none that the revision does not speak of', async () => {
  const names = Array.from({ length: 600 }, (_, at) => `${String(at).padStart(3, '0')}.md`);
  const { root, registry } = await teaRegistry(
    Object.fromEntries(names.map((name) => [`skills/tea/references/${name}`, name])),
  );
  const folder = join(root, 'skills/tea/references');
  await registry.history.revisions('tea');
  for (const name of ['000.md', '001.md']) rmSync(join(folder, name));
  await registry.history.rollback('tea', 1, ADA);
  expect(readdirSync(folder)).toEqual(names);
  expect(await registry.admin.management.write('tea', 'references/599.md', 'changed\n', ADA)).toMatchObject({
    kind: 'tool',
  });
});

it('refuses names of leftovers, which the history passes over, and reads nothing through a folder that became a link', async () => {
  const { root, registry } = await teaRegistry();
  for (const path of ['references/a.md~', '.SKILL.md.swp', 'references/.skill-registry-x']) {
    await expect(registry.admin.management.write('tea', path, 'x', ADA), path).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  }
  const elsewhere = tempFolder({ 'SKILL.md': TEA, 'secret.txt': 'x' });
  rmSync(join(root, 'skills/tea'), { recursive: true });
  symlinkSync(elsewhere, join(root, 'skills/tea'));
  await expect(registry.admin.management.write('tea', 'references/a.md', 'x', ADA)).rejects.toMatchObject({
    code: 'PATH_TRAVERSAL',
  });
  await expect(registry.admin.management.remove('tea', ADA)).rejects.toMatchObject({ code: 'PATH_TRAVERSAL' });
  expect(readFileSync(join(root, 'data/skill_registry/history.db')).includes('secret.txt')).toBe(false);
});
