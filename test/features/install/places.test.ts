import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { digestOf } from '../../../lib/digest/index.ts';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { type RunOptions, runCommand } from '../../helpers/run-command.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { treeOf } from '../../helpers/tree-of.ts';

/** A person who has Claude Code, a project where nobody has set anything, and a folder with the skill `tea`. */
let home: string;
let project: string;
let from: string;
beforeEach(() => {
  home = tempFolder({ '.claude/settings.json': '{}' });
  project = tempFolder({ '.git/HEAD': '' });
  from = tempFolder({ 'tea/SKILL.md': TEA });
  vi.stubEnv('HOME', home);
  vi.stubEnv('XDG_STATE_HOME', join(home, 'state'));
  onTestFinished(() => void vi.unstubAllEnvs());
});

const run = (args: readonly string[], options: RunOptions = {}) =>
  runCommand(args, { cwd: project, trust: false, ...options });
const add = (...args: readonly string[]) => run(['add', join(from, 'tea'), '--yes', ...args]);
const verified = async () => JSON.parse((await run(['verify', '--json'])).stdout).skills;
const lockIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'skills-lock.json'), 'utf8'));

async function open(presets = true): Promise<SkillRegistry> {
  const registry = await createSkillRegistry({ root: project, presets });
  onTestFinished(() => registry.close());
  return registry;
}

const REAL = '.agents/skills/tea';
const LINK = '.claude/skills/tea';
const isLink = (folder: string): boolean =>
  lstatSync(join(folder, LINK), { throwIfNoEntry: false })?.isSymbolicLink() === true;

describe('without a terminal', () => {
  it('installs where agents look, with a link for the one that looks elsewhere, and writes no config', async () => {
    const { status, stderr } = await add();
    expect(status).toBe(0);
    expect(stderr).toContain(`  link ${join(project, LINK)}\n`);
    expect(readlinkSync(join(project, LINK))).toBe('../../.agents/skills/tea');
    expect(readFileSync(join(project, LINK, 'SKILL.md'), 'utf8')).toBe(TEA);
    expect(lockIn(project).skills.tea.registry.links).toEqual(['claude']);
    expect(existsSync(join(project, 'data/skill_registry/config.yaml'))).toBe(false);
    expect(existsSync(join(project, 'skills'))).toBe(false);
    expect(await verified()).toMatchObject([{ name: 'tea', state: 'same', of_person: false }]);
    const { stdout } = await run(['list', '--json']);
    expect(JSON.parse(stdout).skills).toMatchObject([{ skill_id: 'tea', file: join(project, REAL, 'SKILL.md') }]);
  });

  it('makes what it has chosen writable: a proposal, a roll-back and an update work on it', async () => {
    await add();
    const registry = await open();
    await registry.proposals.propose({ skillId: 'tea', content: LONGER, justification: 'Longer.' });
    const [proposal] = await registry.proposals.list();
    await registry.proposals.approve(proposal?.id ?? '', ADA);
    expect(readFileSync(join(project, REAL, 'SKILL.md'), 'utf8')).toBe(LONGER);
    await registry.history.rollback('tea', 1, ADA);
    expect(readFileSync(join(project, REAL, 'SKILL.md'), 'utf8')).toBe(TEA);
    writeFileSync(join(from, 'tea/SKILL.md'), LONGER);
    await (await registry.origin.update()).apply(ADA);
    expect(await registry.origin.verify()).toMatchObject([{ state: 'same' }]);
    expect(lockIn(project).skills.tea.registry.links).toEqual(['claude']);
  });

  it('installs the second one beside the first', async () => {
    await run(['add', join(from, 'tea'), '--to', 'claude', '--yes']);
    writeTree(from, { 'pot/SKILL.md': TEA.replaceAll('tea', 'pot') });
    expect((await run(['add', join(from, 'pot'), '--yes'])).status).toBe(0);
    expect(lstatSync(join(project, '.claude/skills/pot')).isDirectory()).toBe(true);
  });

  it.each([
    ['skills/x.md', 'skills/tea'],
    ['data/skill_registry/config.yaml', 'skills/tea'],
  ])('keeps the folder of a root that has %s', async (file, folder) => {
    writeTree(project, { [file]: '' });
    expect((await add()).status).toBe(0);
    expect(existsSync(join(project, folder, 'SKILL.md'))).toBe(true);
    expect(existsSync(join(project, '.agents'))).toBe(false);
    expect(isLink(project)).toBe(false);
  });

  it('links it for an agent that is named, in a root that keeps its folder as well', async () => {
    writeTree(project, { 'skills/x.md': '' });
    await add('--agent', 'claude');
    expect(readlinkSync(join(project, LINK))).toBe('../../skills/tea');
    const wrong = await run(['add', from, '--yes', '--agent', '../../etc']);
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('An agent is one of')]);
  });
});

