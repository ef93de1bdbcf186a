import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../../../../cli/run-cli.ts';
import { openRoot } from '../../../../helpers/open-registry.ts';
import { runCommand, spawnCommand } from '../../../../helpers/run-command.ts';
import { evalsJson, evalYaml, TEA_SUITE } from '../../../../helpers/suites.ts';
import { skillMd, type Tree, tempFolder } from '../../../../helpers/temp-folder.ts';

const STRAY = { query: 'coffee grinds', should_trigger: true };
const SUITE: Tree = {
  ...TEA_SUITE,
  'skills/tea/evals/trigger-eval.json': JSON.stringify([{ query: 'brew green tea', should_trigger: true }, STRAY]),
  'skills/tea/eval.yaml': evalYaml('greets', [['output_contains', 'Hello']]),
};

it('runs as a process: totals first, what was found instead, and status 1 when a check failed', async () => {
  const root = tempFolder({ ...SUITE, 'runs/greets/output.md': 'Hello!' });
  const run = (...args: readonly string[]) => spawnCommand(['eval', ...args], { cwd: root });
  const { status, stdout, stderr } = await run('tea', '--outputs', 'runs');
  expect([status, stderr]).toEqual([1, '']);
  expect(stdout.split('\n')).toEqual([
    'tea: 3 passed, 1 failed, 0 not run',
    '  validity  spec: valid',
    expect.stringMatching(/^ {2}tokens {4}\d+ in its line, \d+ in its body$/),
    '  triggers  precision 1.00, recall 0.50, 2 queries',
    '    failed  "coffee grinds" finds coffee first, not tea',
    '  cases     1',
    '',
  ]);
  const again = await run('tea', '--json');
  expect(again.status).toBe(1);
  const { totals, skills, claims } = JSON.parse(again.stdout);
  expect(totals).toEqual({ passed: 3, failed: 1, not_run: 0 });
  expect(skills).toMatchObject([{ skill_id: 'tea', reused: true, not_kept: null, triggers: { not_tried: 0 } }]);
  expect(claims).toEqual([]);
  writeFileSync(
    join(root, 'skills/tea/SKILL.md'),
    skillMd({ name: 'tea', description: 'Green tea, coffee grinds, coffee grinds, coffee grinds.' }),
  );
  const fixed = await run('tea');
  expect(fixed.stdout).toContain(
    `  results   new ones: the last were of another content, ${skills[0].digest.slice(0, 15)}, with 3 passed, 1 failed, 0 not run\n`,
  );
  expect(fixed.stdout).toContain(
    '    not run greets: 1, there are no outputs of it: expected greets/output.md, which whoever runs it writes\n',
  );
  expect(fixed.status).toBe(0);
});

it('evaluates every skill: those with test cases in a table, those that are held by name', async () => {
  const root = tempFolder({
    ...SUITE,
    'skills/plain/SKILL.md': skillMd({ name: 'plain', description: 'Does nothing.' }),
    'runs/tea/greets/output.md': 'Bye.',
  });
  const { status, stdout } = await runCommand(['eval', '--outputs', 'runs'], { cwd: root });
  expect(status).toBe(1);
  expect(stdout).toMatch(/^3 skills: 4 passed, 2 failed, 0 not run; 2 of them without test cases\n\nSKILL +PASSED/);
  expect(stdout).toMatch(/\ntea +2 +2 +0 +1\.00 +0\.50 +\d+\n/);
  expect(stdout).toContain('failed  greets: output_contains "Hello". The output does not have it.');
  expect(stdout).not.toContain('plain');
});

it('has status 1 for a broken file and for an id that is not there, and 2 for outputs that are no folder', async () => {
  const root = tempFolder({ ...TEA_SUITE, 'skills/tea/evals/evals.json': '{' });
  const run = (...args: readonly string[]) => runCommand(['eval', ...args], { cwd: root });
  expect(await run('tea')).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('EVALS_INVALID: evals/evals.json: It is no JSON'),
  });
  expect(await run('te')).toMatchObject({ status: 1, stderr: expect.stringContaining('Nearest: tea') });
  for (const args of [['tea'], []]) {
    const failed = await run(...args, '--outputs', 'nowhere');
    expect(failed).toMatchObject({ status: 2, stderr: expect.stringContaining('INVALID_ARGUMENT') });
  }
});

