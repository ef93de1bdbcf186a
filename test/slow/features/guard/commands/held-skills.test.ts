import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { inspectionsFile } from '../../../../../extensions/skill_registry/features/guard/inspections.ts';
import { openSqlite } from '../../../../../lib/sqlite/index.ts';
import { openTrust } from '../../../../../lib/trust/index.ts';
import { skill } from '../../../../helpers/boot-root.ts';
import { attack, heldSkill } from '../../../../helpers/held.ts';
import { openRegistry, openRoot } from '../../../../helpers/open-registry.ts';
import { runCommand } from '../../../../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder } from '../../../../helpers/temp-folder.ts';
import { waitFor } from '../../../../helpers/wait-for.ts';

const PACKAGE = { sources: [{ package: '@acme/skills' }] };

/** A package with one skill. */
function packaged(body: string): Tree {
  return {
    'node_modules/@acme/skills/package.json': '{ "name": "@acme/skills", "version": "1.0.0", "skills": "skills" }',
    'node_modules/@acme/skills/skills/mixer/SKILL.md': skillMd({ name: 'mixer', description: 'Brews.' }, body),
  };
}

interface Trust {
  readonly digest: string;
  readonly origin: string;
  readonly held_because: string | null;
  readonly findings: readonly { readonly rule: string; readonly excerpt: string; readonly level: string }[];
}

async function trustOf(root: string, id = 'mixer'): Promise<Trust> {
  return JSON.parse((await runCommand(['trust', 'show', id, '--json', '--root', root])).stdout) as Trust;
}

/** The ids that an agent is shown after all skills were inspected. */
async function seenIn(root: string, config: Readonly<Record<string, unknown>> = {}): Promise<readonly string[]> {
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }], ...config } });
  await registry.admin.inspectSkills();
  return registry.visible().map(({ id }) => id);
}

it('is named with its reason, and counted, where a person looks', async () => {
  const root = tempFolder({ ...skill('tea'), ...heldSkill('mixer', 11) });
  const doctor = await runCommand(['doctor', '--root', root]);
  expect(doctor.stdout).toMatch(/2 skills, 1 held[\s\S]*warning SKILL_HELD \(1\)[\s\S]*skill-registry approvals show/);
  const list = await runCommand(['list', '--root', root]);
  expect(list.stderr).toMatch(/Agents do not see mixer: held, .*, SKILL\.md:\d+\).*\n2 skills, 1 held/);
  expect(list.stdout).toContain('mixer');
  expect((await runCommand(['list', '--all', '--root', root])).stdout).toMatch(
    /skills:mixer\s+no agent\s+held: .*SKILL\.md/,
  );
  expect((await runCommand(['show', 'mixer', '--root', root])).stderr).toMatch(
    /Held, no agent is given it: .*SKILL\.md/,
  );
  expect((await runCommand(['trust', 'list', '--root', root])).stderr).toMatch(/Held: skills:mixer: .*SKILL\.md/);
});

it('is allowed by a person who was shown its findings, and held again when that is revoked', async () => {
  const root = tempFolder(heldSkill('mixer', 12));
  const refused = await runCommand(['trust', 'allow', 'mixer', '--root', root], { answer: () => 'n' });
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/203\.0\.113\.12[\s\S]*stays as it is/) });
  expect(await seenIn(root)).toEqual([]);
  const args = ['trust', 'allow', 'mixer', '--root', root, '--by', 'ada', '--reason', 'ours'];
  expect(await runCommand(args, { answer: () => 'y' })).toMatchObject({ status: 1 });
  expect(await seenIn(root)).toEqual([]);
  expect(await runCommand(args, { answer: () => 'mixer' })).toMatchObject({ status: 0 });
  expect(await seenIn(root)).toEqual(['mixer']);
  const mine = openTrust()
    .decisions()
    .filter(({ path }) => path === join(root, 'skills/mixer'));
  expect(mine).toMatchObject([{ kind: 'finding', action: 'allow', by: 'person:ada', reason: 'ours' }]);
  expect((await runCommand(['trust', 'list', '--root', root])).stdout).toMatch(/203\.0\.113\.12.*ada.*ours/);
  expect((await runCommand(['trust', 'revoke', 'mixer', '--root', root])).status).toBe(0);
  expect(await seenIn(root)).toEqual([]);
});