describe('removing and restoring', () => {
  it('takes the link and brings it back, with the entry of the lock', async () => {
    await add();
    const entry = lockIn(project).skills.tea;
    expect((await run(['remove', 'tea', '--yes'])).status).toBe(0);
    expect(lstatSync(join(project, LINK), { throwIfNoEntry: false })).toBeUndefined();
    expect(lockIn(project).skills).toEqual({});
    expect((await run(['rollback', 'tea', '--yes'])).status).toBe(0);
    expect(readFileSync(join(project, LINK, 'SKILL.md'), 'utf8')).toBe(TEA);
    expect(lockIn(project).skills.tea).toEqual(entry);
    expect(await verified()).toMatchObject([{ state: 'same' }]);
  });

  it('gives a colleague the same links', async () => {
    await add();
    rmSync(join(project, '.agents'), { recursive: true });
    rmSync(join(project, '.claude'), { recursive: true });
    rmSync(join(home, '.claude'), { recursive: true });
    const { status } = await run(['add', '--frozen', '--yes'], { trust: true });
    expect(status).toBe(0);
    expect(readFileSync(join(project, LINK, 'SKILL.md'), 'utf8')).toBe(TEA);
  });

  it('says of a link that it is missing, or leads elsewhere, and leaves that one when the skill is removed', async () => {
    await add();
    rmSync(join(project, LINK));
    expect(await verified()).toMatchObject([{ state: 'unlinked', reason: `${join(project, LINK)} is missing` }]);
    const other = tempFolder({ 'SKILL.md': LONGER });
    symlinkSync(other, join(project, LINK));
    expect(await verified()).toMatchObject([{ state: 'unlinked', reason: expect.stringContaining('does not lead') }]);
    await run(['remove', 'tea', '--yes']);
    expect(readlinkSync(join(project, LINK))).toBe(other);
  });

  it('makes a lost link again with add --frozen, shows it before, and leaves what is in the place of another', async () => {
    await add('--to', 'claude', '--agent', 'gemini', '--agent', 'windsurf');
    const gemini = join(project, '.gemini/skills/tea');
    const windsurf = join(project, '.windsurf/skills/tea');
    rmSync(gemini);
    rmSync(windsurf);
    writeTree(windsurf, { 'notes.md': 'mine' });
    const shown = await run(['add', '--frozen', '--dry-run'], { trust: true });
    expect([shown.stdout, existsSync(gemini)]).toEqual([expect.stringContaining(`  link ${gemini}\n`), false]);
    const no = await run(['add', '--frozen'], { trust: true, answer: () => 'n' });
    expect([no.status, existsSync(gemini)]).toEqual([1, false]);
    const made = await run(['add', '--frozen', '--yes', '--json'], { trust: true });
    expect([made.status, JSON.parse(made.stdout).links]).toEqual([0, [gemini]]);
    expect(readFileSync(join(gemini, 'SKILL.md'), 'utf8')).toBe(TEA);
    expect(readFileSync(join(windsurf, 'notes.md'), 'utf8')).toBe('mine');
    const again = await run(['add', '--frozen', '--yes'], { trust: true });
    expect(again.stderr).toContain('Everything is as skills-lock.json says');
  });

  it('says of a link that its skill is gone, and takes it with the entry of the lock, and no other one', async () => {
    await add();
    rmSync(join(project, '.agents'), { recursive: true });
    expect(await verified()).toMatchObject([
      { state: 'absent', reason: `${join(project, LINK)} is a link to where it was` },
    ]);
    expect((await run(['remove', 'tea', '--yes'])).status).toBe(0);
    expect(lstatSync(join(project, LINK), { throwIfNoEntry: false })).toBeUndefined();
    expect(lockIn(project).skills).toEqual({});
    await add();
    rmSync(join(project, '.agents'), { recursive: true });
    const elsewhere = join(tempFolder(), 'tea');
    rmSync(join(project, LINK));
    symlinkSync(elsewhere, join(project, LINK));
    expect((await verified())[0].reason).toBeUndefined();
    await run(['remove', 'tea', '--yes']);
    expect(readlinkSync(join(project, LINK))).toBe(elsewhere);
  });

  it('keeps an entry that has the name meanwhile', async () => {
    await add();
    await run(['remove', 'tea', '--yes']);
    await add('--to', 'gemini');
    const { registry, ...entry } = lockIn(project).skills.tea;
    await (await open()).history.restore('tea', ADA);
    expect(existsSync(join(project, REAL, 'SKILL.md'))).toBe(true);
    expect(lockIn(project).skills.tea).toEqual({ ...entry, registry });
    expect(isLink(project)).toBe(false);
  });
});

