const DECIDE = 'extensions/skill_registry/decide';
const PROPOSE = 'extensions/skill_registry/propose';
const DECIDE_TESTS = 'test/skill_registry/decide';

/** Who decides on what, what authors are shown, and what they may propose. */
export const proposals = [
  {
    title: 'Five characters of an id name a proposal',
    file: `${PROPOSE}/proposal-store.ts`,
    find: 'const FEWEST_CHARACTERS = 6;',
    replace: 'const FEWEST_CHARACTERS = 5;',
    test: 'test/cli/decide-after-seeing.test.ts',
    name: 'takes no fewer than six characters of an id, whoever is there',
  },
  {
    title: 'A part of an id decides where nobody sees what it is',
    file: 'cli/commands/changes/proposals.ts',
    find: 'if (!terminal.ask && idOrPart !== id) {',
    replace: "if (!terminal.ask && idOrPart !== id && id === '') {",
    test: 'test/cli/decide-after-seeing.test.ts',
    name: 'decides by a part of an id only where somebody sees what it is',
  },
  {
    title: 'The command approves another text than it has shown',
    file: 'cli/commands/changes/proposals.ts',
    find: 'proposals.approve(id, { ...actor, version })',
    replace: 'proposals.approve(id, { ...actor, ...(version ? {} : { version }) })',
    test: 'test/cli/decide-after-seeing.test.ts',
    name: 'approves what was shown, and nothing that somebody has made of it since',
  },
  {
    title: 'A roll-back asks nobody',
    file: 'cli/commands/changes/history.ts',
    find: "if (now === '') break;",
    replace: 'if (now !== undefined) break;',
    test: 'test/cli/decide-after-seeing.test.ts',
    name: 'shows what a roll-back will do, asks, and does nothing without a yes',
  },
  {
    title: 'A part of an id decides in a conversation before it was shown',
    file: 'extensions/skill_registry/proposals-command.ts',
    find: 'const shown = seen.get(key);',
    replace: 'const shown = seen.get(key) ?? { version, blocks: [] };',
    test: 'test/e2e/proposals.test.ts',
    name: 'decides in the channel by a part of an id only after it has shown what that is',
  },
  {
    title: 'An agent is shown the proposals of others',
    file: 'extensions/skill_registry/tools/list-proposals.ts',
    find: '{ author, skillId, limit }',
    replace: '{ skillId, limit }',
    test: 'test/skill_registry/propose/authors.test.ts',
    name: 'shows nobody else’s, and nothing to a caller that is no agent',
  },
  {
    title: 'A content that was rejected is proposed again',
    file: `${PROPOSE}/propose.ts`,
    find: 'if (rejected) {',
    replace: "if (rejected?.id === '') {",
    test: 'test/skill_registry/propose/authors.test.ts',
    name: 'is refused with the reason when any agent proposes it again, whatever way it is given',
  },
  {
    title: 'A rejection is forgotten with the texts that were purged',
    file: `${DECIDE}/purge.ts`,
    find: "addEvent(database, id, 'purged', mark, { marks });",
    replace: "addEvent(database, id, 'purged', mark, { marks: marks.slice(0, 0) });",
    test: 'test/skill_registry/propose/rejected-again.test.ts',
    name: 'after its texts were purged, twice, with the reason without what it quotes, and so is a removal',
  },
  {
    title: 'A program decides by a part of an id',
    file: `${DECIDE}/decide.ts`,
    find: 'const row = rowOf(writer.database(), id);',
    replace:
      "const row = writer.database().prepare<ProposalRow>('SELECT * FROM proposal').get() ?? rowOf(writer.database(), id);",
    test: `${DECIDE_TESTS}/whole-ids.test.ts`,
    name: 'programs decide, recommend, edit and purge by whole ids only, and are told them',
  },
  {
    title: 'Hidden characters of a reason reach a model',
    file: 'extensions/skill_registry/tools/list-proposals.ts',
    find: 'return text && showHidden(text);',
    replace: 'return text && (showHidden(text) ? text : null);',
    test: `${DECIDE_TESTS}/hidden-words.test.ts`,
    name: 'hidden characters in what is said of a proposal reach no model and no terminal, and are shown instead',
  },
  {
    title: 'An agent has as many open proposals for a skill as it likes',
    file: `${PROPOSE}/propose.ts`,
    find: 'if (waiting.length >= MAX_WAITING_OF_AUTHOR)',
    replace: 'if (waiting.length >= MAX_OPEN)',
    test: 'test/skill_registry/propose/authors.test.ts',
    name: 'are at most five of one agent for one skill; the sixth is told which wait, and may come when one is decided',
  },
  {
    title: 'A proposal that does not apply any more is shown as open',
    file: `${DECIDE}/plan.ts`,
    find: "return { ...row, state: 'stale', conflict: plan.conflict || plan.stale };",
    replace: 'return row;',
    test: `${DECIDE_TESTS}/stale-when-shown.test.ts`,
    name: 'is stale in the list and when it is shown, with the conflict, before anybody has tried to approve it',
  },
];
