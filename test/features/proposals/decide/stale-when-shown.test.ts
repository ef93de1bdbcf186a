import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../../helpers/tea.ts';
import { writeTree } from '../../../helpers/temp-folder.ts';

const BY_HAND = TEA.replace('two minutes', 'ten minutes');

it('is stale in the list and when it is shown, with the conflict, before anybody has tried to approve it', async () => {
  const { root, propose, tea } = await teaRegistry();
  const id = await propose(LONGER);
  writeFileSync(join(root, 'skills/tea/SKILL.md'), BY_HAND);
  const run = async (...args: string[]) => (await runCommand(['proposals', ...args, '--root', root])).stdout;
  expect(await run('list')).toMatch(new RegExp(`^${id}  stale `, 'm'));
  expect(JSON.parse(await run('list', '--state', 'stale', '--json')).proposals).toMatchObject([{ id, state: 'stale' }]);
  expect(JSON.parse(await run('list', '--state', 'open', '--json')).proposals).toEqual([]);
  const shown = await run('show', id);
  expect(shown).toMatch(/ {2}stale\n[\s\S]*Conflict\n[\s\S]*ten minutes[\s\S]*three minutes/);
  expect(JSON.parse(await run('stats', '--json')).all).toMatchObject({ open: 0, stale: 1 });
  // Whoever edits it is given both sides at once.
  expect(await run('show', id, '--proposed')).toMatch(/<<<<<<< current\n.*ten[\s\S]*three.*\n>>>>>>> proposed/);
  expect(tea()).toBe(BY_HAND);
});

it('is open again when its file is what it was, and writes nothing to find that out', async () => {
  const { root, registry, propose } = await teaRegistry();
  const id = await propose(LONGER);
  const stored = () => {
    const database = openSqlite(join(root, 'data/skill_registry/history.db'));
    const row = database.prepare('SELECT state, version FROM proposal').get();
    database.close();
    return row;
  };
  const before = stored();
  writeFileSync(join(root, 'skills/tea/SKILL.md'), BY_HAND);
  expect(await registry.proposals.list()).toMatchObject([{ id, state: 'stale' }]);
  expect(stored()).toEqual(before);
  await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
  writeFileSync(join(root, 'skills/tea/SKILL.md'), TEA);
  expect(await registry.proposals.get(id)).toMatchObject({ state: 'open', conflict: null });
  await registry.proposals.approve(id, ADA);
});

it('is open while both changes can be merged', async () => {
  const { root, registry, propose } = await teaRegistry();
  const id = await propose(LONGER);
  writeFileSync(join(root, 'skills/tea/SKILL.md'), TEA.replace('Rinse the pot.', 'Rinse it.'));
  expect(await registry.proposals.list()).toMatchObject([{ id, state: 'open' }]);
});

it('is stale for a new skill that is there by now, a removal of what has changed, and a skill that has gone', async () => {
  const tree = { 'skills/tea/references/a.md': 'a\n', 'skills/mate/SKILL.md': TEA.replace('name: tea', 'name: mate') };
  const { root, registry, propose } = await teaRegistry(tree, { writes: { delete: 'propose' } });
  const ask = async (input: object) =>
    (await registry.proposals.propose({ skillId: 'tea', justification: 'Needed.', ...input })).proposalId;
  const content = TEA.replace('name: tea', 'name: chai');
  const created = await ask({ skillId: 'chai', kind: 'create', content });
  const [removed, deleted] = [await ask({ path: 'references/a.md', remove: true }), await ask({ kind: 'delete' })];
  const gone = await ask({ skillId: 'mate', content: LONGER.replace('name: tea', 'name: mate') });
  const kept = await propose(LONGER);
  writeTree(root, { 'skills/chai/SKILL.md': content, 'skills/tea/references/a.md': 'b\n' });
  rmSync(join(root, 'skills/mate'), { recursive: true });
  await registry.refresh();
  const states = new Map((await registry.proposals.list()).map(({ id, state }) => [id, state]));
  for (const id of [created, removed, deleted, gone]) expect([id, states.get(id)]).toEqual([id, 'stale']);
  expect(states.get(kept)).toBe('open');
});
