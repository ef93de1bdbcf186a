import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { agent, skill } from '../helpers/boot-root.ts';
import { runCommand } from '../helpers/run-command.ts';
import { type ScriptedAnswer, scriptedModel, toolResults } from '../helpers/scripted-model.ts';
import { type Tree, tempFolder } from '../helpers/temp-folder.ts';

const TREE: Tree = {
  'data/.keep': '',
  ...skill('tea', {}, 'Body of tea: steep it.'),
  'skills/tea/references/times.md': 'Two minutes.',
  'skills/tea/scripts/boil.sh': 'echo boil',
  'skills/tea/pot.png': Buffer.from([0x89, 0x50, 0xff, 0xfe, 0x00]),
  ...skill('bread'),
  ...agent('clerk', 'instructions: Help., uses_tools: [skill_registry, workspace_files]'),
};

/** One turn of an agent that calls these tools; then what `stats` says, and what the model was given. */
async function turnWith(calls: readonly (readonly [tool: string, args: unknown])[], config: object = {}) {
  const root = tempFolder(TREE);
  const script: ScriptedAnswer[] = calls.map(([call, args]) => ({ call, args }));
  const model = await scriptedModel([...script, { text: 'Done.' }]);
  const skill_registry = { sources: [{ path: 'skills' }], tools: ['load_skill', 'skill'], ...config };
  const kernel = await boot({ root, environment: model.environment, config: { skill_registry } });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('clerk', 'Make tea', { turn: { threadId: 'thread-1' } });
  const given = toolResults(model.requests.at(-1));
  await kernel.shutdown();
  const stats = async (...flags: readonly string[]) => {
    const { stdout, stderr } = await runCommand(['stats', ...flags, '--root', root, '--json']);
    return stdout === '' ? { stderr } : JSON.parse(stdout);
  };
  const events = (await stats('--thread', 'thread-1')) as { readonly events: readonly Record<string, unknown>[] };
  return {
    given,
    totals: (await stats()).totals,
    events: events.events.map((event) => `${event.kind} ${event.skill_id} ${event.outcome}`),
  };
}

it('counts what load_skill gives: a body as a load, a reference or script as a file alone', async () => {
  const { given, totals, events } = await turnWith([
    ['load_skill', { name: 'tea', reference: 'times.md' }],
    ['load_skill', { name: 'tea', reference: 'times.md', script: 'boil.sh' }],
    ['load_skill', { name: 'tea' }],
  ]);
  expect(given).toMatchObject([
    { body: null, reference_content: 'Two minutes.', available_scripts: ['boil.sh'] },
    { body: null, reference_content: 'Two minutes.', script_content: 'echo boil' },
    { body: 'Body of tea: steep it.', available_references: ['times.md'] },
  ]);
  const file = 'resource tea success';
  expect(events).toEqual([file, file, file, 'load tea success']);
  expect(totals).toMatchObject({ loads: 1, resources: 3, failures: 0, refusals: 0 });
});

it('counts of load_skill what reached the model when one file is there and the other is not, and each failure', async () => {
  const { given, totals, events } = await turnWith([
    ['load_skill', { name: 'tea', reference: 'times.md', script: 'none.sh' }],
    ['load_skill', { name: 'tea', reference: 'none.md', script: 'boil.sh' }],
    ['load_skill', { name: 'te', reference: 'times.md' }],
  ]);
  expect(given).toMatchObject([
    { reference_content: 'Two minutes.', script_content: null, error: expect.stringContaining('none.sh') },
    { reference_content: null, script_content: 'echo boil', error: expect.stringContaining('none.md') },
    { success: false, body: '', reference_content: null, error: { code: 'SKILL_NOT_FOUND' } },
  ]);
  const [file, missing] = ['resource tea success', 'failure tea RESOURCE_NOT_FOUND'];
  expect(events).toEqual([file, missing, missing, file, 'failure te SKILL_NOT_FOUND']);
  expect(totals).toMatchObject({ loads: 0, resources: 2, failures: 3 });
});

it.each([
  ['proposed', { create: 'propose', update: 'propose', delete: 'propose' }],
  ['made', { create: 'allow', update: 'allow', delete: 'allow' }],
])('counts no load when a patch is %s, for which a file is read and not handed over', async (_, writes) => {
  const { given, totals, events } = await turnWith(
    [
      ['skill', { action: 'patch', name: 'tea', old_string: 'steep it', new_string: 'steep it long' }],
      ['skill', { action: 'patch', name: 'tea', fields: { tags: ['kitchen'] } }],
      [
        'skill',
        { action: 'patch', name: 'tea', file_path: 'references/times.md', old_string: 'Two', new_string: 'Six' },
      ],
      ['skill', { action: 'patch', name: 'tea', old_string: 'not there', new_string: 'x' }],
      ['skill', { action: 'patch', name: 'te', old_string: 'a', new_string: 'b' }],
      ['skill', { action: 'view', name: 'tea' }],
    ],
    { writes },
  );
  expect(given.map((result) => (result as { success: boolean }).success)).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
  ]);
  expect(totals).toMatchObject({ loads: 1, resources: 0 });
  expect(events.filter((event) => event.startsWith('failure'))).toContain('failure te SKILL_NOT_FOUND');
  expect(events.at(-1)).toBe('load tea success');
});

it('counts what read_file gives of a skill, and a failure for a file that is no text', async () => {
  const { given, totals, events } = await turnWith([
    ['read_file', { path: 'skills/tea/SKILL.md' }],
    ['read_file', { path: 'skills/tea/references/times.md' }],
    ['read_file', { path: 'skills/tea/pot.png' }],
  ]);
  expect(given[2]).toMatchObject({ success: false, error: { code: 'NOT_TEXT' } });
  expect(events).toEqual(['load tea success', 'resource tea success', 'failure tea NOT_TEXT']);
  expect(totals).toMatchObject({ loads: 1, resources: 1, failures: 1 });
});
