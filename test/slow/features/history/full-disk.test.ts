import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InternalOptions } from '../../../../extensions/skill_registry/core/options.ts';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { CHANGED_SKILL, type Change, PROPOSAL_CHANGES, SKILL_CHANGES } from '../../../helpers/changes.ts';
import { CANNOT_MOUNT, type Disk, smallDisk } from '../../../helpers/file-systems.ts';
import { ADA, LONGER } from '../../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

async function open(root: string, onWriteStep: (step: string) => void = () => {}): Promise<SkillRegistry> {
  const options: InternalOptions = { root, config: { sources: [{ path: 'skills' }] }, onWriteStep };
  const registry = await createSkillRegistry(options);
  onTestFinished(() => registry.close());
  return registry;
}

interface Prepared {
  readonly disk: Disk;
  readonly skills: string;
  readonly registry: SkillRegistry;
  readonly prepared: string;
}

/** Skills and history on one small disk, which is full from a step of the change on. */
async function fullAt(step: string, change: Change): Promise<Prepared> {
  const disk = smallDisk('3m');
  writeTree(disk.dir, CHANGED_SKILL);
  let armed = false;
  const registry = await open(disk.dir, (at) => {
    if (armed && at === step) disk.fill();
  });
  const prepared = await change.prepare(registry);
  armed = true;
  return { disk, skills: join(disk.dir, 'skills'), registry, prepared };
}

const journal = (root: string): readonly unknown[] => {
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  const rows = database.prepare('SELECT * FROM operation').all();
  database.close();
  return rows;
};

describe.skipIf(CANNOT_MOUNT !== '')(`a disk that is full ${CANNOT_MOUNT}`, () => {
  const moments = ['intent', 'changed'].flatMap((step) =>
    SKILL_CHANGES.map((change) => [change.name, step, change] as const),
  );

  it.each(moments)(
    'when %s is at the step %s leaves everything as it was, and it counts for nobody',
    async (_name, step, change) => {
      const { disk, skills, registry, prepared } = await fullAt(step, change);
      const before = treeOf(skills);
      await expect(change.make(registry, prepared)).rejects.toMatchObject({
        code: 'WRITE_FAILED',
        message: expect.stringMatching(/is full.*Nothing was changed|ENOSPC/),
      });
      expect(treeOf(skills)).toEqual(before);
      disk.free();
      const again = await open(disk.dir);
      expect(treeOf(skills)).toEqual(before);
      expect((await again.proposals.list('all')).map(({ state }) => state)).not.toContain('approved');
      await change.make(again, prepared);
      expect(treeOf(skills)).not.toEqual(before);
      expect(journal(disk.dir)).toEqual([]);
      expect(again.problems()).toEqual([]);
    },
  );

  const later = [
    ...SKILL_CHANGES.map((change) => [change.name, 'committed', change] as const),
    ...[...SKILL_CHANGES.slice(0, 2), ...PROPOSAL_CHANGES].map(
      (change) => [change.name, 'file-written', change] as const,
    ),
  ];

  it.each(later)('after %s counts, at the step %s, is no reason to say that it failed', async (_name, step, change) => {
    const { disk, skills, registry, prepared } = await fullAt(step, change);
    await change.make(registry, prepared);
    const after = treeOf(skills);
    const states = (await registry.proposals.list('all')).map(({ state }) => state);
    disk.free();
    const again = await open(disk.dir);
    expect(treeOf(skills)).toEqual(after);
    const proposals = await again.proposals.list('all');
    expect(proposals.map(({ state }) => state)).toEqual(states);
    for (const { file } of proposals) expect(existsSync(file)).toBe(true);
    expect(journal(disk.dir)).toEqual([]);
    expect(again.problems()).toEqual([]);
  });

  it.each([...SKILL_CHANGES.slice(0, 1), ...PROPOSAL_CHANGES])(
    'before $name begins changes nothing, and says what it is',
    async (change) => {
      const { disk, skills, registry, prepared } = await fullAt('locked', change);
      const before = treeOf(skills);
      await expect(change.make(registry, prepared)).rejects.toMatchObject({
        code: 'WRITE_FAILED',
        message: expect.stringMatching(/full|ENOSPC/),
      });
      expect(treeOf(skills)).toEqual(before);
      disk.free();
      await change.make(await open(disk.dir), prepared);
    },
  );
});

describe.skipIf(CANNOT_MOUNT !== '')(`a change that cannot be undone ${CANNOT_MOUNT}`, () => {
  it('is said as it is, is a problem until it is undone, and nothing is built upon it', async () => {
    const [skills, data] = [smallDisk('1m'), smallDisk('3m')];
    const root = tempFolder();
    writeTree(skills.dir, { 'tea/SKILL.md': CHANGED_SKILL['skills/tea/SKILL.md'] });
    symlinkSync(skills.dir, join(root, 'skills'));
    symlinkSync(data.dir, join(root, 'data'));
    let armed = true;
    const registry = await open(root, (step) => {
      if (!armed || step !== 'changed') return;
      data.fill();
      skills.setReadOnly(true);
    });
    const before = treeOf(skills.dir);
    const input = { skillId: 'tea', content: LONGER, justification: 'Needed.' };
    const { proposalId: id } = await registry.proposals.propose(input);
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({
      code: 'CHANGE_UNFINISHED',
      message: expect.stringMatching(/"tea".*full.*EROFS/),
    });
    armed = false;
    expect(registry.problems()).toMatchObject([{ code: 'CHANGE_UNFINISHED', severity: 'error' }]);
    data.free();
    const other = await open(root);
    expect(other.problems()).toMatchObject([{ code: 'CHANGE_UNFINISHED' }]);
    await expect(other.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'CHANGE_UNFINISHED' });
    await expect(other.admin.management.write('tea', 'SKILL.md', LONGER, ADA)).rejects.toMatchObject({
      code: 'CHANGE_UNFINISHED',
    });
    expect(await other.proposals.get(id)).toMatchObject({ state: 'open', decision: null });

    skills.setReadOnly(false);
    const third = await open(root);
    expect([treeOf(skills.dir), third.problems()]).toEqual([before, []]);
    await third.proposals.approve(id, ADA);
  });
});
