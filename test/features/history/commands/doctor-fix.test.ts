import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import type { InternalOptions } from '../../../../extensions/skill_registry/core/options.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';

const MARK = '\ufeff---\nname: mark\ndescription: Has a byte order mark.\n---\nBody.\n';
const COLON = '---\nname: Colon\ndescription: Use it: always.\n---\nBody.\n';

function brokenRoot(): string {
  return tempFolder({ 'skills/mark/SKILL.md': MARK, 'skills/colon/SKILL.md': COLON });
}

function read(root: string, id: string): string {
  return readFileSync(join(root, 'skills', id, 'SKILL.md'), 'utf8');
}

it('shows what it would write, asks, and writes nothing without a yes', async () => {
  const root = brokenRoot();
  const { status, stderr } = await runCommand(['doctor', '--fix'], { cwd: root, answer: () => 'n' });
  expect(status).toBe(1);
  expect(stderr).toContain("-description: Use it: always.\n+name: colon\n+description: 'Use it: always.'\n");
  expect(stderr).toContain('Write this into 2 SKILL.md? [y/N] Nothing was changed\n');
  expect([read(root, 'mark'), read(root, 'colon')]).toEqual([MARK, COLON]);
});

it('writes what was shown, as revisions that rollback undoes, byte for byte', async () => {
  const root = brokenRoot();
  const run = (...args: string[]) => runCommand(args, { cwd: root });
  const fixed = await run('doctor', '--fix', '--yes', '--by', 'ada', '--reason', 'tidy', '--json');
  expect(fixed.status).toBe(0);
  const { repaired, failed } = JSON.parse(fixed.stdout);
  expect([repaired.map((one: { skill_id: string }) => one.skill_id), failed]).toEqual([['colon', 'mark'], []]);
  expect(read(root, 'mark')).toBe(MARK.slice(1));
  expect(read(root, 'colon')).toBe("---\nname: colon\ndescription: 'Use it: always.'\n---\nBody.\n");
  expect((await run('doctor')).stdout).toContain('Problems: none');
  const history = JSON.parse((await run('history', 'mark', '--json')).stdout);
  expect(history.revisions.at(-1)).toMatchObject({
    by: 'person:ada',
    reason: 'tidy: the byte order mark was removed',
  });
  for (const id of ['mark', 'colon']) await run('rollback', id, '1', '--yes');
  expect([read(root, 'mark'), read(root, 'colon')]).toEqual([MARK, COLON]);
  expect((await run('doctor', '--fix', '--yes')).status).toBe(0);
  expect((await run('doctor', '--fix', '--yes')).stderr).toContain('Nothing can be repaired');
});

it('calls skill.md SKILL.md and writes a frontmatter where there is none, shows both before it asks, and rollback undoes both', async () => {
  const prose = '# Tea\n\nHow to make green tea.\n';
  const root = tempFolder({ 'skills/tea/skill.md': prose, 'skills/tea/notes.md': 'Notes.' });
  const file = (name: string): string => join(root, 'skills/tea', name);
  const shown = await runCommand(['doctor', '--fix'], { cwd: root, answer: () => 'n' });
  expect(shown.stderr).toContain('the file skill.md was renamed to SKILL.md');
  expect(shown.stderr).toContain('rename from skill.md\nrename to SKILL.md\n');
  expect(shown.stderr).toContain('+name: tea\n+description: How to make green tea.\n');
  expect(readdirSync(file('.'))).toEqual(['notes.md', 'skill.md']);
  await runCommand(['doctor', '--fix', '--yes'], { cwd: root });
  expect(readdirSync(file('.'))).toEqual(['SKILL.md', 'notes.md']);
  expect(read(root, 'tea')).toBe(`---\nname: tea\ndescription: How to make green tea.\n---\n\n${prose}`);
  expect((await runCommand(['doctor'], { cwd: root })).stdout).toContain('Problems: none');
  await runCommand(['rollback', 'tea', '1', '--yes'], { cwd: root });
  expect([readdirSync(file('.')), readFileSync(file('skill.md'), 'utf8')]).toEqual([['notes.md', 'skill.md'], prose]);
});

