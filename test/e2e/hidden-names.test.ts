import { join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { skill } from '../helpers/boot-root.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { runCommand } from '../helpers/run-command.ts';
import { type ScriptedAnswer, scriptedModel, toolResults } from '../helpers/scripted-model.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

/** Names with tag characters, a direction override, a run of zero-width characters, and a line end; and one that may stay. */
const NAMES = ['a\u{e0041}\u{e0042}.md', 'b\u202egpj.md', 'c\u200b\u200c\u200d.md', 'd\nd.md', 'می‌خواهم.md'];
const SHOWN = [
  'a⟦U+E0041⟧⟦U+E0042⟧.md',
  'b⟦U+202E⟧gpj.md',
  'c⟦U+200B⟧⟦U+200C⟧⟦U+200D⟧.md',
  'd⟦U+000A⟧d.md',
  'می‌خواهم.md',
];
const FOLDER = 'references\u{e0043}';
const TREE = {
  ...skill('tea'),
  ...Object.fromEntries(NAMES.map((name) => [`skills/tea/${FOLDER}/${name}`, `File ${name.slice(0, 1)}.`])),
  [`skills/${NAMES[1]}`]: 'Beside.',
};
const HIDDEN = /[\u{e0000}-\u{e007f}\u202a-\u202e\u200b]|d\nd/u;

it('a model gets names of files with hidden characters escaped, and reads each by the name it got', async () => {
  const root = join(
    tempFolder(Object.fromEntries(Object.entries(TREE).map(([path, text]) => [`ro\u202eot/${path}`, text]))),
    'ro\u202eot',
  );
  const below = SHOWN.map((name) => `references⟦U+E0043⟧/${name}`);
  const script: ScriptedAnswer[] = [
    { call: 'read_skill', args: { skill_id: 'tea' } },
    { call: 'list_files', args: { path: 'skills' } },
    { call: 'list_files', args: { path: 'skills/tea/references⟦U+E0043⟧' } },
    ...below.map((path) => ({ call: 'read_skill_resource', args: { skill_id: 'tea', path } })),
    ...below.map((path) => ({ call: 'read_file', args: { path: `skills/tea/${path}` } })),
    { call: 'read_file', args: { path: `skills/${SHOWN[1]}` } },
    { text: 'Done.' },
  ];
  const model = await scriptedModel(script);
  const kernel = await boot({ root, environment: model.environment });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('orchestrator_agent', 'Read.');
  const [read, list, folder, ...files] = toolResults(model.requests.at(-1));
  expect((read?.resources as { path: string }[] | undefined)?.map(({ path }) => path).sort()).toEqual(
    [...below].sort(),
  );
  expect(read?.directory).toContain('ro⟦U+202E⟧ot');
  const namesOf = (result: typeof list) => (result?.entries as { name: string }[] | undefined)?.map(({ name }) => name);
  expect(namesOf(list)).toEqual([SHOWN[1], 'tea']);
  expect(namesOf(folder)?.sort()).toEqual([...SHOWN].sort());
  const contents = NAMES.map((name) => `File ${name.slice(0, 1)}.`);
  expect(files.map(({ content }) => content)).toEqual([...contents, ...contents, 'Beside.']);
  expect(JSON.stringify([read, list, folder, files])).not.toMatch(HIDDEN);
});

it('a terminal gets them escaped in every list and report, which name them', async () => {
  const cwd = tempFolder(TREE);
  for (const args of [
    ['doctor'],
    ['show', 'tea'],
    ['validate', 'skills/tea'],
    ['validate', 'skills/tea', '--format', 'lines'],
    ['list'],
  ]) {
    const { stdout, stderr } = await runCommand(args, { cwd });
    expect(stdout + stderr, args.join(' ')).not.toMatch(HIDDEN);
    if (args[0] === 'doctor' || args[0] === 'validate')
      for (const name of [...SHOWN.slice(0, 4), 'references⟦U+E0043⟧'])
        expect(stdout + stderr, args.join(' ')).toContain(`The name ${JSON.stringify(name)} has characters`);
  }
});

it('two names that are shown alike are told apart by what was asked for', async () => {
  const tree = { ...skill('tea'), 'skills/tea/x\u200by': 'hidden', 'skills/tea/x⟦U+200B⟧y': 'written out' };
  const { registry } = await openRegistry(tree);
  expect((await registry.readResource('tea', 'x⟦U+200B⟧y', {})).content).toBe('written out');
  expect((await registry.readResource('tea', 'x\u200by', {})).content).toBe('hidden');
});
