import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CANNOT_MOUNT, folderElsewhere, NOWHERE_ELSE, smallDisk } from '../../../helpers/file-systems.ts';
import { ADA, LONGER, TEA } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

const CHILD = join(import.meta.dirname, '..', '..', '..', 'helpers', 'change-child.mjs');

/** With another skill in it, which is a file of it and never a skill of its own. */
const SKILL = {
  'skills/tea/SKILL.md': TEA,
  'skills/tea/examples/green/SKILL.md': 'An example.\n',
  'skills/tea/references/a.md': 'a\n',
};

async function open(root: string, more: object = {}): Promise<SkillRegistry> {
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] }, ...more });
  onTestFinished(() => registry.close());
  return registry;
}

function killAt(root: string, action: string, step: string): void {
  const request = JSON.stringify({ root, action, args: {}, dieAt: step });
  expect(spawnSync(process.execPath, [CHILD, request]).signal).toBe('SIGKILL');
}

describe.skipIf(NOWHERE_ELSE !== '')(`an archive on another file system than the skills ${NOWHERE_ELSE}`, () => {
  // All steps of all changes: test/slow/kill.test.ts.
  it.each([
    ['remove', 'copying'],
    ['remove', 'aside'],
    ['restore', 'changed'],
  ])('has a skill wholly, or not at all, when the process dies in %s at the step %s', async (action, step) => {
    const root = tempFolder({ ...SKILL, data: { link: folderElsewhere() } });
    const first = await open(root);
    await first.history.revisions('tea');
    await first.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
    const whole = treeOf(join(root, 'skills/tea'));
    if (action === 'restore') await first.admin.management.remove('tea', ADA);
    await first.close();
    killAt(root, action, step);

    // Before anybody ends what was begun.
    const reader = await open(root, { trust: false, cache: 'memory' });
    const seen = reader.snapshot().skills.map(({ id }) => id);
    expect(seen).toEqual(seen.length === 0 ? [] : ['tea']);
    if (seen.length > 0) expect(treeOf(join(root, 'skills/tea'))).toEqual(whole);

    const again = await open(root);
    const isThere = existsSync(join(root, 'skills/tea'));
    const archive = join(root, 'data/skill_registry/.archive');
    const archived = existsSync(archive) ? readdirSync(archive) : [];
    expect([isThere, archived.length]).toEqual(
      (action === 'remove') === (step === 'committed') ? [false, 1] : [true, 0],
    );
    expect(treeOf(isThere ? join(root, 'skills/tea') : join(archive, archived[0] as string))).toEqual(whole);
    expect([readdirSync(join(root, 'skills')), again.problems()]).toEqual([isThere ? ['tea'] : [], []]);

    if (!isThere) await again.history.restore('tea', ADA);
    expect(treeOf(join(root, 'skills/tea'))).toEqual(whole);
    await again.history.rollback('tea', 1, ADA);
    await again.admin.management.remove('tea', ADA);
    await again.history.restore('tea', ADA);
    expect(again.snapshot().skills.map(({ id }) => id)).toEqual(['tea']);
  });

  it.skipIf(CANNOT_MOUNT !== '')(
    `keeps a skill where it is when there is no room for it in the archive ${CANNOT_MOUNT}`,
    async () => {
      const root = tempFolder({ ...SKILL, data: { link: smallDisk('3m').dir } });
      writeFileSync(join(root, 'skills/tea/large.bin'), Buffer.alloc(5_000_000));
      const before = treeOf(join(root, 'skills'));
      const registry = await open(root);
      await expect(registry.admin.management.remove('tea', ADA)).rejects.toMatchObject({
        code: 'WRITE_FAILED',
        message: expect.stringContaining('ENOSPC'),
      });
      expect([treeOf(join(root, 'skills')), registry.problems()]).toEqual([before, []]);
      rmSync(join(root, 'skills/tea/large.bin'));
      await registry.admin.management.remove('tea', ADA);
    },
  );

  it('says why a skill that cannot be copied stays where it is, whole', async () => {
    const root = tempFolder({ ...SKILL, data: { link: folderElsewhere() } });
    spawnSync('mkfifo', [join(root, 'skills/tea/pipe')]);
    const before = treeOf(join(root, 'skills'));
    const registry = await open(root);
    await expect(registry.admin.management.remove('tea', ADA)).rejects.toMatchObject({
      code: 'WRITE_FAILED',
      message: expect.stringMatching(/"pipe".*cannot be copied/),
    });
    expect([treeOf(join(root, 'skills')), registry.problems()]).toEqual([before, []]);
  });
});
