import { join } from 'node:path';
import { expect, it } from 'vitest';
import { heldSkill, untilHeld } from '../../../helpers/held.ts';
import { openRegistry } from '../../../helpers/open-registry.ts';
import { evalsJson, evalYaml, TEA_SUITE } from '../../../helpers/suites.ts';
import { type Tree, tempFolder } from '../../../helpers/temp-folder.ts';

const problemsWith = async (tree: Tree) => {
  const { registry } = await openRegistry({ ...TEA_SUITE, ...tree });
  const { suite } = await registry.admin.evidence('tea');
  return { cases: suite.cases, messages: suite.problems.map(({ code, message }) => `${code} ${message}`) };
};

it.each<[string, Tree, RegExp]>([
  [
    '10 MB',
    { 'evals/evals.json': evalsJson([{ id: 1, prompt: 'x'.repeat(10_000_000) }]) },
    /more than the limit of 262144/,
  ],
  ['no JSON', { 'evals/evals.json': '{ "evals": [' }, /It is no JSON/],
  ['another shape', { 'evals/evals.json': '[]' }, /Expected \{ "skill_name"/],
  ['a link out of the skill', { 'evals/evals.json': { link: '/etc/hostname' } }, /Path traversal detected/],
  ['deep YAML', { 'eval.yaml': `scenarios: ${'['.repeat(20_000)}` }, /nested too deeply/],
  ['a bomb of aliases', { 'eval.yaml': `a: &a [x, x]\n${aliases()}scenarios: []` }, /alias/i],
  ['YAML of 1 MB', { 'eval.yaml': `scenarios: [] #${'x'.repeat(1_000_000)}` }, /more than the limit of 65536/],
  ['no scenarios', { 'eval.yaml': 'cases: []' }, /Expected scenarios/],
  [
    'a list of 5,000 queries',
    { 'evals/trigger-eval.json': JSON.stringify(Array(5_000).fill({ query: 'q', should_trigger: true })) },
    /TRIGGER_EVAL_INVALID .*Write a list of up to 500/,
  ],
])('uses nothing of a file that is %s, and says what was expected', async (_, tree, message) => {
  const below = Object.fromEntries(Object.entries(tree).map(([path, node]) => [`skills/tea/${path}`, node]));
  const { cases, messages } = await problemsWith(below);
  expect(cases).toEqual([]);
  expect(messages).toEqual([expect.stringMatching(message)]);
});

function aliases(): string {
  const names = [...'abcdefghij'];
  return names
    .slice(1)
    .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${names[at]}`).join(', ')}]\n`)
    .join('');
}

it('leaves out single cases and assertions that are wrong, names each, and uses the others', async () => {
  const { cases, messages } = await problemsWith({
    'skills/tea/evals/evals.json': evalsJson([
      { prompt: 'No id.' },
      { id: 2 },
      'text',
      {
        id: 3,
        prompt: 'Fine.',
        files: ['../coffee/SKILL.md', '/etc/passwd', 'evals/cup.csv', 7],
        assertions: ['In words.', { type: 'run', value: 'rm' }],
      },
      { id: 3, prompt: 'Again.' },
    ]),
  });
  expect(cases).toMatchObject([{ id: '3', prompt: 'Fine.', expectations: ['In words.'], assertions: [] }]);
  const told = messages.join('\n');
  for (const part of [
    'evals[0].id',
    'evals[1].prompt',
    'evals[2]',
    '../coffee/SKILL.md',
    '/etc/passwd',
    'cup.csv',
    '7',
    'output_matches',
    'occurs twice',
  ])
    expect(told).toContain(part);
});

it('ends a regular expression that never ends, goes on with the others, and blocks nobody', async () => {
  const hangs = '^(a+)+$';
  const { registry } = await openRegistry({
    ...TEA_SUITE,
    'skills/tea/eval.yaml': evalYaml('greets', [
      ['output_matches', hangs],
      ['output_matches', '('],
      ['output_matches', '!$'],
    ]),
  });
  const outputs = tempFolder({ 'greets/output.md': `${'a'.repeat(60)}!` });
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 10);
  const { cases } = await registry.admin.evaluate('tea', { outputs });
  clearInterval(timer);
  expect(cases[0]?.assertions).toMatchObject([
    { passed: false, evidence: 'The pattern took more than 2 seconds.' },
    { passed: false, evidence: expect.stringContaining('is no regular expression') },
    { passed: true },
  ]);
  // The process did other work while the pattern ran.
  expect(turns).toBeGreaterThan(20);
});

it('tries no more patterns after two that never end', async () => {
  const patterns = Array.from({ length: 20 }, () => ['output_matches', '^(a+)+$'] as const);
  const { registry } = await openRegistry({ ...TEA_SUITE, 'skills/tea/eval.yaml': evalYaml('greets', patterns) });
  const outputs = tempFolder({ 'greets/output.md': `${'a'.repeat(60)}!` });
  const { cases } = await registry.admin.evaluate('tea', { outputs });
  expect(cases[0]?.assertions.map(({ evidence }) => evidence.includes('was not tried'))).toEqual([
    ...[false, false],
    ...Array(18).fill(true),
  ]);
});

it('reads nothing outside the outputs, whatever ids and paths say', async () => {
  const secret = tempFolder({ 'secret.txt': 'Hello', 'output.md': 'Hello' });
  const ids = ['..', '../other', '/etc', 'linked', '<img src=x onerror=alert(1)>', 'a\u202eb'];
  const evals = ids.map((id) => ({ id, prompt: 'Tea.', assertions: [{ type: 'output_contains', value: 'Hello' }] }));
  const paths = [
    '../secret.txt',
    join(secret, 'secret.txt'),
    'link.txt',
    'made/../../other/output.md',
    'C:\\x',
    ''.padEnd(5_000, 'a'),
  ];
  const outputs = tempFolder({
    'other/output.md': 'Hello',
    'outputs/linked': { link: secret },
    'outputs/real/output.md': 'Bye',
    'outputs/real/link.txt': { link: join(secret, 'secret.txt') },
    'outputs/<img src=x onerror=alert(1)>/output.md': 'Hello',
  });
  const { registry } = await openRegistry({
    ...TEA_SUITE,
    'skills/tea/evals/evals.json': evalsJson([
      ...evals,
      { id: 'real', prompt: 'Tea.', assertions: paths.map((value) => ({ type: 'file_exists', value })) },
    ]),
  });
  const { cases } = await registry.admin.evaluate('tea', { outputs: join(outputs, 'outputs') });
  const passed = cases.flatMap(({ id, assertions }) => assertions.filter((one) => one.passed).map(() => id));
  expect(passed).toEqual(['<img src=x onerror=alert(1)>']);
  const real = cases.find(({ id }) => id === 'real');
  expect(real?.assertions.map(({ passed: is }) => is)).toEqual(paths.map(() => false));
});

it('runs nothing of a skill that is held', async () => {
  const { registry } = await openRegistry({
    ...heldSkill('bad', 1),
    'skills/bad/evals/trigger-eval.json': '[{ "query": "bad", "should_trigger": true }]',
  });
  await registry.admin.inspectSkills();
  await untilHeld(registry, 'bad');
  await expect(registry.admin.evaluate('bad')).rejects.toMatchObject({ code: 'SKILL_HELD' });
  expect(await registry.admin.evidence('bad')).toMatchObject({
    result: null,
    heldBecause: expect.stringMatching(/, SKILL\.md/),
  });
});
