import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InternalOptions } from '../../../../../extensions/skill_registry/core/options.ts';
import { putBlob } from '../../../../../extensions/skill_registry/features/history/revisions.ts';
import { packageRoot } from '../../../../../kernel/host.ts';
import { openSqlite } from '../../../../../lib/sqlite/index.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../../../helpers/tea.ts';

// What others do after a change was looked at and before it is made.

/** Another registry over the root; `act` is called once, when it first comes to a step. */
async function actingAt(step: string, root: string, act: () => void): Promise<SkillRegistry> {
  let isThere = false;
  const options: InternalOptions = {
    root,
    config: { sources: [{ path: 'skills' }] },
    onWriteStep(now) {
      if (now !== step || isThere) return;
      isThere = true;
      act();
    },
  };
  const registry = await createSkillRegistry(options);
  onTestFinished(() => registry.close());
  return registry;
}

it('leaves a change alone that another process is in the middle of', async () => {
  const { root, registry, tea, propose } = await teaRegistry();
  const id = await propose(LONGER);
  // A start ends what a process that died has left in the journal, as soon as nobody is writing.
  const start = `import { createSkillRegistry } from 'skill-registry';
    const registry = await createSkillRegistry({ root: process.argv[1], config: { sources: [{ path: 'skills' }] } });
    console.log(JSON.stringify(registry.problems()));
    await registry.close();`;
  const started: string[] = [];
  const busy = await actingAt('changed', root, () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', start, root], {
      cwd: packageRoot(),
      encoding: 'utf8',
    });
    started.push(stdout + stderr);
  });
  await busy.proposals.approve(id, ADA);
  expect(started).toEqual(['[]\n']);
  expect(tea()).toBe(LONGER);
  expect((await registry.history.revisions('tea')).map(({ kind }) => kind)).toEqual(['seen', 'proposal']);
});

describe('a proposal that somebody changes between the look and the lock', () => {
  /** Starts something that waits for the lock, changes the row meanwhile, and gives what comes of it. */
  async function whileItWaits(root: string, start: () => Promise<unknown>, sql: string, text = TEA): Promise<unknown> {
    const lock = openSqlite(join(root, 'data/skill_registry/write.lock'), 0);
    lock.exec('BEGIN EXCLUSIVE');
    const late = start().catch((error) => error);
    // It has looked.
    await new Promise((resolve) => setImmediate(resolve));
    const history = openSqlite(join(root, 'data/skill_registry/history.db'));
    history.prepare(`UPDATE proposal SET ${sql}, version = version + 1`).run(putBlob(history, Buffer.from(text)));
    history.close();
    lock.close();
    return late;
  }
  const other = TEA.replace('two', 'six');

  it('is not approved as another one than was looked at', async () => {
    const { root, registry, tea, propose } = await teaRegistry();
    const id = await propose(LONGER);
    const { version } = await registry.proposals.get(id);
    const approve = () => registry.proposals.approve(id, { ...ADA, version });
    const failed = await whileItWaits(root, approve, 'proposed = ?', other);
    expect(failed).toMatchObject({ code: 'PROPOSAL_CHANGED' });
    expect(tea()).toBe(TEA);
    const edited = await registry.proposals.edit(id, { content: LONGER, ...ADA });
    await registry.proposals.approve(id, { ...ADA, version: edited.version });
    expect(tea()).toBe(LONGER);
  });

  it('is not edited over what somebody else has made of it', async () => {
    const { root, registry, propose } = await teaRegistry();
    const id = await propose(LONGER);
    const { version } = await registry.proposals.text(id);
    const edit = () => registry.proposals.edit(id, { content: TEA.replace('two', 'nine'), ...ADA, version });
    expect(await whileItWaits(root, edit, 'proposed = ?', other)).toMatchObject({ code: 'PROPOSAL_CHANGED' });
    expect((await registry.proposals.text(id)).content).toBe(other);
  });

  it('is not edited once it is decided', async () => {
    const { root, registry, propose } = await teaRegistry();
    const id = await propose(LONGER);
    const edit = () => registry.proposals.edit(id, { content: TEA.replace('two', 'nine'), ...ADA });
    const late = await whileItWaits(root, edit, "state = 'rejected', base = ?");
    expect(late).toMatchObject({ code: 'PROPOSAL_DECIDED' });
    expect(await registry.proposals.get(id)).toMatchObject({ diff: expect.stringContaining('+Steep for three') });
  });
});

it.each(['approved', 'rejected'] as const)('decides once where somebody has looked before it was %s', async (state) => {
  const { root, registry, tea, propose } = await teaRegistry();
  const id = await propose(LONGER);
  const other = await actingAt('locked', root, () => {});
  const approve = () => registry.proposals.approve(id, ADA);
  const reject = () => other.proposals.reject(id, { by: 'person:bob', reason: 'No.' });
  const [first, second] = state === 'approved' ? [approve, reject] : [reject, approve];
  // A third one is writing, so that the second has to wait after its look.
  const third = openSqlite(join(root, 'data/skill_registry/write.lock'), 0);
  third.exec('BEGIN EXCLUSIVE');
  const late = second().catch((error) => error);
  await new Promise((resolve) => setImmediate(resolve));
  third.close();
  expect(await first()).toMatchObject({ state });
  expect(await late).toMatchObject({ code: 'PROPOSAL_DECIDED' });
  expect(await registry.proposals.get(id)).toMatchObject({ state });
  expect(tea()).toBe(state === 'approved' ? LONGER : TEA);
});

it('goes back from what a person has saved a moment before, which stays in the history', async () => {
  const { root, registry, tea } = await teaRegistry();
  const file = join(root, 'skills/tea/SKILL.md');
  await registry.history.revisions('tea');
  writeFileSync(file, LONGER);
  await registry.history.revisions('tea');
  const byHand = LONGER.replace('Serve.', 'Serve with milk.');
  // Until it looks what the skill is now, that is revision 2 already.
  const quick = await actingAt('locked', root, () => writeFileSync(file, byHand));
  expect(await quick.history.rollback('tea', 2, ADA)).toMatchObject({ kind: 'rollback', number: 4 });
  expect(tea()).toBe(LONGER);
  expect((await registry.history.read('tea', 3)).toString()).toBe(byHand);
});

it('changes what a person has saved a moment before, which stays in the history', async () => {
  const { root, registry, tea } = await teaRegistry();
  await registry.history.revisions('tea');
  const byHand = TEA.replace('Serve.', 'Serve with milk.');
  const quick = await actingAt('locked', root, () => writeFileSync(join(root, 'skills/tea/SKILL.md'), byHand));
  expect(await quick.admin.management.write('tea', 'SKILL.md', LONGER, ADA)).toMatchObject({ number: 3 });
  expect(tea()).toBe(LONGER);
  expect((await registry.history.read('tea', 2)).toString()).toBe(byHand);
});
