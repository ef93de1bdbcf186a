import { createSkillRegistry, defineSource, type SkillRegistry } from 'skill-registry';
import { CodedError } from 'skill-registry/kernel';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { LONGER, TEA } from '../../helpers/tea.ts';

const throwing = {
  get skillId(): string {
    throw new Error('a getter');
  },
  get by(): string {
    throw new Error('a getter');
  },
};
/** Of every kind; some are right for some arguments. */
const VALUES: readonly unknown[] = [
  ...[undefined, null, 0, -1, 1.5, Number.NaN, true, 7n, Symbol('x'), '', 'tea', '\ud800', 'a\0b', 'x'.repeat(3_000)],
  ...[
    [],
    [1],
    ['tea'],
    {},
    { skillId: 7 },
    { by: 7 },
    { reason: 7, by: 'person:ada' },
    { agentId: 7 },
    { boundSkills: 'tea' },
  ],
  ...[{ query: 7 }, { limit: 'x' }, { limit: -1 }, { view: 'x' }, { audience: 'x' }, { content: 7, by: 7 }],
  ...[{ workflowState: 7 }, { tools: [7] }, { path: 7 }, { templates: 7 }, { dir: 7 }, { signal: 7 }, { bodies: 7 }],
  ...[Object.create(null), new Map(), new Date(), () => 7, /x/, throwing],
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('a proxy');
      },
    },
  ),
];

const NOT_CALLED = new Set(['close', 'embedSkills', 'overlap', 'contextCost', 'hiddenTextProblems']);

/** Every method of the registry and of its doors. */
function methodsOf(registry: SkillRegistry): readonly (readonly [string, (...args: unknown[]) => unknown])[] {
  const { admin, proposals, history, origin } = registry;
  const doors = { registry, proposals, history, origin, admin, management: admin.management };
  return Object.entries(doors).flatMap(([door, methods]) =>
    Object.entries(methods)
      .filter(([name, method]) => typeof method === 'function' && !NOT_CALLED.has(name))
      .map(([name, method]) => [`${door}.${name}`, method as (...args: unknown[]) => unknown] as const),
  );
}

async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

it('answers every call with any kinds of arguments, or refuses it with a code, and stores nothing', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': TEA });
  const before = registry.snapshot().skills.map(({ digest }) => digest);
  const raw: string[] = [];
  for (const [name, method] of methodsOf(registry)) {
    for (const [at, value] of VALUES.entries()) {
      for (const args of [[value], ['tea', value], ['tea', 1, value], ['tea', 'SKILL.md', value, value]]) {
        const error = await failureOf(() => method(...args));
        if (error !== undefined && !(error instanceof CodedError)) raw.push(`${name} ${at}: ${error}`);
      }
    }
  }
  expect(raw).toEqual([]);
  expect(registry.snapshot().skills.map(({ digest }) => digest)).toEqual(before);
  expect(await registry.proposals.list('all')).toEqual([]);
});

it('says what was expected, and what arrived', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': TEA });
  const { proposals, admin } = registry as unknown as {
    readonly proposals: Record<string, (...args: unknown[]) => Promise<unknown>>;
    readonly admin: { readonly management: Record<string, (...args: unknown[]) => Promise<unknown>> };
  };
  const cases: readonly (readonly [() => unknown, string])[] = [
    [() => registry.list({ query: 7 as never }), 'registry.list: query.query must be a text, got 7.'],
    [() => registry.read(null as never), 'registry.read: skillId must be a text, got null.'],
    [
      () => proposals.propose?.({ skillId: 'tea', content: LONGER, justification: ['x'] }),
      'proposals.propose: input.justification must be a text, got a list.',
    ],
    [() => proposals.get?.(throwing), 'proposals.get: id cannot be read: its getter threw.'],
    [() => proposals.propose?.(throwing), 'proposals.propose: input cannot be read: its getter threw.'],
    [
      () => proposals.list?.('waiting'),
      'must be one of "open", "stale", "approved", "rejected", "all", got "waiting".',
    ],
    [
      () => admin.management.write?.('tea', 'SKILL.md', () => 7, { by: 'person:ada' }),
      'what the function gives must be a text, got 7.',
    ],
    [
      () => admin.management.create?.('new', 'half \ud800 of a pair', { by: 'person:ada' }),
      'must be a text in whole characters, without half of a surrogate pair, got ',
    ],
    [() => createSkillRegistry({ root: 7 as never }), 'createSkillRegistry: options.root must be a text, got 7.'],
    [() => createSkillRegistry({ cache: 'ram' as never }), 'options.cache must be one of "disk", "memory", got "ram".'],
  ];
  for (const [call, message] of cases)
    expect(await failureOf(call)).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message),
    });
});

