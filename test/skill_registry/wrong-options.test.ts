import { createSkillRegistry, isCodedError, type SkillRegistryOptions } from 'skill-registry';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tempFolder } from '../helpers/temp-folder.ts';

const TEA = '---\nname: tea\ndescription: How to brew tea.\n---\nBoil water.\n';

/** The message of INVALID_ARGUMENT; undefined when nothing was thrown. */
async function refusal(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (!isCodedError(error, 'INVALID_ARGUMENT')) throw error;
    return error.message;
  }
}

async function open(options: object = {}) {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const registry = await createSkillRegistry({ root, cache: 'memory', ...options } as SkillRegistryOptions);
  onTestFinished(() => registry.close());
  return registry;
}

describe('an option that does not exist is refused, with what was meant:', () => {
  test.each([
    [
      { sources: [{ path: 'skills' }] },
      'options has no "sources". It is a key of config: { config: { sources: ... } }.',
    ],
    [{ skills: './skills' }, 'A folder of skills is a source: { config: { sources: [{ path: "skills" }] } }.'],
    [{ onProblems: () => {} }, 'Did you mean "onProblem"? It may have: root, config,'],
    [{ rootDir: '.' }, 'options has no "rootDir". It may have: root, config,'],
  ])('%j', async (options, message) => {
    const said = await refusal(() => open(options));
    expect(said).toContain(message);
    expect(said).not.toContain('onWriteStep');
  });

  test('one that is undefined is none', async () => {
    expect((await open({ sources: undefined })).list().total).toBe(1);
  });
});

test.each(['no/such/folder', '', 'package.json', 'package.json/x', 'x'.repeat(5_000), 'file:///tmp'])(
  'the root %j is refused: no skill could be found in it',
  async (root) => {
    expect(await refusal(() => createSkillRegistry({ root }))).toContain('options.root must be a folder that exists');
  },
);

test('a misspelt key of a query, and a turn among the options of a call, are refused', async () => {
  const registry = await open();
  expect(await refusal(() => registry.list({ querry: 'tea' } as object))).toContain(
    'query has no "querry". Did you mean "query"?',
  );
  expect(await refusal(() => registry.read('tea', { agentId: 'clerk' } as object))).toContain(
    'options has no "agentId". It belongs to the turn, which is the argument after this one.',
  );
  expect(await refusal(() => registry.usage.report({ skill: 'tea' } as object))).toContain('It may have: skillId,');
  expect(await refusal(() => registry.list({ audience: 'me' } as object))).toContain(
    'must be one of "model", "person"',
  );
});

test.each([
  ['agent', 'agentId'],
  ['bound_skills', 'boundSkills'],
  ['thread', 'threadId'],
])('a turn with %s is refused, and not taken for one that sees all skills', async (key, field) => {
  const registry = await open();
  const turn = { [key]: 'clerk' } as object;
  expect(await refusal(() => registry.context('tea', turn))).toContain(`the field is called ${field}`);
  expect(await refusal(() => registry.read('tea', {}, turn))).toContain(`turn.${key}`);
});

describe('a wrong value of the config that a program gives', () => {
  test.each([
    [{ sources: ['skills'] }, 'Write { path: "skills" } for a folder.'],
    [{ sources: ['https://skills.example.com'] }, 'Write { wellKnown: <address> }'],
    [{ sources: [{ id: 'own', skills: [] }] }, 'is given to addSource of the registry'],
    ['skills', 'The config is "skills": expected keys with values'],
  ])('%j is a problem of this program, and says what to write', async (config, message) => {
    const problems = (await open({ config })).problems();
    expect(problems.map(({ file }) => file)).not.toContainEqual(expect.stringContaining('config.yaml'));
    expect(problems.map((one) => one.message).join('\n')).toContain(message);
  });
});

test('a skill of a program without a body is reported, with what it has instead', async () => {
  const registry = await open();
  const skill = { id: 'rows', description: 'From a table.', content: 'Read rows.' };
  await registry.addSource({ id: 'table', skills: [skill as never] });
  expect(registry.problems()).toMatchObject([
    { code: 'FIELD_INVALID', message: expect.stringMatching(/it has no body, .*: `?"?content/) },
  ]);
});

test('a source that has never given a skill is not said to have a last one', async () => {
  const registry = await open();
  await registry.addSource({
    id: 'table',
    skills: () => {
      throw new Error('no connection');
    },
  });
  expect(registry.problems()[0]?.message).toContain('(no connection); no scan of it has given a skill yet.');
});