it('takes a yes to one’s own across edits, and no yes to another finding', async () => {
  const root = tempFolder(heldSkill('mixer', 13));
  const { digest, origin } = await trustOf(root);
  expect(origin).toBe('own');
  expect((await runCommand(['trust', 'allow', 'mixer', '--digest', digest, '--root', root])).status).toBe(0);
  const file = join(root, 'skills/mixer/SKILL.md');
  appendFileSync(file, '\nMore words.\n');
  expect(await seenIn(root)).toEqual(['mixer']);
  appendFileSync(file, `\n${attack(14)}\n`);
  expect(await seenIn(root)).toEqual([]);
});

it('takes a yes to what was brought in for those bytes alone, wherever they lie', async () => {
  const root = tempFolder(packaged(attack(15)));
  const config = 'sources: [{ package: "@acme/skills" }]\n';
  const at = join(root, 'data/skill_registry/config.yaml');
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, config);
  expect(await seenIn(root, PACKAGE)).toEqual([]);
  const { digest, origin } = await trustOf(root);
  expect(origin).toBe('brought-in');
  expect((await runCommand(['trust', 'allow', 'mixer', '--digest', digest, '--root', root])).status).toBe(0);
  expect(await seenIn(root, PACKAGE)).toEqual(['mixer']);
  expect(await seenIn(tempFolder(packaged(attack(15))), PACKAGE)).toEqual(['mixer']);
  appendFileSync(join(root, 'node_modules/@acme/skills/skills/mixer/SKILL.md'), '\nMore.\n');
  expect(await seenIn(root, PACKAGE)).toEqual([]);
});

it.each([
  ['another digest', ['--digest', `sha256:${'0'.repeat(64)}`], /has the digest sha256:.*now/],
  ['nobody to ask and no digest', [], /--digest/],
])('is not allowed by %s', async (_, args, message) => {
  const root = tempFolder(heldSkill('mixer', 16));
  const result = await runCommand(['trust', 'allow', 'mixer', '--root', root, ...args]);
  expect(result).toMatchObject({ status: 2, stderr: expect.stringMatching(message) });
  expect(await seenIn(root)).toEqual([]);
});

it('is inspected before it is first shown, when it was brought in', async () => {
  const root = tempFolder({ ...packaged(attack(17)), ...skill('tea'), ...heldSkill('mixer', 17) });
  const fresh = await openRoot(root, { config: PACKAGE });
  expect(fresh.visible()).toEqual([]);
  writeFileSync(join(root, 'skills-lock.json'), JSON.stringify({ version: 1, skills: { mixer: {} } }));
  const installed = await openRoot(root, { config: { sources: [{ path: 'skills' }] } });
  expect(installed.visible().map(({ id }) => id)).toEqual(['tea']);
  expect((await installed.admin.trustOf('mixer')).origin).toBe('brought-in');
});

it('is told by the first command that lists, on a cache that knows nothing', async () => {
  const root = tempFolder({
    ...skill('tea'),
    ...packaged('Harmless.'),
    ...heldSkill('shaker', 23),
    'data/skill_registry/config.yaml': 'sources: [{ path: skills }, { package: "@acme/skills" }]\n',
  });
  const all = await runCommand(['list', '--all', '--root', root]);
  expect(all.stdout).toMatch(/skills:shaker\s+no agent\s+held: .*SKILL\.md/);
  expect(all.stdout).toMatch(/skills:tea\s+every agent[\s\S]*mixer\s+every agent/);
  expect(all.stderr).toContain('3 skills, 1 held');
});

it('is found by a person who searches, with the reason why agents do not see it', async () => {
  const root = tempFolder({ ...skill('tea'), ...heldSkill('shaker', 25) });
  const { stdout, stderr } = await runCommand(['search', 'brews shaker', '--root', root]);
  expect(stdout).toContain('shaker');
  expect(stderr).toMatch(/Agents do not see shaker: held, .*, SKILL\.md:\d+/);
});

it('is named by its qualified id where another skill has its id, which agents are given', async () => {
  const root = tempFolder(skill('tea'));
  const config = {
    sources: [{ path: 'skills' }, { inline: { name: 'tea', description: 'Brews.', instructions: attack(26) } }],
  };
  const registry = await openRoot(root, { config });
  expect(registry.visible().map(({ id }) => id)).toEqual(['tea']);
  const held = registry.problems().filter(({ code }) => code === 'SKILL_HELD');
  expect(held.map(({ message }) => message)).toEqual([expect.stringMatching(/^No agent is given "inline:tea"/)]);
});

