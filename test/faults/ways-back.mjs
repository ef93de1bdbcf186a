const DECIDE = 'extensions/skill_registry/decide';
const PROPOSE = 'extensions/skill_registry/propose';
const TURNED_OFF = 'test/skill_registry/propose/turned-off.test.ts';

/** What an agent may do of a skill that it has turned off, what is taken from a report, what a repair and a merge may write. */
export const waysBack = [
  {
    title: 'The size of a merged text is unchecked',
    file: `${DECIDE}/apply-or-stale.ts`,
    find: 'checkSize(plan.location, row.path, plan.after, context.limits);',
    replace: 'if (!plan.merged) checkSize(plan.location, row.path, plan.after, context.limits);',
    test: 'test/skill_registry/decide/decide.test.ts',
    name: 'is not applied when both changes together are larger than a file may be',
  },
  {
    title: 'NFKC is dropped from the comparison of ids that look alike',
    file: 'extensions/skill_registry/catalog/confusable-ids.ts',
    find: "const text = id.normalize('NFKC');",
    replace: 'const text = id;',
    test: 'test/skill_registry/catalog/confusable-ids.test.ts',
    name: 'says that two ids look alike: composed and decomposed letters',
  },
  {
    title: 'NFKC is dropped from the comparison of a name with the id',
    file: 'extensions/skill_registry/skill/parse-skill.ts',
    find: "if (name !== directory && name.normalize('NFKC') !== directory.normalize('NFKC')) {",
    replace: 'if (name !== directory) {',
    test: 'test/skill_registry/skill/name-and-id.test.ts',
    name: 'compares the name with the directory, which is the id, however both write one letter',
  },
  {
    title: 'A file is written under its new name before the old one is gone',
    file: 'extensions/skill_registry/history/writer.ts',
    find: 'return [...changes.filter(isFirst), ...changes.filter((change) => !isFirst(change))];',
    replace: 'return isFirst === undefined ? [] : [...changes].reverse();',
    test: 'test/cli/doctor-fix.test.ts',
    name: 'removes the file of the old name before it writes the new one',
    build: true,
  },
  {
    title: 'Any agent may turn on a skill that another one has turned off',
    file: `${PROPOSE}/turned-off.ts`,
    find: 'if (author !== ',
    replace: "if (author === '' && author !== ",
    test: TURNED_OFF,
    name: 'answers another agent as if the skill were not there',
  },
  {
    title: 'An agent changes more of a skill that it does not see than the field',
    file: `${PROPOSE}/propose.ts`,
    find: ' && turnsOn(request.before, request.after)',
    replace: ' && turnsOn !== undefined',
    test: TURNED_OFF,
    name: 'answers the agent that changes more as if the skill were not there',
  },
  {
    title: 'The way back stays open after somebody else has changed the skill',
    file: `${PROPOSE}/turned-off.ts`,
    find: 'return treeDigest(files) === last.digest ? skill : undefined;',
    replace: "return treeDigest(files) === '' ? undefined : skill;",
    test: TURNED_OFF,
    name: 'ends with the next change, whoever makes it',
  },
  {
    title: 'A report with hidden characters becomes a proposal',
    file: `${PROPOSE}/read-report.ts`,
    find: 'if (hidden)',
    replace: "if (hidden?.char === '')",
    test: 'test/skill_registry/propose/read-report.test.ts',
    name: 'refuses a report with a mark that turns the direction',
    build: true,
  },
  {
    title: 'A repair makes a text of a mapping',
    file: 'extensions/skill_registry/skill/repair.ts',
    find: 'return [...given].every(',
    replace: 'return [...given].slice(given.size).every(',
    test: 'test/skill_registry/skill/repair.test.ts',
    name: 'leaves alone what has a tab before a key',
  },
];