it('shows grading of another tool as a claim, apart from what it ran, with no control character of its author', async () => {
  const grading = {
    expectations: [{ text: 'Warm.\u001b[31m', passed: true, evidence: 'Steam\u202e' }],
    summary: { passed: 1, failed: 0, total: 1 },
  };
  const root = tempFolder({
    ...TEA_SUITE,
    'skills/tea/evals/evals.json': evalsJson([{ id: '<b>\u001b[2J', prompt: 'Tea.', expectations: ['Warm.'] }]),
    'runs/<b>\u001b[2J/grading.json': JSON.stringify(grading),
  });
  const { status, stdout } = await runCommand(['eval', 'tea', '--outputs', 'runs'], { cwd: root });
  expect(status).toBe(0);
  expect(stdout).toMatch(
    /^tea: 3 passed, 0 failed, 1 not run\n[\s\S]*\n\nClaimed by others, and not checked\n {2}grading\.json of case <b>.*, 1 of 1 passed\n {4}passed: Warm\..* \(Steam.*\)\n$/,
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
});

it.each([
  ['tea', 'none', 'there is no such folder. Expected a folder with one folder for each case'],
  ['tea', 'file', 'it is a file. Expected a folder with one folder for each case'],
  [undefined, 'none', 'there is no such folder. Expected a folder with one folder for each skill'],
  [undefined, 'file', 'it is a file. Expected a folder with one folder for each skill'],
])(
  'of %s with --outputs %s, which is no folder, says what was expected and who writes it',
  async (id, outputs, said) => {
    const root = tempFolder({ ...SUITE, file: '' });
    const args = ['eval', ...(id === undefined ? [] : [id]), '--outputs', outputs];
    const { status, stderr } = await runCommand(args, { cwd: root });
    expect(status).toBe(2);
    expect(stderr).toContain(`INVALID_ARGUMENT: No outputs can be read from ${join(root, outputs)}: ${said}`);
    expect(stderr).toContain('Whoever runs the cases writes them; docs/evidence.md');
    expect(stderr).not.toMatch(/ENO|lstat|scandir/);
  },
);

it('names the folder in which an output was expected', async () => {
  const root = tempFolder({ ...SUITE, 'runs/greets/outputs/notes.txt': '' });
  const { stdout } = await runCommand(['eval', 'tea', '--outputs', 'runs'], { cwd: root });
  expect(stdout).toContain('There is no output.md and no output.txt in greets/outputs or greets/.');
});

it.each([60, 80, 160])('fits %i columns', async (columns) => {
  const long = 'a query about tea that goes on and on '.repeat(4);
  const root = tempFolder({
    ...SUITE,
    'skills/tea/evals/trigger-eval.json': JSON.stringify([
      { query: long, should_trigger: true },
      STRAY,
      { query: 'x'.repeat(300), should_trigger: true },
    ]),
  });
  let out = '';
  const terminal = {
    ...{ cwd: root, environment: process.env, terminal: true, columns, progress: false },
    input: async () => new Uint8Array(),
    out(data: string | Uint8Array) {
      out += data.toString();
    },
    err: () => undefined,
  };
  for (const args of [
    ['eval', '--trust'],
    ['eval', '--trust', 'tea'],
  ])
    await runCli(args, terminal);
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(out).toContain('coffee grinds');
});

it('shows a proposal with what was run before and after, beside the claim of its author', async () => {
  const root = tempFolder(TEA_SUITE);
  const registry = await openRoot(root);
  const content = skillMd({ name: 'tea', description: 'Grinds coffee beans. Coffee beans!' });
  const input = {
    skillId: 'tea',
    content,
    justification: 'Weak.',
    author: 'agent:brewer',
    evidence: 'All 40 tests pass.',
  };
  const { proposalId } = await registry.proposals.propose(input);
  await registry.close();
  const run = (...args: readonly string[]) => runCommand(['proposals', ...args], { cwd: root });
  const { stdout } = await run('show', proposalId);
  expect(stdout).toContain(
    '\n\nEvidence, as its author claims\n  All 40 tests pass.\n\nRun by the registry, before -> after\n',
  );
  expect(stdout).toContain('  checks    3 passed, 0 failed, 0 not run -> 1 passed, 2 failed, 0 not run\n');
  expect(stdout).toContain(
    '  triggers  precision 1.00, recall 1.00, 2 queries -> precision 0.00, recall 0.00, 2 queries\n',
  );
  expect(stdout).toContain('    "grind coffee beans", which should not find it: coffee -> tea\n');
  const { evidence, ran } = JSON.parse((await run('show', proposalId, '--json')).stdout);
  expect(evidence).toBe('All 40 tests pass.');
  expect(ran).toMatchObject({
    ...{ before: { totals: { not_run: 0, failed: 0 } }, after: { totals: { failed: 2 } }, not_run: null },
    changes: [
      { should_trigger: true },
      { query: 'grind coffee beans', should_trigger: false, before: 'coffee', after: 'tea' },
    ],
  });
  expect((await run('approve', proposalId)).stderr).toContain('Run by the registry, before -> after');
  expect(JSON.parse((await run('show', proposalId, '--json')).stdout).ran).toBeNull();
});
