/** What an agent may do of a skill that it has turned off, what is taken from a report, what a repair and a merge may write. */
export const waysBack = [
  {
    title: 'The size of a merged text is unchecked',
    in: 'planOf',
    swap: [
      'checkSize(plan.location, row.path, plan.after, context.limits)',
      'plan.merged || checkSize(plan.location, row.path, plan.after, context.limits)',
    ],
    test: 'is not applied when both changes together are larger than a file may be',
  },
  {
    title: 'NFKC is dropped from the comparison of ids that look alike',
    in: 'looksOf',
    swap: ["id.normalize('NFKC')", 'id'],
    test: 'says that two ids look alike: composed and decomposed letters',
  },
  {
    title: 'NFKC is dropped from the comparison of a name with the id',
    in: 'readName',
    drop: "name.normalize('NFKC') !== directory.normalize('NFKC')",
    test: 'compares the name with the directory, which is the id, however both write one letter',
  },
  {
    title: 'A file is written under its new name before the old one is gone',
    in: 'inSafeOrder',
    swap: [
      '[...changes.filter(isFirst), ...changes.filter((change) => !isFirst(change))]',
      'isFirst === undefined ? [] : [...changes].reverse()',
    ],
    test: 'removes the file of the old name before it writes the new one',
    build: true,
  },
  {
    title: 'Any agent may turn on a skill that another one has turned off',
    in: 'skillTurnedOffBy',
    swap: [`author !== \`agent:\${turn.agentId}\``, `author === '' && author !== \`agent:\${turn.agentId}\``],
    test: 'answers another agent as if the skill were not there',
  },
  {
    title: 'An agent changes more of a skill that it does not see than the field',
    in: 'requestOf',
    drop: 'turnsOn(own.id, request.before, request.after)',
    test: 'answers the agent that changes more as if the skill were not there',
  },
  {
    title: 'The way back stays open after somebody else has changed the skill',
    in: 'skillTurnedOffBy',
    swap: ['treeDigest(files) === last.digest ? skill : undefined', "treeDigest(files) === '' ? undefined : skill"],
    test: 'ends with the next change, whoever makes it',
  },
  {
    title: 'A report with hidden characters becomes a proposal',
    in: 'proposalInReport',
    swap: [
      "if (hidden) throw invalid('it has a character that nobody sees, which a report writes as ⟦U+...⟧');",
      "if (hidden?.char === '') throw invalid('it has a character that nobody sees, which a report writes as ⟦U+...⟧');",
    ],
    test: 'refuses a report with a mark that turns the direction',
    build: true,
  },
  {
    title: 'A repair makes a text of a mapping',
    in: 'keepsFields',
    swap: ['[...given]', '[...given].slice(given.size)'],
    test: 'leaves alone what has a tab before a key',
  },
];
