import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { evalsJson, evalYaml, TEA_SUITE } from '../../helpers/suites.ts';
import { skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

it('asks its own search each trigger query, and says what it found instead', async () => {
  const { registry } = await openRegistry({
    ...TEA_SUITE,
    'skills/tea/evals/trigger-eval.json': JSON.stringify([
      { query: 'brew green tea', should_trigger: true },
      { query: 'grind coffee beans', should_trigger: false },
      { query: 'coffee grinds', should_trigger: true },
      { query: 'a pot of green tea', should_trigger: false },
    ]),
  });
  const { triggers, totals, validity, tokens } = await registry.admin.evaluate('tea');
  expect(triggers).toEqual({
    queries: [
      { query: 'brew green tea', shouldTrigger: true, found: 'tea', passed: true },
      { query: 'grind coffee beans', shouldTrigger: false, found: 'coffee', passed: true },
      { query: 'coffee grinds', shouldTrigger: true, found: 'coffee', passed: false },
      { query: 'a pot of green tea', shouldTrigger: false, found: 'tea', passed: false },
    ],
    notTried: 0,
    precision: 0.5,
    recall: 0.5,
  });
  expect(totals).toEqual({ passed: 3, failed: 2, notRun: 0 });
  expect(validity).toEqual({ profile: 'spec', errors: [] });
  const counts = (await registry.admin.tokenCounts()).get('tea');
  expect(tokens).toEqual(counts);
});

it('counts a skill that breaks the standard as one failed check, and tells each rule', async () => {
  const { registry } = await openRegistry({
    'skills/tea/SKILL.md': skillMd({ name: 'Coffee', description: 'Brews.' }),
  });
  const { validity, totals } = await registry.admin.evaluate('tea');
  expect(validity.errors).toEqual([
    expect.stringContaining("'Coffee' must be lowercase"),
    expect.stringContaining('must match skill name'),
  ]);
  expect(totals).toMatchObject({ passed: 0, failed: 1 });
});

it.each([
  ['output_contains', 'Hello', 'Goodbye'],
  ['output_not_contains', 'Goodbye', 'Hello'],
  ['output_matches', '^H\\p{Ll}+ \\w+!$', '^\\w+ H'],
  ['file_exists', 'made/cup.txt', 'made/pot.txt'],
])('runs %s over a stored output: it passes, and it fails', async (type, good, bad) => {
  const { registry } = await openRegistry({
    ...TEA_SUITE,
    'skills/tea/eval.yaml': evalYaml('greets', [
      [type, good],
      [type, bad],
    ]),
  });
  const outputs = tempFolder({ 'greets/output.md': 'Hello Ada!', 'greets/made/cup.txt': '' });
  const { cases, totals } = await registry.admin.evaluate('tea', { outputs });
  expect(cases).toMatchObject([
    {
      id: 'greets',
      file: 'eval.yaml',
      notRun: 0,
      assertions: [
        { value: good, passed: true },
        { value: bad, passed: false },
      ],
    },
  ]);
  expect(cases[0]?.assertions[1]?.evidence).toMatch(/\.$|"$/);
  expect(totals).toEqual({ passed: 4, failed: 1, notRun: 0 });
});

it('finds outputs where other tools leave them, and reads their grading as a claim', async () => {
  const evals = [
    { id: 1, prompt: 'Make tea.', expected_output: 'Tea.', expectations: ['It is warm.'] },
    {
      id: 'strong',
      prompt: 'Make it strong.',
      assertions: ['It is strong.', { type: 'output_contains', value: 'strong' }],
    },
  ];
  const { registry } = await openRegistry({ ...TEA_SUITE, 'skills/tea/evals/evals.json': evalsJson(evals) });
  const grading = {
    expectations: [{ text: 'It is warm.', passed: true, evidence: 'Steam.' }],
    summary: { passed: 1, failed: 0, total: 1, pass_rate: 1 },
  };
  const outputs = tempFolder({
    'eval-1/with_skill/outputs/tea.txt': 'Tea.',
    'eval-1/with_skill/grading.json': JSON.stringify(grading),
    'strong/output.txt': 'A strong one.',
    'strong/grading.json': '{ "summary": {} }',
  });
  const { cases, totals, problems } = await registry.admin.evaluate('tea', { outputs });
  expect(cases).toMatchObject([
    { id: '1', assertions: [], notRun: 1 },
    { id: 'strong', assertions: [{ passed: true }], notRun: 1 },
  ]);
  expect(totals).toEqual({ passed: 4, failed: 0, notRun: 2 });
  expect(problems).toMatchObject([{ code: 'EVALS_INVALID', message: expect.stringContaining('strong/grading.json') }]);
  const { claims, digest, result } = await registry.admin.evidence('tea');
  expect(claims).toMatchObject([
    {
      kind: 'grading',
      by: 'grading.json',
      about: '1',
      digest,
      text: 'passed: It is warm. (Steam.)',
      summary: { passed: 1, failed: 0, total: 1 },
    },
  ]);
  // What another tool says counts for nothing that the registry ran.
  expect(result?.totals).toEqual(totals);
});

it('reads assertions and expectations of a case that has both', async () => {
  const both = { assertions: [{ type: 'output_contains', value: 'warm' }], expectations: ['It is warm.'] };
  const { registry } = await openRegistry({
    ...TEA_SUITE,
    'skills/tea/evals/evals.json': evalsJson([{ id: 1, prompt: 'Tea.', ...both }]),
  });
  const { cases } = (await registry.admin.evidence('tea')).suite;
  expect(cases).toMatchObject([{ expectations: ['It is warm.'], assertions: [{ value: 'warm' }] }]);
});

it('runs nothing twice, and everything again when the content, the test cases or another skill has changed', async () => {
  const { registry, root } = await openRegistry(TEA_SUITE);
  const evaluate = async () => {
    await registry.refresh();
    return registry.admin.evaluate('tea');
  };
  const first = await evaluate();
  expect([first.reused, (await evaluate()).reused]).toEqual([false, true]);
  expect(await evaluate()).toEqual({ ...first, reused: true });
  const other = await openRoot(root);
  expect(await other.admin.evaluate('tea')).toEqual({ ...first, reused: true });

  writeTree(root, { 'skills/tea/references/a.md': 'A.' });
  const { result, last } = await registry.admin.evidence('tea');
  expect([result, last?.digest]).toEqual([null, first.digest]);
  const second = await evaluate();
  expect([second.reused, second.digest === first.digest, second.suite]).toEqual([false, false, first.suite]);

  writeTree(root, { 'skills/coffee/SKILL.md': skillMd({ name: 'coffee', description: 'Green tea. Brew green tea.' }) });
  const third = await evaluate();
  expect([third.reused, third.digest, third.triggers?.recall]).toEqual([false, second.digest, 0]);

  writeTree(root, { 'skills/tea/evals/trigger-eval.json': '[]' });
  expect(await evaluate()).toMatchObject({ reused: false, triggers: null });
});

it('keeps what it saw in outputs until the content or the outputs are others', async () => {
  const { registry, root } = await openRegistry({
    ...TEA_SUITE,
    'skills/tea/eval.yaml': evalYaml('greets', [['output_contains', 'Hello']]),
  });
  const outputs = tempFolder({ 'greets/output.md': 'Hello' });
  expect((await registry.admin.evaluate('tea')).totals).toEqual({ passed: 3, failed: 0, notRun: 1 });
  expect(await registry.admin.evaluate('tea', { outputs })).toMatchObject({
    reused: false,
    totals: { passed: 4, notRun: 0 },
  });
  expect(await registry.admin.evaluate('tea')).toMatchObject({ reused: true, totals: { passed: 4, notRun: 0 } });
  writeFileSync(join(outputs, 'greets/output.md'), 'Bye');
  expect(await registry.admin.evaluate('tea', { outputs })).toMatchObject({
    reused: false,
    totals: { passed: 3, failed: 1 },
  });
  writeFileSync(join(root, 'skills/tea/SKILL.md'), skillMd({ name: 'tea', description: 'Brews a pot of green tea!' }));
  await registry.refresh();
  expect((await registry.admin.evaluate('tea')).cases).toMatchObject([{ assertions: [], notRun: 1 }]);
});

it('refuses what it cannot evaluate, and says what to do', async () => {
  const { registry, root } = await openRegistry(TEA_SUITE);
  await expect(registry.admin.evaluate('te')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  for (const outputs of [join(root, 'nothing'), join(root, 'skills/tea/SKILL.md')])
    await expect(registry.admin.evaluate('tea', { outputs })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

it('says at a terminal how many skills it has evaluated', async () => {
  const root = tempFolder(
    Object.fromEntries(
      ['tea', 'pot', 'cup'].map((name) => [`skills/${name}/SKILL.md`, skillMd({ name, description: `A ${name}.` })]),
    ),
  );
  // Each look at this clock is a second later, so that everything takes long.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000));
  const heard: string[] = [];
  await runCommand(['eval'], { cwd: root, heard: (text) => heard.push(text) });
  expect(heard).toEqual(expect.arrayContaining(['Evaluating: 1 of 3', 'Evaluating: 2 of 3']));
  vi.restoreAllMocks();
});
