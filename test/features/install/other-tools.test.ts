import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { computedHash } from '../../../extensions/skill_registry/features/install/lock.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { treeOf } from '../../helpers/tree-of.ts';

const { HOME } = process.env;
let home = '';

beforeEach(() => {
  home = tempFolder();
  process.env.HOME = home;
});

afterEach(() => {
  process.env.HOME = HOME;
});

const READ_ONLY = [{ path: 'skills', optional: true }, { preset: 'agents' }, { preset: 'claude' }] as const;

describe.each([
  ['without a source that has it', [{ path: 'skills', optional: true }]],
  ['with a preset, which may not be written', READ_ONLY],
] as const)('what another tool has installed, %s', (_name, sources) => {
  it('is there, is brought up to date where it lies, and is removed and restored there', async () => {
    const { root, from } = rootOfOtherTool();
    linkForClaude(root);
    const registry = await openRoot(root, { config: { sources } });
    expect(await registry.origin.verify()).toMatchObject([{ id: 'tea', name: 'tea', state: 'same', weak: true }]);
    expect((await registry.origin.restore()).skills).toEqual([]);
    expect(await registry.origin.add(from)).toMatchObject({ skills: [], installed: ['tea'] });

    writeFileSync(join(from, 'SKILL.md'), LONGER);
    const plan = await registry.origin.update();
    expect(plan.skills).toMatchObject([{ id: 'tea', state: 'outdated', drifted: false }]);
    await plan.apply(ADA);
    expect(readFileSync(join(root, '.agents/skills/tea/SKILL.md'), 'utf8')).toBe(LONGER);
    expect(await registry.origin.verify()).toMatchObject([{ state: 'same', weak: false }]);

    expect(await registry.origin.remove('tea', ADA)).toMatchObject({ id: 'tea', wasLocked: true });
    expect(existsSync(join(root, '.agents/skills/tea'))).toBe(false);
    await registry.history.restore('tea', ADA);
    expect(readFileSync(join(root, '.agents/skills/tea/SKILL.md'), 'utf8')).toBe(LONGER);
    expect(existsSync(join(root, 'skills'))).toBe(false);
  });
});

it('is restored where the tool looks for it', async () => {
  const { root } = rootOfOtherTool();
  rmSync(join(root, '.agents/skills/tea'), { recursive: true });
  const registry = await openRoot(root);
  expect(await registry.origin.verify()).toMatchObject([{ state: 'absent' }]);
  await (await registry.origin.restore()).apply(ADA);
  expect(await registry.origin.verify()).toMatchObject([{ state: 'same' }]);
  expect(existsSync(join(root, '.agents/skills/tea/SKILL.md'))).toBe(true);
});

it('says what to do where both have changed the same lines and no proposal can be approved', async () => {
  const { root, from } = rootOfOtherTool();
  writeFileSync(join(root, '.agents/skills/tea/SKILL.md'), TEA.replace('two minutes', 'six minutes'));
  writeFileSync(join(from, 'SKILL.md'), LONGER);
  const plan = await (await openRoot(root)).origin.update();
  const folder = join(root, '.agents/skills');
  expect(plan.skills).toMatchObject([
    { state: 'failed', reason: expect.stringContaining(`Add { path: "${folder}" } to \`sources\``) },
  ]);
  const asked = await (await openRoot(root, { config: { sources: [{ path: folder }] } })).origin.update();
  expect(asked.skills).toMatchObject([{ state: 'outdated', files: [{ path: 'SKILL.md', change: 'conflict' }] }]);
});

it('is undone when the process that changed it was killed', async () => {
  const { root, from } = rootOfOtherTool();
  writeFileSync(join(from, 'SKILL.md'), LONGER);
  const registry = await openRoot(root);
  await (await registry.origin.update()).apply(ADA);
  await registry.close();
  const id = '0123456789ab';
  const place = { skillId: 'tea', source: 'agents', key: '.agents/skills/tea', below: 'tea' };
  const changes = [{ path: 'SKILL.md', before: digestOf(TEA), after: digestOf(LONGER) }];
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  database.prepare('INSERT INTO operation (id, content) VALUES (?, ?)').run(id, JSON.stringify({ id, place, changes }));
  database.close();
  const next = await openRoot(root);
  expect(next.problems().filter(({ code }) => code === 'HISTORY_ROW_REFUSED')).toEqual([]);
  expect(readFileSync(join(root, '.agents/skills/tea/SKILL.md'), 'utf8')).toBe(TEA);
});

