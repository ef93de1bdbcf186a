const USAGE = 'extensions/skill_registry/usage';

/** What is recorded of agents, and what never is. */
export const usage = [
  {
    title: 'What a model asks for is kept as an id, whatever it is',
    file: `${USAGE}/recorder.ts`,
    find: "COULD_BE_ID.test(asked) ? asked : '(invalid)'",
    replace: 'asked',
    test: 'test/slow/e2e/usage.test.ts',
    name: 'records the loads, files, refusals and failures of a turn, and no word of them',
  },
  {
    title: 'What a person looks at counts as the use of an agent',
    file: `${USAGE}/recorder.ts`,
    find: "if (turn?.preview || (audience === 'person' && turn === undefined)) return;",
    replace: '',
    test: 'test/slow/e2e/usage.test.ts',
    name: 'records nothing for what only a person sees',
  },
  {
    title: 'The name of a person who decides is kept',
    file: 'extensions/skill_registry/record-steps.ts',
    find: "return by?.startsWith('agent:') ? by.slice('agent:'.length) : undefined;",
    replace: 'return by;',
    test: 'test/slow/e2e/usage.test.ts',
    name: 'records the steps of a proposal: who asked for it, and that a person decided',
  },
  {
    title: 'The usage.db of a root that nobody has approved is opened',
    file: 'extensions/skill_registry/parts.ts',
    find: "onDisk: trusted && options.cache !== 'memory'",
    replace: "onDisk: options.cache !== 'memory'",
    test: 'test/slow/skill_registry/usage/recording.test.ts',
    name: 'opens no usage.db that lies in a root that nobody has approved',
  },
  {
    title: 'usage: false is not obeyed',
    file: `${USAGE}/usage.ts`,
    find: 'chosen ??= isOn && whyNoSqlite() === undefined',
    replace: 'chosen ??= whyNoSqlite() === undefined',
    test: 'test/slow/e2e/usage.test.ts',
    name: 'records nothing with usage: false',
  },
  {
    title: 'What is noted when the registry closes is lost',
    file: `${USAGE}/usage.ts`,
    find: 'for (let waited = 0; !(await flush()) && waited < PATIENCE_MS; waited += FLUSH_MS) await wait(FLUSH_MS);\n      kept?.file.close();',
    replace: 'kept?.file.close();',
    test: 'test/slow/skill_registry/usage/recording.test.ts',
    name: 'writes within 200 milliseconds without being asked, and at close',
  },
  {
    title: 'A read whose bytes are not handed over counts as a load',
    file: 'extensions/skill_registry/read/reading.ts',
    find: 'if (details) (request.later',
    replace: '(request.later',
    test: 'test/skill_mcp/usage.test.ts',
    name: 'records one read of a file that has changed since it was published',
  },
];
