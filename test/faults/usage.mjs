/** What is recorded of agents, and what never is. */
export const usage = [
  {
    title: 'What a model asks for is kept as an id, whatever it is',
    in: 'recordedId',
    swap: ["COULD_BE_ID.test(String(one)) ? String(one) : '(invalid)'", 'String(one)'],
    test: 'records the loads, files, refusals and failures of a turn, and no word of them',
  },
  {
    title: 'What a person looks at counts as the use of an agent',
    in: 'createUsageRecorder.loaded',
    never: "turn?.preview || (audience === 'person' && turn === undefined)",
    test: 'records nothing for what only a person sees',
  },
  {
    title: 'The name of a person who decides is kept',
    in: 'agentOf',
    swap: ["by?.startsWith('agent:') ? by.slice('agent:'.length) : undefined", 'by'],
    test: 'records the steps of a proposal: who asked for it, and that a person decided',
  },
  {
    title: 'The usage.db of a root that nobody has approved is opened',
    in: 'createUsage',
    swap: ["core.trusted && core.options.cache !== 'memory'", "core.options.cache !== 'memory'"],
    test: 'opens no usage.db that lies in a root that nobody has approved',
  },
  {
    title: 'usage: false is not obeyed',
    in: 'createUsage.mayRecord',
    drop: 'config.usage',
    test: 'records nothing with usage: false',
  },
  {
    title: 'What is noted when the registry closes is lost',
    in: 'createUsage.close',
    drop: 'await flushAll();',
    test: 'writes within 200 milliseconds without being asked, and at close',
  },
  {
    title: 'A read whose bytes are not handed over counts as a load',
    in: 'SkillReading.#load',
    swap: [
      "if (details) later(() => report('success', null, skill, handed));",
      "if (handed) later(() => report('success', null, skill, handed));",
    ],
    test: 'records one read of a file that has changed since it was published',
  },
  {
    title: 'Any text is kept as an outcome',
    in: 'rowOf',
    swap: ["outcome: CODE.test(outcome) || WORD.test(outcome) ? outcome : 'OTHER'", 'outcome'],
    test: 'keeps a code or one word as the outcome',
  },
  {
    title: 'A path that an agent asks for is kept, also where the skill has no such file',
    in: 'createUsageRecorder.loaded',
    swap: ["path ?? '(missing)'", "path ?? event.path ?? '(missing)'"],
    test: 'counts each file of a skill that agents open',
  },
  {
    title: 'What is said of a conversation counts for the conversation of the same name of another agent',
    in: 'usageDatabase',
    text: ['thread = ? AND agent IS ?', 'thread = ? AND (agent IS ? OR true)'],
    test: 'notes an outcome for each skill that the agent of the conversation has loaded',
  },
  {
    title: 'An agent is told that it has a body which another agent had in a conversation of the same name',
    in: 'createLedger',
    text: [
      "FROM handed WHERE agent = ? AND thread = ? AND skill = ? AND path = ''",
      "FROM handed WHERE (agent = ? OR true) AND thread = ? AND skill = ? AND path = ''",
    ],
    test: 'says since when a named conversation has a body',
  },
  {
    title: 'The body of a conversation that nobody has named is not given again',
    in: 'createMeter',
    never: '!turn.ownThread || turn.threadId === undefined || turn.preview || !mayRecord()',
    test: 'says since when a named conversation has a body',
  },
  {
    title: 'What goes beyond a limit is counted and handed over all the same',
    in: 'createMeter',
    swap: ['spent[of] > most', 'spent[of] > most && tokens < 0'],
    test: 'warns from 80 % of the tokens of a conversation on',
  },
  {
    title: 'Under a limit, what cannot be counted is handed over',
    in: 'createMeter',
    never: 'kinds.length > 0',
    test: 'gives nothing under a limit while it cannot be counted',
  },
  {
    title: 'A limit that nothing counts is no problem',
    in: 'limitProblems',
    always: 'set.length === 0 || mayRecord()',
    test: 'says at load that nothing obeys',
  },
  {
    title: 'A conversation is given back to an agent of another name',
    in: 'createLedger',
    text: [
      'SELECT * FROM handed WHERE agent = ? AND thread = ? ORDER',
      'SELECT * FROM handed WHERE (agent = ? OR true) AND thread = ? ORDER',
    ],
    test: 'gives no other agent anything, and no other conversation',
  },
  {
    title: 'What a conversation had is given back as to a person, out of scope',
    in: 'SkillReading.readWithin',
    swap: ["audience: 'model'", "audience: 'person'"],
    test: 'gives back what a conversation had, in order, as it is today',
  },
  {
    title: 'The prompt of what a conversation had is there for clients without a name',
    in: 'open',
    swap: [
      'const { agentId: agent, threadId: thread, ownThread } = given;',
      "const { agentId: agent = '', threadId: thread = '', ownThread = true } = given;",
    ],
    test: 'is a prompt of MCP where agent and conversation have names',
  },
  {
    title: 'A long name of an agent is cut, so that two become one',
    in: 'boundedName',
    swap: ["createHash('sha256').update(name)", "createHash('sha256').update(name.slice(0, MAX_NAME))"],
    test: 'cuts long names of agents and threads, and still tells two apart',
  },
  {
    title: 'A held skill is called unused',
    in: 'loadableIn.isLoadable',
    drop: 'heldBecause === undefined',
    test: 'does not call a skill unused that no agent may have',
  },
  {
    title: 'A body that was given without a request counts as an offer that was taken',
    in: 'usageReport',
    text: [" AND outcome <> 'given'", ''],
    test: 'does not take a body that was given without a request',
  },
  {
    title: 'A usage.db that another process has locked is taken for a damaged one',
    in: 'createUsageFile.use',
    drop: "sqliteFailure(error) !== 'damaged'",
    test: 'waits for a file that another process has locked, fails no reader, and writes it all later',
  },
  {
    title: 'What agents did is kept for ever',
    in: 'removeOld',
    text: ['(id <= ? OR time < ?)', '(id <= ? OR time + 1e15 < ?)'],
    test: 'removes events and offers that are older than 180 days',
  },
];