describe('what a repository has placed', () => {
  it.each([
    ['.claude', '.claude'],
    ['.claude/skills', '.claude/skills'],
  ])('makes no link through %s, which leads out of the project', async (path) => {
    const outside = tempFolder();
    if (path === '.claude') mkdirSync(join(outside, 'skills'));
    const before = treeOf(outside);
    mkdirSync(join(project, path, '..'), { recursive: true });
    symlinkSync(outside, join(project, path));
    const { status, stderr } = await add();
    expect([status, stderr]).toEqual([0, expect.stringContaining('is reached through a link')]);
    expect(treeOf(outside)).toEqual(before);
    expect(lockIn(project).skills.tea.registry.links).toBeUndefined();
  });

  it('makes none through a link that appears between the plan and the writing', async () => {
    const outside = tempFolder();
    const plan = await (await open()).origin.add(join(from, 'tea'), { to: 'agents' });
    expect(plan.skills[0]?.links).toEqual([join(project, LINK)]);
    mkdirSync(join(project, '.claude'));
    symlinkSync(outside, join(project, '.claude/skills'));
    await plan.apply(ADA);
    expect(treeOf(outside)).toEqual({});
    expect(existsSync(join(project, REAL, 'SKILL.md'))).toBe(true);
  });

  it('replaces neither a folder nor a link in the place of one, and says so', async () => {
    for (const make of [
      () => writeTree(project, { [`${LINK}/SKILL.md`]: LONGER }),
      () => symlinkSync(tempFolder({ 'SKILL.md': LONGER }), join(project, LINK)),
    ]) {
      make();
      const before = treeOf(join(project, '.claude'));
      const { status, stderr } = await add();
      expect([status, stderr]).toEqual([0, expect.stringContaining('which sees what is there already')]);
      expect(treeOf(join(project, '.claude'))).toEqual(before);
      await run(['remove', 'agents:tea', '--yes']);
      expect(treeOf(join(project, '.claude'))).toEqual(before);
      rmSync(join(project, LINK), { recursive: true });
    }
  });

  it('replaces no folder that appears between the plan and the writing', async () => {
    const plan = await (await open()).origin.add(join(from, 'tea'), { to: 'agents' });
    writeTree(project, { [`${LINK}/notes.md`]: 'mine' });
    await plan.apply(ADA);
    expect(readFileSync(join(project, LINK, 'notes.md'), 'utf8')).toBe('mine');
  });

  it('installs nothing through .agents, which leads out of the project', async () => {
    const outside = tempFolder();
    symlinkSync(outside, join(project, '.agents'));
    expect((await add('--to', 'agents')).status).toBe(1);
    await add();
    expect(treeOf(outside)).toEqual({});
    expect(existsSync(join(project, 'skills/tea/SKILL.md'))).toBe(true);
  });

  it('takes no path out of a lock: names of links that are none of an agent are nothing', async () => {
    await add();
    const lock = lockIn(project);
    const aim = tempFolder();
    symlinkSync(join(project, REAL), join(aim, 'tea'));
    lock.skills.tea.registry.links = ['../../..', aim, '__proto__', 'constructor', 'claude'];
    writeFileSync(join(project, 'skills-lock.json'), JSON.stringify(lock));
    expect((await run(['remove', 'tea', '--yes'])).status).toBe(0);
    expect(readlinkSync(join(aim, 'tea'))).toBe(join(project, REAL));
    expect(lstatSync(join(project, LINK), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('makes no folder writable by a lock that another tool wrote', async () => {
    await add('--to', 'claude');
    const lock = lockIn(project);
    delete lock.skills.tea.registry;
    writeFileSync(join(project, 'skills-lock.json'), JSON.stringify(lock));
    const registry = await open();
    await expect(registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA)).rejects.toMatchObject({
      code: 'SOURCE_NOT_WRITABLE',
    });
  });
});

describe('for the person', () => {
  const state = () => join(home, 'state/skill-registry');

  it('asks once, and keeps the lock in the state directory, which verify, update and remove read', async () => {
    const asked: string[] = [];
    const answer = (question: string): string => {
      asked.push(question);
      return question.startsWith('Where') ? 'agents-home' : 'y';
    };
    expect((await run(['add', join(from, 'tea')], { answer })).status).toBe(0);
    expect(asked).toEqual([
      'Where to? agents, claude, agents-home, claude-home (-home: for all your projects) [agents]: ',
      'Install tea? [y/N] ',
    ]);
    expect(readlinkSync(join(home, LINK))).toBe('../../.agents/skills/tea');
    expect(existsSync(join(project, 'skills-lock.json'))).toBe(false);
    expect(lockIn(state()).skills.tea).toMatchObject({ source: join(from, 'tea'), registry: { links: ['claude'] } });
    expect(lstatSync(join(state(), 'skills-lock.json')).mode & 0o777).toBe(0o600);
    const other = tempFolder({ '.git/HEAD': '' });
    const there = (args: readonly string[], trust = false) => runCommand(args, { cwd: other, trust });
    expect(JSON.parse((await there(['verify', '--json'])).stdout).skills).toMatchObject([
      { name: 'tea', state: 'same', of_person: true },
    ]);
    writeFileSync(join(from, 'tea/SKILL.md'), LONGER);
    expect((await there(['update', '--yes'])).status).toBe(0);
    expect(readFileSync(join(home, REAL, 'SKILL.md'), 'utf8')).toBe(LONGER);
    expect((await there(['remove', 'tea', '--yes'])).status).toBe(0);
    expect([existsSync(join(home, REAL)), isLink(home)]).toEqual([false, false]);
    expect(lockIn(state()).skills).toEqual({});
    expect((await there(['rollback', 'tea', '--yes'], true)).status).toBe(0);
    expect(readFileSync(join(home, LINK, 'SKILL.md'), 'utf8')).toBe(LONGER);
    expect(Object.keys(lockIn(state()).skills)).toEqual(['tea']);
  });

  it('has its lost links made again by add --frozen, in any folder, and its changed skills left alone', async () => {
    await add('--to', 'agents-home');
    const other = tempFolder({ '.git/HEAD': '' });
    const frozen = () => runCommand(['add', '--frozen', '--yes'], { cwd: other, trust: false });
    expect(await frozen()).toMatchObject({ status: 1, stderr: expect.stringContaining('LOCK_INVALID') });
    rmSync(join(home, LINK));
    expect(await verified()).toMatchObject([{ state: 'unlinked', of_person: true }]);
    expect(await frozen()).toMatchObject({ status: 0, stderr: expect.stringContaining('Made again: 1 lost link') });
    expect(await verified()).toMatchObject([{ state: 'same' }]);
    rmSync(join(home, LINK));
    writeFileSync(join(home, REAL, 'SKILL.md'), LONGER);
    expect(await frozen()).toMatchObject({ status: 1, stderr: expect.stringContaining('LOCK_INVALID') });
    writeFileSync(join(home, REAL, 'SKILL.md'), TEA);
    writeTree(other, { 'skills-lock.json': JSON.stringify(lockIn(state())) });
    expect(await frozen()).toMatchObject({ status: 1, stderr: expect.stringContaining('ROOT_NOT_APPROVED') });
    expect(isLink(home)).toBe(false);
  });

  it('restores nothing there from the history of a root that nobody approved', async () => {
    await add('--to', 'claude-home');
    await run(['remove', 'tea', '--yes']);
    const { status, stderr } = await run(['rollback', 'tea', '--yes']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('Nobody has approved this root')]);
    expect(existsSync(join(home, LINK))).toBe(false);
  });

  it('is nothing to a program that has no folders of the person', async () => {
    await add('--to', 'claude-home');
    const registry = await open(false);
    expect(await registry.origin.verify()).toEqual([]);
    expect((await registry.origin.update()).skills).toEqual([]);
    await expect(registry.origin.add(join(from, 'tea'), { to: 'claude-home' })).rejects.toMatchObject({
      code: 'ORIGIN_REFUSED',
    });
  });

  it('is never covered by the lock of a project', async () => {
    await add();
    writeTree(home, { [`${REAL}/SKILL.md`]: TEA });
    rmSync(join(project, '.agents'), { recursive: true });
    expect(await verified()).toMatchObject([{ state: 'absent', of_person: false }]);
    await run(['remove', 'tea', '--yes']);
    expect(existsSync(join(home, REAL, 'SKILL.md'))).toBe(true);
  });

  it('is undone when the process that installed the first one was killed', async () => {
    await add('--to', 'claude-home');
    writeFileSync(join(state(), 'skills-lock.json'), '{ "version": 1, "skills": {} }', { mode: 0o600 });
    const [id, key] = ['0123456789ab', join(home, LINK)];
    const place = { skillId: 'tea', source: 'claude-home', key, below: 'tea' };
    const content = { id, place, changes: [{ path: 'SKILL.md', before: null, after: digestOf(TEA), mode: 0o644 }] };
    const database = openSqlite(join(project, 'data/skill_registry/history.db'));
    database.prepare('INSERT INTO operation (id, content) VALUES (?, ?)').run(id, JSON.stringify(content));
    database.close();
    const registry = await open();
    expect(registry.problems().filter(({ code }) => code === 'HISTORY_ROW_REFUSED')).toEqual([]);
    expect(existsSync(key)).toBe(false);
  });

  it('believes no lock that others can write', async () => {
    await add('--to', 'agents-home');
    chmodSync(join(state(), 'skills-lock.json'), 0o666);
    const { status, stderr } = await run(['verify']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('others can write it')]);
    const registry = await open();
    await expect(registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA)).rejects.toMatchObject({
      code: 'SOURCE_NOT_WRITABLE',
    });
  });
});
