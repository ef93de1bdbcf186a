import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistryConfigInput } from 'skill-registry';
import { expect, it } from 'vitest';
import { openRoot } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const HISTORY_FILES = ['history.db', 'history.db-wal', 'history.db-shm'];
const NEW = skillMd({ name: 'new', description: 'Is new.' });

/** The message of a rejection with this code. */
async function refusal(code: string, promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ code });
  return (error as Error).message;
}

it('a damaged history is replaced by a backup, or by a new one, when its three files are moved away together', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const data = join(root, 'data/skill_registry');
  const first = await openRoot(root);
  await first.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
  await first.close();
  cpSync(join(data, 'history.db'), join(root, 'backup.db'));
  for (const name of HISTORY_FILES) writeFileSync(join(data, name), 'this is no database at all\n'.repeat(200));

  const damaged = await openRoot(root);
  const message = await refusal('HISTORY_DAMAGED', damaged.history.revisions('tea'));
  for (const name of HISTORY_FILES) expect(message).toContain(name);
  await damaged.close();
  const moveAway = (to: string): void => {
    mkdirSync(join(root, to));
    for (const name of HISTORY_FILES)
      if (existsSync(join(data, name))) renameSync(join(data, name), join(root, to, name));
  };
  moveAway('damaged');
  cpSync(join(root, 'backup.db'), join(data, 'history.db'));
  const restored = await openRoot(root);
  expect(await restored.history.revisions('tea')).toHaveLength(2);
  await restored.history.rollback('tea', 1, ADA);
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(TEA);
  await restored.close();
  moveAway('old');
  const begun = await openRoot(root);
  await begun.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
  expect(await begun.history.revisions('tea')).toHaveLength(2);
});

it('a revision is found by a number or by four characters of a digest, as the message says', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const registry = await openRoot(root);
  const [revision] = await registry.history.revisions('tea');
  const digest = revision?.digest.slice('sha256:'.length) ?? '';
  const message = await refusal('REVISION_NOT_FOUND', registry.history.read('tea', digest.slice(0, 3)));
  expect(message).toContain('It has revision 1: give one of these numbers, or at least 4 characters');
  expect(message).toContain('`skill-registry history tea` lists both');
  expect((await registry.history.read('tea', digest.slice(0, 4))).toString()).toBe(TEA);
});

it('a skill without a history says why, and has one when the root is approved', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const untrusted = await openRoot(root, { trust: false });
  const message = await refusal('REVISION_NOT_FOUND', untrusted.history.read('tea', 1));
  expect(message).toMatch(
    /nothing is recorded of it\. Nobody has approved this root, .*`skill-registry approvals allow` in it/,
  );
  expect(message).not.toContain('number');
  const { stderr } = await runCommand(['rollback', 'tea', '1', '--root', root], { trust: false });
  expect(stderr).toContain('Nobody has approved this root');
  const trusted = await openRoot(root, { trust: true });
  expect((await trusted.history.read('tea', 1)).toString()).toBe(TEA);
});

it('a skill of a preset is written once the source is writable, or once its folder is copied into one that is', async () => {
  const root = tempFolder({ '.agents/skills/tea/SKILL.md': TEA });
  const open = (...sources: NonNullable<SkillRegistryConfigInput['sources']>) =>
    openRoot(root, { config: { sources } });
  const write = (registry: Awaited<ReturnType<typeof open>>) =>
    registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
  const message = await refusal('SOURCE_NOT_WRITABLE', write(await open({ preset: 'agents' })));
  expect(message).toContain('set writable: true for the source in the config, or copy its folder into a source');
  cpSync(join(root, '.agents/skills'), join(root, 'skills'), { recursive: true });
  await write(await open({ path: 'skills' }, { preset: 'agents' }));
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(LONGER);
  await write(await open({ preset: 'agents', writable: true }));
  expect(readFileSync(join(root, '.agents/skills/tea/SKILL.md'), 'utf8')).toBe(LONGER);
});

it('a skill of a package is not said to be writable by a setting that packages do not have', async () => {
  const root = tempFolder({
    'node_modules/teas/package.json': JSON.stringify({ name: 'teas', version: '1.0.0' }),
    'node_modules/teas/skills/tea/SKILL.md': TEA,
  });
  const registry = await openRoot(root, { config: { sources: [{ package: 'teas' }] } });
  expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['tea']);
  const write = registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
  const message = await refusal('SOURCE_NOT_WRITABLE', write);
  expect(message).not.toContain('writable: true');
  expect(message).toContain('copy its folder into a source that may be written');
});

it.each<[what: string, sources: NonNullable<SkillRegistryConfigInput['sources']>, says: string]>([
  ['no source may be written', [{ preset: 'agents' }], 'Add a folder to `sources` in data/skill_registry/config.yaml'],
  ['the first one is itself a skill', [{ path: 'whole' }], 'Put another folder first in `sources`: { path: skills }'],
])('a new skill is made where the message says, when %s', async (_, sources, says) => {
  const root = tempFolder({ 'whole/SKILL.md': TEA, 'skills/.keep': '' });
  const refused = await openRoot(root, { config: { sources } });
  expect(await refusal('SOURCE_NOT_WRITABLE', refused.admin.management.create('new', NEW, ADA))).toContain(says);
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }, ...sources] } });
  await registry.admin.management.create('new', NEW, ADA);
  expect(readFileSync(join(root, 'skills/new/SKILL.md'), 'utf8')).toBe(NEW);
});

it.each([
  ['references/a\u2028b.md', 'references/a⟦U+2028⟧b.md'],
  ['references/a\u202eb.md', 'references/a⟦U+202E⟧b.md'],
  ['references/a\u200fb.md', 'references/a⟦U+200F⟧b.md'],
  ['references/a\u0007b.md', 'references/a⟦U+0007⟧b.md'],
  ['references/a\nb.md', 'references/a\\nb.md'],
  ['references/\u202ea/', 'references/⟦U+202E⟧a/'],
  ['references/\u200ba.md~', 'references/⟦U+200B⟧a.md~'],
])('the message of a refused path shows %j as %s', async (path, shown) => {
  const registry = await openRoot(tempFolder({ 'skills/tea/SKILL.md': TEA }));
  const message = await refusal('INVALID_ARGUMENT', registry.admin.management.write('tea', path, 'x', ADA));
  expect(message).toContain(`"${shown}"`);
});

it('a roll-back that would lose a large file is made once the limit is raised, or the file is moved away', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const [large, elsewhere] = [join(root, 'skills/tea/large.txt'), join(root, 'large.txt')];
  const open = (file_bytes: number) =>
    openRoot(root, { config: { sources: [{ path: 'skills' }], limits: { file_bytes } } });
  const small = await open(1_000);
  await small.history.revisions('tea');
  writeFileSync(large, 'x'.repeat(2_000));
  const message = await refusal('REVISION_INCOMPLETE', small.history.rollback('tea', 1, ADA));
  expect(message).toContain('Raise limits.file_bytes above their size, or move these files out of the skill');
  renameSync(large, elsewhere);
  await small.history.rollback('tea', 1, ADA);
  renameSync(elsewhere, large);
  await refusal('REVISION_INCOMPLETE', small.history.rollback('tea', 1, ADA));
  await (await open(10_000)).history.rollback('tea', 1, ADA);
  expect(existsSync(large)).toBe(false);
});
