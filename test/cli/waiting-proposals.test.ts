import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRoot } from '../helpers/open-registry.ts';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder, writeTree } from '../helpers/temp-folder.ts';

const TEA = skillMd({ name: 'tea', description: 'Brew tea.' }, 'Boil water.');
const SAID = 'proposal(s) wait for a decision: ';

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
  expect(list).toContain(`2 ${SAID}skill-registry proposals list\n`);
  expect(doctor).toContain(`2 ${SAID}skill-registry proposals list\n`);
  expect(start).toContain(`2 ${SAID}/proposals\n`);
  const json = async (...args: readonly string[]) => JSON.parse((await runCommand([...args, '--json'])).stdout);
  expect(Object.keys(await json('list', '--root', root))).toEqual(['skills', 'total', 'problems']);
  expect(await json('doctor', '--root', root)).toMatchObject({ waiting_proposals: 2 });
  const unapproved = await runCommand(['list', '--root', root], { trust: false });
  expect(unapproved.stderr).toContain(`2 ${SAID}`);
});

it('says nothing where none waits, and makes no history to find that out', async () => {
  const root = rootWithTea();
  for (const text of Object.values(await printedBy(root))) expect(text).not.toContain('proposal(s)');
  await runCommand(['list', '--root', root]);
  expect(existsSync(join(root, 'data/skill_registry/history.db'))).toBe(false);
});

it('says nothing of a history that cannot be read: that is a problem of its own', async () => {
  const root = rootWithTea();
  writeTree(root, { 'data/skill_registry/history.db': 'no database' });
  const { status, stderr } = await runCommand(['list', '--root', root]);
  expect([status, stderr.includes(SAID)]).toEqual([1, false]);
});
