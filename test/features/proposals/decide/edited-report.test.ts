import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InternalOptions } from '../../../../extensions/skill_registry/core/options.ts';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const MINE = 'What I think of it.\n';
const EDITED = { code: 'PROPOSAL_FILE_EDITED' };

/** An open proposal, and its report. */
async function proposed() {
  const opened = await teaRegistry();
  const id = await opened.propose(LONGER);
  const { file } = await opened.registry.proposals.get(id);
  const kept = (n = ''): string => file.replace(/\.md$/, `.edited${n}.md`);
  return { ...opened, id, file, kept, report: () => readFileSync(file, 'utf8') };
}

describe('a report that somebody has edited', () => {
  it('is kept beside the one that is written again, is said, and is no decision and no edit', async () => {
    const { registry, tea, id, file, kept, report } = await proposed();
    const written = report();
    writeFileSync(
      file,
      written.replace('+Steep for three', '+Steep for nine').replace('state: open', 'state: approved'),
    );
    const shown = await registry.proposals.get(id);
    expect(shown).toMatchObject({ state: 'open', problem: { ...EDITED, severity: 'warning', file: kept() } });
    expect(shown.problem?.message).toContain(`proposals edit ${id} --from FILE`);
    expect(shown.diff).toContain('+Steep for three');
    expect(report()).toBe(written);
    expect(readFileSync(kept(), 'utf8')).toContain('+Steep for nine');
    expect(registry.problems()).toContainEqual(shown.problem);
    expect(await registry.proposals.list()).toMatchObject([{ id, problem: EDITED }]);
    // Whoever has written it and goes on to approve is told first, once.
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject(EDITED);
    await registry.proposals.approve(id, ADA);
    expect(tea()).toBe(LONGER);
    expect((await registry.proposals.get(id)).problem?.message).toMatch(/is approved, so the edit has no effect/);
    rmSync(kept());
    expect((await registry.proposals.get(id)).problem).toBeUndefined();
  });

  it('holds up an approval that nobody has looked before, and is not taken for what is approved', async () => {
    const { registry, tea, id, file, kept } = await proposed();
    writeFileSync(file, MINE);
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({
      ...EDITED,
      message: expect.stringContaining(kept()),
    });
    expect(tea()).toBe(TEA);
    expect(readFileSync(kept(), 'utf8')).toBe(MINE);
    await registry.proposals.edit(id, { content: TEA.replace('two', 'nine'), ...ADA });
    await registry.proposals.approve(id, ADA);
    expect(tea()).toBe(TEA.replace('two', 'nine'));
  });

  it('is kept whatever is done, each time under a name of its own, also with a link in the way', async () => {
    const { root, registry, id, file, kept } = await proposed();
    const outside = join(root, 'outside.md');
    symlinkSync(outside, kept('-2'));
    writeFileSync(file, 'one');
    await registry.proposals.recommend(id, 'reject', { by: 'agent:reviewer', reason: 'No.' });
    writeFileSync(file, 'two');
    await registry.proposals.edit(id, { content: TEA.replace('two', 'six'), ...ADA });
    writeFileSync(file, Buffer.from([0xff, 0xfe, 0]));
    await registry.proposals.reject(id, { ...ADA, reason: 'No.' });
    writeFileSync(file, Buffer.alloc(17 * 1024 * 1024, 'x'));
    expect(await registry.proposals.get(id)).toMatchObject({ state: 'rejected', problem: { file: kept('-5') } });
    expect(['', '-3', '-4'].map((n) => readFileSync(kept(n)).toString('latin1'))).toEqual(['one', 'two', '\xff\xfe\0']);
    expect([existsSync(outside), lstatSync(kept('-5')).size]).toEqual([false, 17 * 1024 * 1024]);
    expect(readFileSync(file, 'utf8')).toContain('state: rejected');
    await registry.proposals.purge([id], ADA);
    expect(readdirSync(dirname(file)).filter((name) => lstatSync(join(dirname(file), name)).isFile())).toEqual([]);
  });

  it('is kept when an editor saves it in the very moment it is written again', async () => {
    const { root, id, file, kept } = await proposed();
    const config = { sources: [{ path: 'skills' }] };
    const onWriteStep = (step: string): void => void (step === 'file-temporary' && writeFileSync(file, MINE));
    const quick = await createSkillRegistry({ root, config, onWriteStep } as InternalOptions);
    onTestFinished(() => quick.close());
    await quick.proposals.reject(id, { ...ADA, reason: 'No.' });
    expect(readFileSync(kept(), 'utf8')).toBe(MINE);
    expect(readFileSync(file, 'utf8')).toContain('state: rejected');
  });

  it.each(['file-temporary', 'file-written'])('is told from one that a crash at %s has left', async (step) => {
    const { root, registry, id, file, report } = await proposed();
    const config = { sources: [{ path: 'skills' }] };
    let isDead = false;
    const onWriteStep = (now: string): void => {
      if (now === step) isDead = true;
      if (isDead) throw new Error('killed');
    };
    const dying = await createSkillRegistry({ root, config, onWriteStep } as InternalOptions);
    await dying.proposals.recommend(id, 'approve', { by: 'agent:reviewer', reason: 'Good.' }).catch(() => undefined);
    await dying.close();
    await registry.proposals.reject(id, { ...ADA, reason: 'No.' });
    expect(report()).toContain('state: rejected');
    expect(readdirSync(dirname(file))).toEqual([`${id}.md`]);
  });

  it('is not one that another release has written in its own way', async () => {
    const { root, registry, id, file } = await proposed();
    const older = '---\nstate: open\n---\n';
    writeFileSync(file, older);
    const history = openSqlite(join(root, 'data/skill_registry/history.db'));
    const { digestOf } = await import('../../../../lib/digest/index.ts');
    history.prepare('UPDATE proposal SET file_digest = ?').run(digestOf(older));
    history.close();
    expect((await registry.proposals.get(id)).problem).toBeUndefined();
    await registry.proposals.approve(id, ADA);
    expect(readdirSync(dirname(file))).toEqual([`${id}.md`]);
    expect(readFileSync(file, 'utf8')).toContain('state: approved');
  });

  it('is there again when somebody has removed it, and is decided without it', async () => {
    const { registry, id, file, report } = await proposed();
    rmSync(dirname(file), { recursive: true });
    await registry.proposals.get(id);
    expect(report()).toContain('state: open');
    rmSync(file);
    await registry.proposals.reject(id, { ...ADA, reason: 'No.' });
    expect(report()).toContain('state: rejected');
  });

  it.each<[string, (file: string) => void]>([
    ['a link stands in its place', (file) => symlinkSync('/etc/hostname', file)],
    ['a folder stands in its place', (file) => mkdirSync(file)],
    ['a link stands in the place of the folder', (file) => replaceFolder(dirname(file))],
  ])('hinders nothing when %s, and is written as soon as that is gone', async (_how, replace) => {
    const { registry, tea, id, file, report } = await proposed();
    rmSync(file);
    replace(file);
    expect(await registry.proposals.get(id)).toMatchObject({ state: 'open' });
    expect(registry.problems()).toContainEqual(
      expect.objectContaining({ code: 'WRITE_FAILED', message: expect.stringContaining('remove it') }),
    );
    await registry.proposals.approve(id, ADA);
    expect(tea()).toBe(LONGER);
    rmSync(file.startsWith(realpathSync(dirname(file))) ? file : dirname(file), { recursive: true });
    await registry.admin.management.write('tea', 'references/new.md', 'new\n', ADA);
    expect(report()).toContain('state: approved');
    expect(registry.problems()).toEqual([]);
  });
});

function replaceFolder(folder: string): void {
  rmSync(folder, { recursive: true });
  symlinkSync(tempFolder({}), folder);
}
