import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';

const skill = (path: string, fields: Readonly<Record<string, string>> = {}): Tree => ({
  [`${path}/SKILL.md`]: skillMd({ name: path.split('/').at(-1) as string, description: `Does ${path}.`, ...fields }),
});
const inline = (name: string) => ({ name, description: `Does ${name}.`, instructions: 'Do.' });
const TREE: Tree = { ...skill('skills/billing'), ...skill('skills/general'), 'empty/.keep': '' };
const workflow = (states: Readonly<Record<string, string>>) => ({
  version: 1,
  entry: Object.keys(states)[0],
  states: Object.fromEntries(Object.entries(states).map(([name, skills]) => [name, { on_event: {}, skills }])),
});

async function check(pack: unknown, tree: Tree = {}, ...more: readonly string[]) {
  const cwd = tempFolder({ ...TREE, ...tree, 'desk.json': typeof pack === 'string' ? pack : JSON.stringify(pack) });
  const { status, stdout } = await runCommand(['validate', 'desk.json', '--json', ...more], { cwd });
  const [{ errors, warnings, valid }] = JSON.parse(stdout).results;
  return { cwd, status, valid, errors: errors as string[], warnings: warnings as string[] };
}

describe('validate of a prompt pack', () => {
  it('finds nothing wrong with the examples of the RFC, once there is what they name', async () => {
    const tree = { ...skill('skills/technical'), ...skill('skills/technical-support'), ...skill('skills/compliance') };
    const states = { triage: './skills/general', billing_state: './skills/billing', closing: 'none' };
    for (const pack of [
      { id: 'customer-support', skills: ['./skills/billing', './skills/technical-support'] },
      { id: 'e', skills: ['./skills/general', { path: './skills/compliance', preload: true }, inline('escalation')] },
      { id: 'w', skills: ['./skills/billing', './skills/technical', './skills/general'], workflow: workflow(states) },
      { id: 'none' },
    ])
      expect(await check(pack, tree)).toMatchObject({ status: 0, valid: true, errors: [], warnings: [] });
  });

  it.each<[string, object, RegExp]>([
    ['a path that names nothing', { skills: ['./skills/biling'] }, /^PACK_PATH_MISSING: \/skills\/0: /],
    ['a folder that is missing', { skills: [{ path: './more' }] }, /^PACK_PATH_MISSING: \/skills\/0: /],
    ['a path out of the pack', { skills: ['../other'] }, /^PACK_PATH_OUTSIDE: /],
    ['a package that is not installed', { skills: ['@acme/none'] }, /^PACKAGE_NOT_FOUND: /],
    [
      'an inline skill without its fields',
      { skills: [{ name: 'x', instructions: 'Do.' }] },
      /^PACK_INVALID: \/skills\/0\/description: /,
    ],
    [
      'a state whose path names nothing',
      { skills: ['skills'], workflow: workflow({ a: './skills/biling' }) },
      /^PACK_STATE_UNKNOWN: \/workflow\/states\/a\/skills: "\.\/skills\/biling" names no skill/,
    ],
    [
      'a state with a pattern that matches nothing',
      { skills: ['skills'], workflow: workflow({ 'a/b': 'other/**' }) },
      /^PACK_STATE_UNKNOWN: \/workflow\/states\/a~1b\/skills: /,
    ],
    [
      'a state with a prompt that the pack does not have',
      { prompts: { ask: {} }, workflow: { entry: 'a', states: { a: { prompt_task: 'toString' } } } },
      /^PACK_NAME_UNKNOWN: \/workflow\/states\/a\/prompt_task: the pack has no prompt "toString"\./,
    ],
    [
      'an event that leads to no state',
      { workflow: { entry: 'a', states: { a: { on_event: { done: 'a', 'x/y': 'b' } } } } },
      /^PACK_NAME_UNKNOWN: \/workflow\/states\/a\/on_event\/x~1y: the pack has no state "b"\./,
    ],
    [
      'an event whose state is no text',
      { workflow: { entry: 'a', states: { a: { on_event: { done: 3 } } } } },
      /^PACK_INVALID: \/workflow\/states\/a\/on_event\/done: expected the name of a state, got 3/,
    ],
    [
      'events that are no object',
      { workflow: { entry: 'a', states: { a: { on_event: ['b'] } } } },
      /^PACK_INVALID: \/workflow\/states\/a\/on_event: expected an object/,
    ],
    [
      'a prompt that is no text',
      { workflow: { entry: 'a', states: { a: { prompt_task: {} } } } },
      /^PACK_INVALID: \/workflow\/states\/a\/prompt_task: expected a text/,
    ],
    ['a workflow without its entry', { skills: [], workflow: { states: {} } }, /^PACK_INVALID: \/workflow\/entry: /],
  ])('refuses %s', async (_, pack, error) => {
    const { status, errors } = await check({ id: 'x', ...pack });
    expect([status, errors]).toEqual([1, [expect.stringMatching(error)]]);
  });

  it.each<[string, object, Tree, RegExp]>([
    ['a folder without a skill', { skills: ['empty'] }, {}, /^PACK_PATH_EMPTY: \/skills\/0: /],
    ['an inline skill twice', { skills: [inline('a'), inline('a')] }, {}, /^PACK_NAME_REPEATED: \/skills\/1\/name: /],
    [
      'an id twice',
      { skills: ['skills/billing', 'other/billing'] },
      skill('other/billing'),
      /SKILL_ID_TAKEN: Another skill "billing" wins in its source/,
    ],
    [
      'a tool that the pack does not declare',
      { skills: ['x'], tools: { refund: {} } },
      skill('x', { 'allowed-tools': 'refund Bash(git:*) Read' }),
      /^x\/SKILL\.md: PACK_TOOL_UNKNOWN: allowed-tools of "x" names Bash, Read, which/,
    ],
  ])('warns of %s', async (_, pack, tree, warning) => {
    const { status, warnings } = await check({ id: 'x', ...pack }, tree);
    expect([status, warnings]).toEqual([0, [expect.stringMatching(warning)]]);
  });

  it('holds its skills to the profile, and names the file and its line', async () => {
    const tree = skill('x', { color: 'red' });
    const pack = { id: 'x', skills: ['x'] };
    const { errors } = await check(pack, tree);
    expect(errors).toEqual([expect.stringMatching(/^x\/SKILL\.md: SPEC_VIOLATION \(line \d+\): /)]);
    expect((await check(pack, tree, '--profile', 'lenient')).errors).toEqual([]);
    const cwd = tempFolder({ ...tree, 'desk.json': JSON.stringify(pack) });
    const { stdout } = await runCommand(['validate', 'desk.json', '--format', 'lines'], { cwd });
    expect(stdout).toMatch(/^x\/SKILL\.md:\d+: error: .* \[SPEC_VIOLATION\]\n$/);
  });

  it('says so where it is no pack, and of a folder what it always said', async () => {
    expect((await check('{')).errors).toEqual([expect.stringMatching(/^PACK_INVALID: This is not JSON/)]);
    const { stdout } = await runCommand(['validate', 'desk.json', 'skills/general'], {
      cwd: tempFolder({ ...TREE, 'desk.json': '{"id":"x"}' }),
    });
    expect(stdout).toBe('Valid pack: desk.json\nValid skill: skills/general\n');
  });

  it('says what loading it says', async () => {
    const pack = { id: 'x', skills: ['empty', 'none', 'skills'], workflow: workflow({ a: 'skills/x', b: './none' }) };
    const { root, registry } = await openRegistry(
      { ...TREE, 'desk.json': JSON.stringify(pack) },
      { sources: [{ pack: 'desk.json' }] },
    );
    expect(registry.problems().map(({ code, file }) => [code, file])).toEqual([
      ['PACK_PATH_EMPTY', join(root, 'desk.json')],
      ['PACK_PATH_MISSING', join(root, 'desk.json')],
      ['PACK_STATE_UNKNOWN', join(root, 'desk.json')],
    ]);
    expect(registry.visible({ workflowState: { pack: 'x', state: 'a' } })).toEqual([]);
  });
});

