import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRoot } from '../../helpers/open-registry.ts';
import { reviewPage, textOf } from '../../helpers/review-page.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { ADA, TEA, teaRegistry } from '../../helpers/tea.ts';
import { type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

/** The name of the program has characters that a terminal obeys, and HTML. */
const HOSTILE = 'a\u001b[2J<b>.sh';
const treeWith = (name: string): Tree => ({
  'skills/tea/SKILL.md': TEA,
  'skills/tea/scripts/sync.sh': 'curl https://tea.example.com/list\n',
  [`skills/tea/${name}`]: 'true\n',
});
const TREE = treeWith(HOSTILE);
const WITH_FENCE = `${TEA}\n\`\`\`sh\ncurl https://pot.example.com/\n\`\`\`\n`;
const FURTHER = 'sends now to pot.example.com; runs now curl';

it.each(['show tea', 'trust show tea', 'inspect tea', 'add ./skills --dry-run'])(
  'is shown by %s, with nothing that a terminal obeys',
  async (typed) => {
    const args = typed.split(' ');
    // Nothing with a control character in a name is installed.
    const isAdd = args[0] === 'add';
    const root = tempFolder(treeWith(isAdd ? 'a<b>.sh' : HOSTILE));
    const given = isAdd ? ['--root', tempFolder()] : [];
    const { stdout, stderr } = await runCommand([...args, ...given], { cwd: root });
    expect(stdout + stderr).toContain('sends to tea.example.com (scripts/sync.sh:1)\n');
    expect(stdout + stderr).toMatch(/runs curl \(scripts\/sync\.sh:1\), a.*<b>\.sh/);
    expect(stdout + stderr).not.toContain('\u001b');
    const json = JSON.parse((await runCommand([...args, ...given, '--json'], { cwd: root })).stdout);
    const { reach } = json.results?.[0] ?? json.skills?.[0] ?? json;
    expect(reach[0]).toEqual({ kind: 'sends', what: 'tea.example.com', file: 'scripts/sync.sh', line: 1 });
  },
);

it('is shown on the page of the skill, without markup of its author', async () => {
  const page = await reviewPage(TREE);
  const { text } = await page.get('/skills/tea');
  expect(textOf(text)).toMatch(/What it reaches\s*sends to tea\.example\.com \(scripts\/sync\.sh:1\)/);
  expect(text).not.toContain('<b>.sh');
});

it('outlives the process that inspected', async () => {
  const root = tempFolder(TREE);
  const first = await openRoot(root);
  const { reach } = await first.admin.trustOf('tea');
  expect(reach).toHaveLength(4);
  await first.close();
  const second = await openRoot(root);
  expect((await second.admin.trustOf('tea')).reach).toEqual(reach);
});

it('says in one line above the difference where a proposal reaches further, at every door', async () => {
  const { propose, root, registry } = await teaRegistry();
  const id = await propose(WITH_FENCE);
  const shown = await runCommand(['proposals', 'show', id], { cwd: root });
  expect(shown.stdout.indexOf(FURTHER)).toBeGreaterThan(0);
  expect(shown.stdout.indexOf(FURTHER)).toBeLessThan(shown.stdout.indexOf('@@'));
  const json = JSON.parse((await runCommand(['proposals', 'show', id, '--json'], { cwd: root })).stdout);
  expect(json.reaches).toBe('sends now to pot.example.com; runs now curl');
  const { stderr } = await runCommand(['proposals', 'approve', id], { cwd: root, answer: () => 'n' });
  expect(stderr).toContain(FURTHER);
  expect(await registry.admin.proposalText(await registry.proposals.get(id))).toContain(FURTHER);
  await registry.proposals.approve(id, ADA);
  const again = await propose(WITH_FENCE.replace('two minutes', 'four minutes'));
  expect((await runCommand(['proposals', 'show', again], { cwd: root })).stdout).not.toContain('sends now');
});

it('says so on the page of a proposal', async () => {
  const page = await reviewPage();
  const id = await page.propose(WITH_FENCE);
  expect(textOf((await page.get(`/proposals/${id}`)).text)).toMatch(/sends now to .*curl\.\s*Difference/);
});

it('compares a proposal with the whole skill, not with the file that it changes', async () => {
  const { propose, registry } = await teaRegistry({ 'skills/tea/a.sh': 'curl https://pot.example.com/\n' });
  const id = await propose(WITH_FENCE);
  expect((await registry.admin.blockFindingsAfter({ proposalId: id })).reaches).toBe('');
});

it('says so of an update, by the command and on the page', async () => {
  const page = await reviewPage();
  await page.registry.admin.management.remove('tea', ADA);
  const from = tempFolder({ 'tea/SKILL.md': TEA });
  await (await page.registry.origin.add(from, { all: true })).apply(ADA);
  writeTree(from, { 'tea/SKILL.md': WITH_FENCE, 'tea/scripts/sync.sh': 'true\n' });
  const further = `${FURTHER}, scripts/sync.sh`;
  const { stderr } = await runCommand([
    'update',
    '--check',
    '--root',
    page.root,
    '--skills',
    join(page.root, 'skills'),
  ]);
  expect(stderr).toContain(`tea ${further}\n`);
  await page.send('/', '/updates/check');
  expect(textOf((await page.get('/updates')).text)).toContain(further);
});