it('leaves a skill.md alone that is a link, or beside which something has the name SKILL.md', async () => {
  const text = '---\nname: tea\ndescription: Makes tea.\n---\nBoil.\n';
  const root = tempFolder({
    'skills/tea/real.md': text,
    'skills/tea/skill.md': { link: 'real.md' },
    'skills/milk/skill.md': text.replace('tea', 'milk'),
    'skills/milk/SKILL.md': { link: 'gone.md' },
  });
  const { stderr } = await runCommand(['doctor', '--fix', '--yes'], { cwd: root });
  expect(stderr).toContain('Nothing can be repaired');
  expect(readdirSync(join(root, 'skills/tea'))).toEqual(['real.md', 'skill.md']);
});

it('removes the file of the old name before it writes the new one, as both are one file where letter case is no difference', async () => {
  const text = '---\nname: tea\ndescription: Makes tea.\n---\nBoil.\n';
  const root = tempFolder({ 'skills/tea/skill.md': text });
  const seen: string[][] = [];
  const onWriteStep = (step: string): void => {
    if (step === 'changed') seen.push(readdirSync(join(root, 'skills/tea')).filter((name) => /^skill/i.test(name)));
  };
  const options: InternalOptions = { root, config: { sources: [{ path: 'skills' }] }, onWriteStep };
  const registry = await createSkillRegistry(options);
  onTestFinished(() => registry.close());
  await registry.admin.management.repair('tea', text, { by: 'person:ada' });
  await registry.refresh();
  await registry.history.rollback('tea', 1, { by: 'person:ada' });
  expect(seen).toEqual([[], ['SKILL.md'], [], ['skill.md']]);
});

it('changes nothing of a mapping that a tab before a key makes a text for the loader', async () => {
  const text = '---\nname: tea\ndescription: Makes tea.\nmetadata:\n\tversion: 1\n---\nBoil.\n';
  const root = tempFolder({ 'skills/tea/SKILL.md': text });
  await runCommand(['doctor', '--fix', '--yes'], { cwd: root });
  expect(read(root, 'tea')).toBe(text);
});

it('does not write over what somebody has changed since it was shown', async () => {
  const root = brokenRoot();
  const changed = COLON.replace('always', 'never');
  const answer = (): string => {
    writeTree(root, { 'skills/colon/SKILL.md': changed });
    return 'y';
  };
  const { status, stderr } = await runCommand(['doctor', '--fix'], { cwd: root, answer });
  expect(status).toBe(1);
  expect(stderr).toContain('skills:colon was not written: SHOWN_CHANGED');
  expect(stderr).toContain('1 skill repaired, 1 not');
  expect([read(root, 'mark'), read(root, 'colon')]).toEqual([MARK.slice(1), changed]);
});

it.each([
  ['in a root that nobody has approved', ['--yes'], { trust: false }, 1, 'ROOT_NOT_APPROVED'],
  ['for an agent', ['--yes', '--by', 'agent:builder'], {}, 2, 'Only a person decides'],
  ['without a terminal and without --yes', [], {}, 2, 'Give --yes to do it without being asked'],
])('writes nothing %s', async (_where, args, options, status, message) => {
  const root = brokenRoot();
  const result = await runCommand(['doctor', '--fix', ...args], { cwd: root, ...options });
  expect(result.status).toBe(status);
  expect(result.stderr).toContain(message);
  expect(read(root, 'mark')).toBe(MARK);
});

it('leaves skills alone whose source may not be written', async () => {
  const config = 'sources: [{ path: skills, writable: false }]\n';
  const root = tempFolder({ 'skills/mark/SKILL.md': MARK, 'data/skill_registry/config.yaml': config });
  const { stderr } = await runCommand(['doctor', '--fix', '--yes'], { cwd: root });
  expect(stderr).toContain('Nothing can be repaired');
  expect(read(root, 'mark')).toBe(MARK);
  expect((await runCommand(['doctor'], { cwd: root })).stdout).not.toContain('can be repaired');
});
