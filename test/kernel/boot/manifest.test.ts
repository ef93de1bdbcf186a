import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../../kernel/boot/manifest.ts';

const FILE = '/root/extensions/sample/manifest.yaml';
const HEAD = 'id: sample\nname: Sample\nversion: 1.0.0\n';
const AGENT = `${HEAD}agent:\n`;

describe('a sound manifest', () => {
  test('gets every default filled in', () => {
    expect(parseManifest(`${HEAD}entrypoint: main:Sample\n`, FILE)).toEqual({
      manifest: {
        id: 'sample',
        name: 'Sample',
        version: '1.0.0',
        entrypoint: 'main:Sample',
        description: '',
        depends_on: [],
        config: {},
        enabled: true,
      },
      problems: [],
    });
  });

  test('gets every default of an agent filled in', () => {
    const { manifest, problems } = parseManifest(`${HEAD}agent: {}\n`, FILE);
    expect(problems).toEqual([]);
    expect(manifest?.agent).toEqual({
      integration_mode: 'tool',
      uses_tools: [],
      parameters: {},
      limits: { max_turns: 20 },
    });
    expect(manifest?.entrypoint).toBeUndefined();
  });

  test('keeps every field it gives', () => {
    const text = `${HEAD}entrypoint: index-2:_Main
description: Does it all
depends_on: [other]
config: { nested: { list: [1, 2] } }
enabled: false
events: { emits: [done] }
agent:
  integration_mode: handoff
  model: small
  instructions: Be kind.
  uses_tools: ["*"]
  uses_skills: []
  parameters: { temperature: 0, top_p: 1, frequency_penalty: -1, presence_penalty: 1, seed: 7, max_output_tokens: 9, stop: [END] }
  limits: { max_turns: 1, max_tokens_per_invocation: 2, time_budget_ms: 3 }
`;
    expect(parseManifest(text, FILE).manifest).toMatchObject({
      entrypoint: 'index-2:_Main',
      depends_on: ['other'],
      config: { nested: { list: [1, 2] } },
      enabled: false,
      events: { emits: ['done'], listens: [] },
      agent: {
        integration_mode: 'handoff',
        uses_skills: [],
        parameters: { temperature: 0, top_p: 1, seed: 7, max_output_tokens: 9, stop: ['END'] },
        limits: { max_turns: 1, max_tokens_per_invocation: 2, time_budget_ms: 3 },
      },
    });
  });

  test.each(['a', 'a-b_c9', `a${'b'.repeat(63)}`])('may have the id %s', (id) => {
    expect(parseManifest(`${HEAD.replace('sample', id)}agent: {}\n`, FILE).manifest?.id).toBe(id);
  });
});

