import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../../helpers/tea.ts';

const WHY = { ...ADA, reason: 'No.' };
const MATE = TEA.replace('name: tea', 'name: mate');

/** The message of a call that is refused. */
async function refusal(code: string, call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => expect.fail(`nothing was refused with ${code}`),
    (reason: { readonly code: string; readonly message: string }) => reason,
  );
  expect(error.code).toBe(code);
  return error.message;
}

it('what is approved is undone as the message says, whatever kind it is', async () => {
  const { registry, propose, tea, root } = await teaRegistry();
  const { proposals, history } = registry;
  const decided = (id: string) => refusal('PROPOSAL_DECIDED', proposals.approve(id, ADA));
  const update = await propose(LONGER);
  await proposals.approve(update, ADA);
  expect(await decided(update)).toContain('`skill-registry history tea`');
  expect(await decided(update)).toContain('`skill-registry rollback tea REVISION`');
  await history.rollback('tea', 1, ADA);
  expect(tea()).toBe(TEA);

  const removal = { skillId: 'tea', kind: 'delete', justification: 'Old.' } as const;
  const { proposalId: deletion } = await proposals.propose(removal);
  await proposals.approve(deletion, ADA);
  expect(await decided(deletion)).toContain('`skill-registry rollback tea` restores it');
  await history.restore('tea', ADA);
  expect(tea()).toBe(TEA);

  const made = { skillId: 'mate', kind: 'create', content: MATE, justification: 'New.' } as const;
  const { proposalId: creation } = await proposals.propose(made);
  await proposals.approve(creation, ADA);
  expect(await decided(creation)).toContain('remove the folder of the skill');
  rmSync(join(root, 'skills/mate'), { recursive: true });
  await registry.refresh();
  expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['tea']);
});

it('a rejected change is made by a person, and one that waits is purged after it was rejected', async () => {
  const { registry, propose } = await teaRegistry();
  const { proposals } = registry;
  const id = await propose(LONGER);
  const notRejected = await refusal('PROPOSAL_NOT_REJECTED', proposals.purge([id], ADA));
  expect(notRejected).toContain(`skill-registry proposals reject ${id} --reason TEXT`);
  await proposals.reject(id, WHY);
  expect(await refusal('PROPOSAL_DECIDED', proposals.approve(id, ADA))).toContain('a person makes it in the folder');
  expect(await proposals.purge([id], ADA)).toHaveLength(1);
});

it('an edited report of a removal is not said to have a text', async () => {
  const { registry } = await teaRegistry({ 'skills/tea/a.md': 'A.\n' });
  const { proposals } = registry;
  const removal = { skillId: 'tea', path: 'a.md', remove: true, justification: 'Old.' } as const;
  const { proposalId: id, file } = await proposals.propose(removal);
  writeFileSync(file, 'Mine.\n');
  const { problem } = await proposals.get(id);
  expect(problem?.message).toContain('is a removal, which has no text to change: approve or reject it');
  expect(problem?.message).not.toContain('--proposed');
  await refusal('INVALID_ARGUMENT', proposals.text(id));
  await proposals.reject(id, WHY);
});

it('a skill is restored once the folder in its place is moved away, and one that was not removed is rolled back', async () => {
  const { registry, root, tea } = await teaRegistry();
  const { history, admin } = registry;
  const present = await refusal('SKILL_EXISTS', history.restore('tea', ADA));
  expect(present).toContain('`skill-registry rollback tea REVISION`');
  await admin.management.write('tea', 'SKILL.md', LONGER, ADA);
  await admin.management.remove('tea', ADA);
  const removed = await refusal('SKILL_NOT_FOUND', history.rollback('tea', 1, ADA));
  expect(removed).toContain('`skill-registry rollback tea` restores its last content; then roll it back');
  writeFileSync(join(root, 'skills/tea'), 'In the way.\n');
  expect(await refusal('SKILL_EXISTS', history.restore('tea', ADA))).toContain('Move it away, then restore again');
  renameSync(join(root, 'skills/tea'), join(root, 'tea.txt'));
  await history.restore('tea', ADA);
  expect(tea()).toBe(LONGER);
  await history.rollback('tea', 1, ADA);
  expect(tea()).toBe(TEA);
});

it('a part of a digest that two contents begin with names none of them, and their numbers do', async () => {
  const { registry, root } = await teaRegistry();
  const { history, admin } = registry;
  await history.revisions('tea');
  await admin.management.write('tea', 'SKILL.md', LONGER, ADA);
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  database.exec("UPDATE revision SET digest = 'sha256:abcd' || number || substr(digest, 13)");
  database.close();
  const message = await refusal('REVISION_NOT_FOUND', history.read('tea', 'abcd'));
  expect(message).toContain('"abcd" begins the digests of the revisions 1, 2');
  expect((await history.read('tea', 'abcd1')).toString()).toBe(TEA);
  expect((await history.read('tea', 2)).toString()).toBe(LONGER);
});