const throwsOnRead = (): object =>
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('a proxy');
      },
      ownKeys: () => {
        throw new Error('a proxy');
      },
    },
  );

const configProblems = (registry: SkillRegistry): readonly string[] =>
  registry
    .problems()
    .filter(({ code }) => code === 'CONFIG_KEY_INVALID')
    .map(({ message }) => message);

describe('a config', () => {
  it('of values that are no keys with values gives a problem for each, and the defaults', async () => {
    const yaml =
      'catalog: !!set { budget_tokens }\nwatch: 2020-01-01\nlimits: !!omap [ a: 1 ]\nwrites: !!binary aGk=\n';
    const given = parse(yaml, { customTags: ['set', 'omap', 'binary', 'timestamp'] }) as Record<string, unknown>;
    const { registry } = await openRegistry({}, { ...given, gates: { settings: { a: new Set([1]) } } });
    expect(configProblems(registry)).toHaveLength(5);
    const said = 'Config "catalog" is a value of the type Set: expected keys with values; the default is used.';
    expect(configProblems(registry)).toContainEqual(expect.stringContaining(said));
    expect(registry.config.catalog.budget_tokens).toBe(2000);
  });

  it('that throws when it is read gives a problem that names the key', async () => {
    const embeddings = {
      get base_url(): string {
        throw new Error('a getter');
      },
    };
    const sources = [{ path: 'skills' }, throwsOnRead(), { path: 'more', id: throwsOnRead() }];
    const { registry } = await openRegistry({}, { embeddings, limits: throwsOnRead(), sources });
    for (const key of ['embeddings.base_url', 'limits', 'sources.1', 'sources.2.id'])
      expect(configProblems(registry)).toContainEqual(
        expect.stringContaining(`Config "${key}" is a value that cannot be read: `),
      );
    const all = await createSkillRegistry({ config: throwsOnRead() as never, cache: 'memory' });
    expect(configProblems(all)).toEqual([expect.stringContaining('is a value that cannot be read')]);
    await all.close();
  });

  it('lists 20 wrong values of a section, and says how many more there are', async () => {
    const { registry } = await openRegistry({}, { sources: new Array(200_000).fill({ sorces: 'x' }), tools: ['x'] });
    const messages = configProblems(registry);
    expect(messages).toHaveLength(22);
    expect(messages).toContainEqual(expect.stringContaining('Config "tools.0" is "x"'));
    const said = /^Config "sources" has [\d,]+ more wrong values, which are not listed\. Correct those that are\.$/;
    expect(messages.at(-1)).toMatch(said);
  });
});

