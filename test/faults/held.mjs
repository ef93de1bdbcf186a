const TRUST = 'extensions/skill_registry/trust';
const CLI_TESTS = 'test/cli/held-skills.test.ts';
const DOOR_TESTS = 'test/e2e/held-skills.test.ts';
const DECISION_TESTS = 'test/cli/held-after-decision.test.ts';

/** Skills that are held, and what releases them. */
export const held = [
  {
    title: 'A held skill is at every door of agents',
    file: 'extensions/skill_registry/show/scope.ts',
    find: "if (heldBecause !== undefined) return 'SKILL_HELD';",
    replace: '',
    test: DOOR_TESTS,
    name: 'is at no door of an agent in the catalog, and the others are',
  },
  {
    title: 'What no inspection has seen becomes instructions of the agent that is bound to it',
    file: 'extensions/skill_registry/read/reading.ts',
    find: "request.audience !== 'person' || request.turn !== undefined",
    replace: "request.audience === 'model'",
    test: DOOR_TESTS,
    name: 'is not in the instructions of the agent that is bound to it',
  },
  {
    title: 'What no inspection has seen is read as it is',
    file: 'extensions/skill_registry/read/reading.ts',
    find: 'const isHeld = await admit(skill);',
    replace: "const isHeld = typeof admit !== 'function';",
    test: DOOR_TESTS,
    name: 'is inspected before it is read, when no inspection has seen it yet',
  },
  {
    title: 'A file that was written beside a clean SKILL.md is taken for inspected',
    file: 'extensions/skill_registry/sources/walk/inspected-files.ts',
    find: '[realFile, ...(dir === null ? [] : paths.map((path) => join(dir, path)))]',
    replace: '[realFile]',
    test: CLI_TESTS,
    name: 'sees a file that was written beside a clean SKILL.md long ago',
  },
  {
    title: 'A skill that was brought in is shown before it is inspected',
    file: `${TRUST}/holds.ts`,
    find: 'if (isForeign) return entry ? this.#reasonOf(skill, entry) : NOT_INSPECTED;',
    replace: 'if (isForeign) return entry && this.#reasonOf(skill, entry);',
    test: CLI_TESTS,
    name: 'is not inspected by a command that only lists',
  },
  {
    title: 'A verdict of a root releases its skills',
    file: 'extensions/skill_registry/parts.ts',
    find: ': inspectionsFile(),',
    replace: ": join(dataDir, 'inspections.db'),",
    test: CLI_TESTS,
    name: 'takes no verdict from a root, whatever lies in it',
  },
  {
    title: 'A verdict from a file that others can write releases skills',
    file: `${TRUST}/inspections.ts`,
    find: 'const trouble = file && whyNotBelieved(file);',
    replace: 'const trouble = file && file.length === 0 ? whyNotBelieved(file) : undefined;',
    test: CLI_TESTS,
    name: 'takes no verdict from a file that others can write',
  },
  {
    title: 'A skill is allowed by another digest',
    file: `${TRUST}/holds.ts`,
    find: 'if (digest !== undefined && digest !== entry.digest) throw otherDigest(skill, digest, entry.digest);',
    replace: "if (digest === '') throw otherDigest(skill, digest, entry.digest);",
    test: CLI_TESTS,
    name: 'is not allowed by another digest',
  },
  {
    title: 'A yes to one finding allows the others of the skill',
    file: `${TRUST}/approvals.ts`,
    find: 'findings.every(isDecided)',
    replace: 'findings.some(isDecided)',
    test: CLI_TESTS,
    name: 'takes a yes to one’s own across edits, and no yes to another finding',
  },
  {
    title: 'A yes to what was brought in holds across edits',
    file: `${TRUST}/approvals.ts`,
    find: 'JSON.stringify([kind, subject.digest])',
    replace: 'JSON.stringify([kind, subject.path])',
    test: CLI_TESTS,
    name: 'takes a yes to what was brought in for those bytes alone',
  },
  {
    title: 'An agent that approves a proposal allows what is in it',
    file: 'extensions/skill_registry/blocks-after.ts',
    find: "if (heldBecause === null || !by.startsWith('person:')) return heldBecause;",
    replace: 'if (heldBecause === null) return heldBecause;',
    test: DECISION_TESTS,
    name: 'allows nothing when an agent approves',
  },
  {
    title: 'Approving a proposal allows what somebody else has added',
    file: 'extensions/skill_registry/blocks-after.ts',
    find: 'if (others.length > 0) return heldBecause;',
    replace: '',
    test: DECISION_TESTS,
    name: 'allows what was shown, and nothing that somebody added meanwhile',
  },
];
