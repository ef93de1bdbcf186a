import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTrust } from '../../../../../lib/trust/index.ts';
import { allowedIn, commandIn, house, skillsOf, text } from '../../../../helpers/blocked-skills.ts';
import { attack } from '../../../../helpers/held.ts';
import type { RunOptions } from '../../../../helpers/run-command.ts';
import { tempFolder } from '../../../../helpers/temp-folder.ts';

it('refuses other files than those that were let in', async () => {
  const { from, root, run } = house(122);
  const args = commandIn((await run(['add', from, '--skill', 'tea', '--yes'])).stderr);
  writeFileSync(join(from, 'tea/scripts/boil.sh'), '#!/bin/sh\necho more\n');
  const refused = await run(args);
  expect(refused.status).toBe(1);
  expect(skillsOf(root)).toEqual([]);
  expect(allowedIn(root)).toEqual([]);
  expect(commandIn(refused.stderr)).not.toEqual(args);
  expect(await run(['add', from, '--skill', 'tea', '--yes', '--allow-block', 'tea'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('<id>@sha256:'),
  });
  expect((await run(commandIn(refused.stderr))).status).toBe(0);
  expect(skillsOf(root)).toEqual(['tea']);
});

it('approves no source from which nothing was taken, and says who let in what', async () => {
  const { from, root, run } = house(123);
  const isApproved = (): boolean =>
    openTrust()
      .decisions()
      .some(({ kind, path }) => kind === 'source' && path === from);
  const args = ['add', from, '--skill', 'tea', '--yes', '--root', root];
  const refused = await run(args, { trust: false });
  expect({ status: refused.status, approved: isApproved() }).toEqual({ status: 1, approved: false });
  const again = [...commandIn(refused.stderr), '--reason', 'ours'];
  expect((await run(again, { trust: false, cwd: tempFolder() })).status).toBe(0);
  expect(isApproved()).toBe(true);
  const { decisions } = JSON.parse((await run(['trust', 'list', '--json'])).stdout);
  expect(decisions).toContainEqual(
    expect.objectContaining({ kind: 'content', path: join(root, 'skills/tea'), by: 'person:ada', reason: 'ours' }),
  );
});

it('asks about each skill that looks like an attack alone, and lets in what is answered with yes', async () => {
  const { from, root, run } = house(127);
  const questions: string[] = [];
  const answering = (yes: RegExp, answer = 'tea'): RunOptions => ({
    answer: (question) => {
      questions.push(question);
      return yes.test(question) ? answer : 'n';
    },
  });
  const some = await run(['add', from, '--all'], answering(/these 2/, 'y'));
  expect(questions).toEqual([
    'Install these 2 skills? [y/N] ',
    'Install tea, although it looks like an attack (1 finding)? To do it, type the id of the skill (tea): ',
  ]);
  expect({ status: some.status, there: skillsOf(root) }).toEqual({ status: 1, there: ['milk', 'pot'] });
  const none = await run(['add', from, '--skill', 'tea'], answering(/although/, 'y'));
  expect(none).toMatchObject({ status: 1, stderr: expect.stringContaining('Nothing was changed') });
  expect(allowedIn(root)).toEqual([]);
  const yes = await run(['add', from, '--skill', 'tea'], answering(/although/));
  expect({ status: yes.status, there: skillsOf(root) }).toEqual({ status: 0, there: ['milk', 'pot', 'tea'] });
  expect(allowedIn(root)).toHaveLength(1);
  writeFileSync(join(from, 'tea/SKILL.md'), text('tea', `${attack(127)}\n\nMore.`));
  expect((await run(['update', '--yes'])).status).toBe(1);
  expect((await run(['update'], answering(/although/))).status).toBe(0);
  expect(allowedIn(root)).toHaveLength(2);
});

it('says of what is held after it was installed that other programs see it', async () => {
  const { from, root, run } = house(128);
  await run(commandIn((await run(['add', from, '--skill', 'tea', '--yes'])).stderr));
  expect((await run(['update'], { answer: () => 'n' })).stderr).not.toContain('held');
  await run(['trust', 'revoke', 'tea']);
  const seen = /tea is held, no agent is given it: .*; other programs that read this folder see it; /;
  expect((await run(['update', '--check'])).stderr).toMatch(seen);
  expect((await run(['doctor', '--all'])).stdout).toContain('Other programs that read this folder see it.');
  expect(skillsOf(root)).toEqual(['tea']);
});

it('writes no skill of a prompt that looks like an attack', async () => {
  const { root, run } = house();
  const prompts = tempFolder({
    'evil/system_prompt.md': `You set up machines for people.\n\nRun \`${attack(129)}\` first.\n`,
    'good/system_prompt.md': 'You set up gardens for people who have none.\n',
  });
  const refused = await run(['import', prompts, '--yes']);
  expect(refused.status).toBe(1);
  expect([existsSync(join(root, 'skills/evil')), existsSync(join(root, 'skills/good'))]).toEqual([false, true]);
  expect((await run(commandIn(refused.stderr))).status).toBe(0);
  expect((await run(['list'])).stderr).not.toContain('held');
});

it('links to no folder with a skill that looks like an attack', async () => {
  const { from, root, run } = house(130);
  const outside = join(root, "ada's skills");
  cpSync(from, outside, { recursive: true });
  const refused = await run(['add', "./ada's skills", '--all', '--link', '--yes']);
  expect({ status: refused.status, there: skillsOf(root) }).toEqual({ status: 1, there: ['milk', 'pot'] });
  expect((await run(commandIn(refused.stderr))).status).toBe(0);
  expect(skillsOf(root)).toEqual(['milk', 'pot', 'tea']);
  expect((await run(['list'])).stderr).not.toContain('held');
});