describe('a broken manifest is one problem with its code, field and line:', () => {
  const UNKNOWN = 'MANIFEST_FIELD_UNKNOWN';
  const INVALID = 'MANIFEST_FIELD_INVALID';
  test.each<[what: string, text: string, code: string, field: string, line: number]>([
    ['an unknown field', `${HEAD}entrypont: main:A\nagent: {}\n`, UNKNOWN, 'entrypont', 4],
    ['an unknown field with its value below', `${HEAD}agnet:\n  model: x\nagent: {}\n`, UNKNOWN, 'agnet', 4],
    ['an unknown field without a value', `${HEAD}agent: {}\nextra:\n`, UNKNOWN, 'extra', 5],
    ['an unknown field of agent', `${AGENT}  model: x\n  skills: [a]\n`, UNKNOWN, 'agent.skills', 6],
    ['an unknown field of limits', `${AGENT}  limits:\n    turns: 3\n`, UNKNOWN, 'agent.limits.turns', 6],
    ['an unknown parameter', `${AGENT}  parameters: { top_k: 3 }\n`, UNKNOWN, 'agent.parameters.top_k', 5],
    ['an unknown field of events', `${HEAD}agent: {}\nevents:\n  emit: [a]\n`, UNKNOWN, 'events.emit', 6],
    ['no id', 'name: A\nversion: 1.0.0\nagent: {}\n', INVALID, 'id', 1],
    ['an id with a capital', `${HEAD.replace('sample', 'Sample')}agent: {}\n`, INVALID, 'id', 1],
    ['an id that starts with a digit', `${HEAD.replace('sample', '1st')}agent: {}\n`, INVALID, 'id', 1],
    ['an id with a slash', `${HEAD.replace('sample', '../up')}agent: {}\n`, INVALID, 'id', 1],
    ['an id of 65 letters', `${HEAD.replace('sample', 'a'.repeat(65))}agent: {}\n`, INVALID, 'id', 1],
    ['a version that is a number', 'id: a\nname: A\nversion: 1.0\nagent: {}\n', INVALID, 'version', 3],
    ['an empty name', 'id: a\nname: ""\nversion: 1.0.0\nagent: {}\n', INVALID, 'name', 2],
    ['neither entrypoint nor agent', HEAD, INVALID, 'entrypoint', 1],
    ['an entrypoint without a class', `${HEAD}entrypoint: main\n`, INVALID, 'entrypoint', 4],
    ['an entrypoint that leaves the folder', `${HEAD}entrypoint: ../main:A\n`, INVALID, 'entrypoint', 4],
    ['depends_on that is no list', `${HEAD}agent: {}\ndepends_on: other\n`, INVALID, 'depends_on', 5],
    ['depends_on with a number in it', `${HEAD}agent: {}\ndepends_on:\n  - a\n  - 1\n`, INVALID, 'depends_on.1', 7],
    ['config that is a list', `${HEAD}agent: {}\nconfig: [a]\n`, INVALID, 'config', 5],
    ['enabled that is text', `${HEAD}agent: {}\nenabled: "yes"\n`, INVALID, 'enabled', 5],
    ['agent that is text', `${HEAD}agent: yes\n`, INVALID, 'agent', 4],
    ['a mode there is none of', `${AGENT}  integration_mode: both\n`, INVALID, 'agent.integration_mode', 5],
    ['a limit below its range', `${AGENT}  limits:\n    max_turns: 0\n`, INVALID, 'agent.limits.max_turns', 6],
    ['a limit above its range', `${AGENT}  limits: { max_turns: 1001 }\n`, INVALID, 'agent.limits.max_turns', 5],
    [
      'a limit that is no whole number',
      `${AGENT}  limits: { time_budget_ms: 0.5 }\n`,
      INVALID,
      'agent.limits.time_budget_ms',
      5,
    ],
    ['a parameter out of range', `${AGENT}  parameters: { top_p: 2 }\n`, INVALID, 'agent.parameters.top_p', 5],
  ])('%s', (_, text, code, field, line) => {
    const { manifest, problems } = parseManifest(text, FILE);
    expect(manifest).toBeUndefined();
    expect(problems).toMatchObject([{ code, severity: 'error', file: FILE, line, details: { field } }]);
    expect(problems[0]?.message).toContain(`"${field}"`);
  });

  test('several mistakes are several problems', () => {
    const { problems } = parseManifest('id: A\nname: A\nversion: 1.0.0\nagent: {}\nfoo: 1\nbar: 2\n', FILE);
    expect(problems.map(({ details, line }) => [details?.field, line])).toEqual([
      ['id', 1],
      ['foo', 5],
      ['bar', 6],
    ]);
  });
});

describe('text that cannot be read as fields is MANIFEST_YAML_INVALID:', () => {
  test.each<[what: string, text: string, line: number]>([
    ['an unclosed list', 'id: a\nname: [b\n', 3],
    ['a key given twice', 'id: a\nname: A\nid: b\n', 3],
    ['an alias of nothing', 'id: a\nname: *gone\n', 1],
    ['a tab as indentation', 'id: a\nagent:\n\tmodel: x\n', 3],
    ['two documents', `${HEAD}agent: {}\n---\n${HEAD}`, 5],
    ['nothing', '', 1],
    ['a list', '- id: a\n', 1],
    ['plain text', 'hello\n', 1],
    [
      'aliases that multiply',
      `a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [${'*a, '.repeat(20)}]\nid: [${'*b, '.repeat(20)}]\n`,
      1,
    ],
  ])('%s', (_, text, line) => {
    const { manifest, problems } = parseManifest(text, FILE);
    expect(manifest).toBeUndefined();
    expect(problems).toMatchObject([{ code: 'MANIFEST_YAML_INVALID', severity: 'error', file: FILE, line }]);
  });
});

test.each([
  [
    'a part of the name of a field',
    `${AGENT}  mode: handoff\n`,
    'Unknown field "agent.mode". Did you mean "integration_mode" (tool or handoff)?',
  ],
  ['another part', `${AGENT}  skills: [a]\n`, 'Unknown field "agent.skills". Did you mean "uses_skills"?'],
  ['a letter too few', `${AGENT}  modl: a\n`, 'Unknown field "agent.modl". Did you mean "model"?'],
  ['a missing field', 'name: A\nversion: 1.0.0\nagent: {}\n', 'Field "id" is missing: expected a text. Add it'],
  ['a text for a list', `${HEAD}agent: {}\ndepends_on: b\n`, 'expected a list, got a text. Write [b].'],
  ['a list for a text', `${HEAD}agent: {}\ndescription: [b]\n`, 'Field "description": expected a text, got a list.'],
])('%s is said in words of YAML', (_, text, message) => {
  expect(parseManifest(text, FILE).problems[0]?.message).toContain(message);
});

test('a version that YAML reads as a number is accepted once it is in quotes, as the message says', () => {
  const text = (version: string): string => `id: a\nname: A\nversion: ${version}\nagent: {}\n`;
  const [problem] = parseManifest(text('1.0'), 'manifest.yaml').problems;
  expect(problem?.message).toContain('expected a text, got a number. Put the value in quotes: "1.0".');
  expect(parseManifest(text('"1.0"'), 'manifest.yaml').problems).toEqual([]);
});
