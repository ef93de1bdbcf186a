import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../../../lib/sqlite/index.ts';
import { openRoot } from '../../../../helpers/open-registry.ts';
import { runCommand } from '../../../../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../../../helpers/temp-folder.ts';

const TEA = skillMd({ name: 'tea', description: 'Brew tea.' }, 'Boil water.');
const SAID = ' waiting for a decision: ';

const rootWithTea = (): string => tempFolder({ 'skills/tea/SKILL.md': TEA });

/** What each command prints, for an approved root. */
async function printedBy(root: string) {
  const list = await runCommand(['list', '--root', root]);
  const doctor = await runCommand(['doctor', '--root', root]);
  const start = await runCommand(['start', '--root', root], { input: '/quit\n' });
  return { list: list.stderr, doctor: doctor.stdout, start: start.stdout };
}

it('list, doctor and start say how many proposals wait, and which command shows them', async () => {
  const root = rootWithTea();
  const registry = await openRoot(root);
  const propose = (word: string) =>
    registry.proposals.propose({ skillId: 'tea', oldString: 'Boil', newString: word, justification: 'Better.' });
  const [first, second] = [await propose('Heat'), await propose('Warm')];
  await propose('Cook');
  await registry.proposals.reject(first.proposalId, { by: 'person:ada', reason: 'No.' });
  // This makes the others stale, and they still wait.
  writeTree(root, { 'skills/tea/SKILL.md': TEA.replace('Boil water.', 'Serve.') });
  const { state, version } = await registry.proposals.get(second.proposalId);
  expect(state).toBe('stale');
  // Whoever tries to approve it finds it stale, and that is kept.
  await expect(registry.proposals.approve(second.proposalId, { by: 'person:ada', version })).rejects.toThrow();
  expect(await registry.admin.waitingProposals()).toBe(2);
  await registry.close();
  const { list, doctor, start } = await printedBy(root);
  expect(list).toContain(`2 proposals${SAID}skill-registry proposals list\n`);
  expect(doctor).toContain(`2 proposals${SAID}skill-registry proposals list\n`);
  expect(start).toContain(`2 proposals${SAID}/proposals\n`);
  const json = async (...args: readonly string[]) => JSON.parse((await runCommand([...args, '--json'])).stdout);
  expect(Object.keys(await json('list', '--root', root))).toEqual(['skills', 'total', 'problems']);
  expect(await json('doctor', '--root', root)).toMatchObject({ waiting_proposals: 2 });
  const unapproved = await runCommand(['list', '--root', root], { trust: false });
  expect(unapproved.stderr).toContain(`2 proposals${SAID}`);
});

it('says nothing where none waits, and makes no history to find that out', async () => {
  const root = rootWithTea();
  for (const text of Object.values(await printedBy(root))) expect(text).not.toContain('waiting for a decision');
  await runCommand(['list', '--root', root]);
  expect(existsSync(join(root, 'data/skill_registry/history.db'))).toBe(false);
});

it('says nothing of a history that cannot be read: that is a problem of its own', async () => {
  const root = rootWithTea();
  writeTree(root, { 'data/skill_registry/history.db': 'no database' });
  const { status, stderr } = await runCommand(['list', '--root', root]);
  expect([status, stderr.includes(SAID)]).toEqual([1, false]);
});

it.each([true, false])(
  'lists the skills where the proposals in a history are damaged (root approved: %s)',
  async (trust) => {
    const root = rootWithTea();
    const registry = await openRoot(root);
    const change = { skillId: 'tea', oldString: 'Boil', newString: 'Heat', justification: 'Better.' };
    await registry.proposals.propose(change);
    await registry.close();
    damageIndex(join(root, 'data/skill_registry/history.db'), 'proposal_by_state');
    const { status, stdout, stderr } = await runCommand(['list', '--root', root], { trust });
    expect([status, stdout.includes('tea'), stderr.includes(SAID)]).toEqual([0, true, false]);
    expect(stderr).not.toContain('malformed');
  },
);

it.each<[string, Tree]>([
  ['a folder', { 'data/skill_registry/history.db/x': '' }],
  ['a database without tables', {}],
])('lists the skills of an unapproved root whose history is %s, and says what is wrong', async (_what, tree) => {
  const root = rootWithTea();
  writeTree(root, { 'data/x': '', ...tree });
  const file = join(root, 'data/skill_registry/history.db');
  if (!existsSync(file)) {
    mkdirSync(dirname(file));
    const database = openSqlite(file);
    database.exec('PRAGMA user_version = 2');
    database.close();
  }
  const { status, stdout, stderr } = await runCommand(['list', '--root', root], { trust: false });
  expect({ status, tea: stdout.includes('tea') }).toEqual({ status: 0, tea: true });
  expect(stderr).toContain('1 problem');
});

/** Writes over the first page of an index; the rest of the database stays whole. */
function damageIndex(file: string, name: string): void {
  const database = openSqlite(file);
  database.exec('PRAGMA journal_mode = DELETE');
  const sql = 'SELECT rootpage, page_size AS size FROM sqlite_schema, pragma_page_size WHERE name = ?';
  const { rootpage, size } = database.prepare<{ rootpage: number; size: number }>(sql).get(name) ?? {
    rootpage: 0,
    size: 0,
  };
  database.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, (rootpage - 1) * size, rootpage * size);
  writeFileSync(file, bytes);
}
