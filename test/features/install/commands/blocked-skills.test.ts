import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allowedIn, commandIn, house, lockOf, skillsOf, text } from '../../../helpers/blocked-skills.ts';
import { attack } from '../../../helpers/held.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

it('writes nothing of a skill that looks like an attack, installs the others, and prints what lets it in', async () => {
  const { from, root, run } = house(121);
  const refused = await run(['add', from, '--all', '--yes']);
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/^tea: attack SKILL\.md:\d+: /) });
  expect(refused.stderr).toMatch(/tea is refused, because it looks like an attack: nothing of it was written\./);
  expect(skillsOf(root)).toEqual(['milk', 'pot']);
  expect(Object.keys(lockOf(root))).toEqual(['milk', 'pot']);
  expect(existsSync(join(root, 'skills/tea'))).toBe(false);
  expect(allowedIn(root)).toEqual([]);
  const letIn = await run(commandIn(refused.stderr));
  expect(letIn).toMatchObject({ status: 0, stderr: expect.stringContaining('tea is installed, as revision 1') });
  expect(letIn.stderr).not.toContain('held');
  const { digest, allowed } = JSON.parse((await run(['trust', 'show', 'tea', '--json'])).stdout);
  expect({ allowed, digests: allowedIn(root) }).toEqual({ allowed: true, digests: [digest] });
  expect(refused.stderr).toContain(`--allow-block tea@${digest}`);
});

it('updates the others, and keeps the old version and the entry of what looks like an attack', async () => {
  const { from, root, run } = house();
  await run(['add', from, '--all', '--yes']);
  writeTree(from, { 'pot/SKILL.md': text('pot', 'Scrub.'), 'tea/SKILL.md': text('tea', attack(124)) });
  const [tea, entry] = [treeOf(join(root, 'skills/tea')), lockOf(root).tea];
  const refused = await run(['update', '--yes', '--json']);
  expect(refused.status).toBe(1);
  const shown = JSON.parse(refused.stdout);
  expect(shown.updated).toMatchObject([{ id: 'pot', revision: 2 }]);
  expect(shown.refused).toEqual([
    {
      skill_id: 'tea',
      allow_block: expect.stringMatching(/^tea@sha256:[\da-f]{64}$/),
      command: `skill-registry ${commandIn(refused.stderr).join(' ')}`,
    },
  ]);
  expect(readFileSync(join(root, 'skills/pot/SKILL.md'), 'utf8')).toContain('Scrub.');
  expect(treeOf(join(root, 'skills/tea'))).toEqual(tea);
  expect(lockOf(root).tea).toEqual(entry);
  expect(await run(commandIn(refused.stderr))).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('tea is updated, as revision 2'),
  });
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toContain(attack(124));
  expect((await run(['list'])).stderr).not.toContain('held');
});

it('prints with --check what a newer version has, and ends with 1 when it looks like an attack', async () => {
  const { from, root, run } = house();
  await run(['add', from, '--all', '--yes']);
  writeTree(from, { 'tea/SKILL.md': text('tea', attack(125)) });
  const skills = (): unknown => [treeOf(join(root, 'skills')), lockOf(root)];
  const before = skills();
  const checked = await run(['update', '--check']);
  expect(checked).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^tea: attack SKILL\.md:\d+: .*203\.0\.113\.125/),
  });
  expect(checked.stdout).toMatch(/^tea +outdated, looks like an attack/m);
  expect(skills()).toEqual(before);
  const shown = JSON.parse((await run(['update', '--check', '--json'])).stdout);
  const [blocked] = shown.skills.flatMap((one: { readonly blocked?: string }) => one.blocked ?? []);
  expect((await run(['update', '--check', '--allow-block', blocked])).status).toBe(0);
  const dry = await run(['add', from, '--skill', 'tea', '--dry-run'], { cwd: tempFolder({ 'skills/x.md': '' }) });
  expect(dry.status).toBe(1);
});

it('restores with --frozen what this user has allowed, and nothing else that looks like an attack', async () => {
  const { from, root, run } = house(126);
  const first = await run(['add', from, '--all', '--yes']);
  await run(commandIn(first.stderr));
  const other = tempFolder({ 'skills/x.md': '', 'skills-lock.json': readFileSync(join(root, 'skills-lock.json')) });
  expect(await run(['add', '--frozen', '--yes'], { cwd: other })).toMatchObject({ status: 0 });
  expect(skillsOf(other)).toEqual(['milk', 'pot', 'tea']);
  rmSync(join(other, 'skills'), { recursive: true });
  const stranger = { cwd: other, environment: { XDG_STATE_HOME: tempFolder(), USER: 'eve' } };
  await run(['trust', 'revoke', 'tea'], { cwd: root });
  const refused = await run(['add', '--frozen', '--yes'], stranger);
  expect(refused.status).toBe(1);
  expect(skillsOf(other)).toEqual(['milk', 'pot']);
  expect(Object.keys(lockOf(other))).toEqual(['milk', 'pot', 'tea']);
  expect((await run(commandIn(refused.stderr), { cwd: other })).status).toBe(0);
  expect(skillsOf(other)).toEqual(['milk', 'pot', 'tea']);
});