it('is not told apart where nothing is inspected, and that is counted', async () => {
  const root = tempFolder({ ...skill('tea'), ...heldSkill('shaker', 24) });
  const registry = await openRoot(root, { inspect: false });
  expect([registry.admin.notInspected(), registry.visible(), registry.problems()]).toEqual([2, [], []]);
});

it('is left out of a prompt for an agent, which fails and names it', async () => {
  const root = tempFolder({ ...skill('tea'), ...heldSkill('mixer', 18) });
  const at = (id: string) => join(root, 'skills', id);
  const result = await runCommand(['prompt', at('tea'), at('mixer')], { cwd: root });
  expect(result).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/No agent is given "mixer", because it is held/),
  });
  expect((await runCommand(['prompt', at('tea')], { cwd: root })).stdout).toContain('Does tea.');
});

/** What a registry found is written a moment later. */
async function verdictOnDisk(root: string): Promise<void> {
  const files = [inspectionsFile(), `${inspectionsFile()}-wal`];
  await waitFor('the verdict in the file', () =>
    files.some((file) => existsSync(file) && readFileSync(file).includes(root)),
  );
}

it('takes no verdict from a root, whatever lies in it', async () => {
  const root = tempFolder({ 'data/skill_registry/config.yaml': '', ...packaged(attack(19)) });
  expect(await seenIn(root, PACKAGE)).toEqual([]);
  // As a repository could come with it: the own inspection of these very files, with another verdict.
  const inspections = dirname(inspectionsFile());
  await verdictOnDisk(root);
  const forged = join(tempFolder(), 'inspections.db');
  const names = readdirSync(inspections).filter((name) => name.startsWith('inspections.db'));
  for (const name of names) copyFileSync(join(inspections, name), join(dirname(forged), name));
  const database = openSqlite(forged);
  database.exec(
    "UPDATE inspection SET verdict = 'info', findings = '[]'; UPDATE inspection_place SET verdict = 'info'",
  );
  database.close();
  for (const folder of ['data/skill_registry', 'data', '.']) copyFileSync(forged, join(root, folder, 'inspections.db'));
  for (const name of names) rmSync(join(inspections, name));
  expect(await seenIn(root, PACKAGE)).toEqual([]);
});

it('takes no verdict from a file that others can write, and says so', async () => {
  const root = tempFolder(packaged('Harmless.'));
  expect(await seenIn(root, PACKAGE)).toEqual(['mixer']);
  const file = inspectionsFile();
  await verdictOnDisk(root);
  chmodSync(file, 0o666);
  try {
    const registry = await openRoot(root, { config: PACKAGE, inspect: false });
    expect(registry.visible()).toEqual([]);
    expect(registry.problems()).toContainEqual(expect.objectContaining({ code: 'CACHE_UNAVAILABLE', file }));
  } finally {
    chmodSync(file, 0o600);
  }
});

it('is not released by a trust file that others can write, and that is said', async () => {
  const root = tempFolder(heldSkill('mixer', 20));
  const { digest } = await trustOf(root);
  await runCommand(['trust', 'allow', 'mixer', '--digest', digest, '--root', root]);
  const { file } = openTrust();
  chmodSync(file, 0o666);
  try {
    expect(await seenIn(root)).toEqual([]);
    const { stdout } = await runCommand(['doctor', '--root', root]);
    expect(stdout).toContain('TRUST_UNUSABLE');
  } finally {
    chmodSync(file, 0o600);
  }
  expect(await seenIn(root)).toEqual(['mixer']);
});

it('sees a file that was written beside a clean SKILL.md long ago', async () => {
  const { root, registry } = await openRegistry(skill('tea'));
  // Long after it was written: then the times of its files tell every change.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect((await registry.read('tea', {}, {})).content).toContain('Body of tea.');
  mkdirSync(join(root, 'skills/tea/references'));
  writeFileSync(join(root, 'skills/tea/references/more.md'), attack(22));
  await expect(registry.read('tea', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
});

it('means a folder by a path, and a skill by an id', async () => {
  const root = tempFolder({ ...heldSkill('mixer', 21), 'mixer/readme.md': '' });
  const skillFirst = await runCommand(['trust', 'allow', 'mixer', '--root', root], { cwd: root, answer: () => 'n' });
  expect(skillFirst.stderr).toContain('203.0.113.21');
  expect((await runCommand(['trust', 'allow', './mixer'], { cwd: root })).stderr).toContain('is approved');
  expect(openTrust().allows('root', join(root, 'mixer'))).toBe(true);
  rmSync(join(root, 'mixer'), { recursive: true });
});