it('is never what lies in the home of a person: a folder for all projects that may be written', async () => {
  const { root } = rootOfOtherTool({ '.agents/x.md': '' });
  rmSync(join(root, '.agents'), { recursive: true });
  writeTree(home, { '.claude/skills/tea/SKILL.md': TEA });
  const outside = tempFolder();
  const sources = [{ preset: 'claude', writable: true }, { path: outside }] as const;
  const registry = await openRoot(root, { config: { sources } });
  await assertNotNamed(registry, join(home, '.claude/skills/tea'), join(root, '.claude/skills/tea'));
  await expect(
    registry.origin.add(tempFolder({ 'SKILL.md': TEA.replaceAll('tea', 'pot') }), {
      to: outside,
    }),
  ).rejects.toMatchObject({ code: 'ORIGIN_REFUSED', message: expect.stringMatching(/outside the root/) });
});

it.each(['skills', '.agents/skills', '.claude/skills'])('is never what a link leads to: %s', async (link) => {
  const { root } = rootOfOtherTool();
  rmSync(join(root, '.agents'), { recursive: true });
  const elsewhere = tempFolder({ 'tea/SKILL.md': TEA });
  mkdirSync(join(root, link, '..'), { recursive: true });
  symlinkSync(elsewhere, join(root, link));
  const registry = await openRoot(root, { config: { sources: [{ path: link }] } });
  await assertNotNamed(registry, join(elsewhere, 'tea'));
});

it('has no place behind a link that no source has', async () => {
  const { root, from } = rootOfOtherTool();
  rmSync(join(root, '.agents'), { recursive: true });
  const elsewhere = tempFolder({ 'tea/SKILL.md': TEA });
  mkdirSync(join(root, '.agents'));
  symlinkSync(elsewhere, join(root, '.agents/skills'));
  writeFileSync(join(from, 'SKILL.md'), LONGER);
  const registry = await openRoot(root);
  expect(await registry.origin.verify()).toMatchObject([{ state: 'absent' }]);
  await (await registry.origin.update()).apply(ADA);
  await registry.origin.remove('tea', ADA);
  expect(readFileSync(join(elsewhere, 'tea/SKILL.md'), 'utf8')).toBe(TEA);
});

type Registry = Awaited<ReturnType<typeof openRoot>>;

/**
 * Nothing that the lock asks for is done in a folder outside its root.
 *
 * @param inRoot - The folder in the root that the skill would get. Default: it gets none.
 */
async function assertNotNamed(registry: Registry, folder: string, inRoot?: string): Promise<void> {
  const before = treeOf(folder);
  expect(await registry.origin.verify()).toMatchObject([
    { state: 'absent', reason: `${folder} is outside this root, where its lock names nothing` },
  ]);
  expect((await registry.origin.update()).skills).toMatchObject([{ state: 'absent' }]);
  const restored = await registry.origin.restore().catch(({ code }) => code);
  expect(inRoot ? restored.skills : restored).toEqual(
    inRoot ? [expect.objectContaining({ folder: inRoot })] : 'ORIGIN_REFUSED',
  );
  expect(await registry.origin.remove('tea', ADA)).toEqual({ id: 'tea', revision: undefined, wasLocked: true });
  expect(treeOf(folder)).toEqual(before);
}

/** `.agents/skills/tea` from a folder beside the root, and a lock as the command `skills` of Vercel writes it. */
function rootOfOtherTool(tree: Tree = {}): { readonly root: string; readonly from: string } {
  const root = tempFolder({ '.agents/skills/tea/SKILL.md': TEA, ...tree });
  const from = tempFolder({ 'SKILL.md': TEA });
  const hash = computedHash([{ path: 'SKILL.md', bytes: Buffer.from(TEA) }]);
  const entry = { source: relative(root, from), sourceType: 'local', skillPath: 'SKILL.md', computedHash: hash };
  writeTree(root, { 'skills-lock.json': JSON.stringify({ version: 1, skills: { tea: entry } }) });
  return { root, from };
}

/** As that command does for an agent that does not read `.agents/skills`. */
function linkForClaude(root: string): void {
  mkdirSync(join(root, '.claude/skills'), { recursive: true });
  symlinkSync('../../.agents/skills/tea', join(root, '.claude/skills/tea'));
}