it.each<[string, readonly unknown[], number]>([
  ['as it is', ['./skills/billing', './skills/billing'], 1],
  [
    'written otherwise',
    ['skills/billing', { path: './skills/./billing/', preload: true }, 'skills/billing/SKILL.md'],
    2,
  ],
  ['as a folder of others', ['skills', 'empty/..', 'skills/'], 1],
  ['and not by an inline skill', [inline('a'), 'inline a', '//a', 'skills', 'skills/'], 1],
])('says which path of a pack is declared twice: %s', async (_, skills, count) => {
  const { warnings } = await check({ id: 'x', skills });
  const twice = warnings.filter((line) => line.startsWith('PACK_PATH_REPEATED: /skills/'));
  expect(twice).toHaveLength(count);
  expect(twice[0]).toContain('names already. Remove one of the two entries.');
  const { registry } = await openRegistry(
    { ...TREE, 'desk.json': JSON.stringify({ id: 'x', skills }) },
    { sources: [{ pack: 'desk.json' }] },
  );
  const codes = registry.problems().map(({ code }) => code);
  expect(codes.filter((code) => code === 'PACK_PATH_REPEATED')).toHaveLength(count);
});

it('a folder and a skill in it are two entries', async () => {
  const { warnings } = await check({ id: 'x', skills: ['skills', { path: 'skills/billing', preload: true }] });
  expect(warnings).toEqual([]);
});