it.each([
  [null, 'defineSource: source must be an object, got null.'],
  ['tea', 'defineSource: source must be an object, got "tea".'],
  [{ id: 'a', skills: 7 }, 'source.skills must be a list of skills, or a function that gives one, got 7.'],
  [{ id: 'a b', skills: [] }, 'source.id must be letters, digits and @ . _ / - ("my-skills"), got "a b".'],
  [{ id: 7, skills: [] }, 'source.id must be a text, got 7.'],
  [{ id: 'a', skills: [], onChange: 'x' }, 'source.onChange must be a function, got "x".'],
  [throwsOnRead(), 'source cannot be read: its getter threw.'],
])('says what is wrong with a source of a program: %#', async (source, message) => {
  const refused = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(message) };
  expect(await failureOf(() => defineSource(source as never))).toMatchObject(refused);
  const { registry } = await openRegistry();
  expect(await failureOf(() => registry.addSource(source as never))).toMatchObject({ code: 'INVALID_ARGUMENT' });
});

it('a tool that a program calls itself answers whatever it is given, and never throws', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': TEA });
  const names = ['list_skills', 'read_skill', 'read_skill_resource', 'propose_skill_update', 'list_proposals'];
  for (const tool of registry.tools([
    ...names,
    'load_skill',
    'create_skill',
    'skill',
    'skill__activate',
    'skill__read_resource',
    'workflow_event',
  ])) {
    const execute = tool.execute as (...args: unknown[]) => Promise<unknown>;
    for (const value of VALUES)
      for (const call of [undefined, null, 7, {}, { turn: null }, throwsOnRead()])
        expect(await execute(value, call)).toMatchObject({ success: expect.any(Boolean) });
    expect(await execute(null)).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
  }
  const [list] = registry.tools(['list_skills']);
  expect(await list?.execute({} as never, {} as never)).toMatchObject({ success: true, total: 1 });
});

describe('who did something', () => {
  const NAMES = [
    'AGENT:x',
    'Agent:x',
    'ada',
    '',
    ' ',
    'person:',
    'person: ',
    'agent:',
    'agent:x\ny',
    'person:\u202eada',
  ];
  const MORE = ['person:\ud800', `person:${'x'.repeat(200)}`, 'person:a\0', 'UNKNOWN', 7, null, undefined];

  it.each([...NAMES, ...MORE])('is refused as %j', async (by) => {
    const { registry } = await openRegistry({ 'skills/tea/SKILL.md': TEA });
    const input = { skillId: 'tea', content: LONGER, justification: 'Weak.', author: 'agent:brewer' };
    const { proposalId } = await registry.proposals.propose(input);
    const actor = { by: by as string, reason: 'x' };
    const refused = {
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('person:<name>, agent:<id> or unknown'),
    };
    if (typeof by !== 'string') refused.message = expect.stringContaining('must be a text');
    if (by === 'person:\ud800') refused.message = expect.stringContaining('whole characters');
    expect(await failureOf(() => registry.proposals.approve(proposalId, actor))).toMatchObject(refused);
    expect(await failureOf(() => registry.proposals.reject(proposalId, actor))).toMatchObject(refused);
    expect(await failureOf(() => registry.admin.management.remove('tea', actor))).toMatchObject(refused);
    expect(await failureOf(() => registry.history.rollback('tea', 1, actor))).toMatchObject(refused);
    if (by !== undefined)
      expect(await failureOf(() => registry.proposals.propose({ ...input, author: actor.by }))).toMatchObject(refused);
    expect((await registry.proposals.get(proposalId)).state).toBe('open');
  });

  it.each([
    ['AGENT:x', 'Only a person decides'],
    ['', "option '--by <name>' is empty"],
    [' ', 'person:<name>, agent:<id> or unknown'],
    ['a\nb', 'person:<name>, agent:<id> or unknown'],
  ])('is refused by the command as %j', async (by, why) => {
    const { root, registry } = await openRegistry({ 'skills/tea/SKILL.md': TEA });
    const input = { skillId: 'tea', content: LONGER, justification: 'Weak.', author: 'agent:brewer' };
    const { proposalId } = await registry.proposals.propose(input);
    const { status, stderr } = await runCommand(['proposals', 'approve', proposalId, '--by', by, '--root', root]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(why)]);
    expect((await registry.proposals.get(proposalId)).state).toBe('open');
  });
});
