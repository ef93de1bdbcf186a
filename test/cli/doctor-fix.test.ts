import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { tempFolder, writeTree } from '../helpers/temp-folder.ts';

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
  expect(stderr).toContain('1 skill(s) repaired, 1 not');
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
