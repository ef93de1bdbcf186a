const EVALUATE = 'extensions/skill_registry/evaluate';
const TESTS = 'test/skill_registry/evaluate';

/** What is read and run of a skill's test cases, and whose word it is. */
export const evidence = [
  {
    title: 'A pattern of a skill hangs whoever evaluates it',
    file: `${EVALUATE}/matcher.ts`,
    find: 'const signal = AbortSignal.timeout(MAX_MS);',
    replace: 'const signal = AbortSignal.timeout(MAX_MS * 1_000_000);',
    test: 'test/slow/skill_registry/evaluate/hostile-suites.test.ts',
    name: 'ends a regular expression that never ends',
  },
  {
    title: 'An absolute path of a test case is taken for one below the outputs',
    file: `${EVALUATE}/outputs.ts`,
    find: "relativeSegments(path).join('/')",
    replace: "relativeSegments(path.replace(/^.*\\//, '')).join('/')",
    test: 'test/slow/skill_registry/evaluate/hostile-suites.test.ts',
    name: 'reads nothing outside the outputs',
  },
  {
    title: 'Test cases of a held skill are run',
    file: `${EVALUATE}/evidence.ts`,
    find: "throw skillHeldOrDisabled('SKILL_HELD', skill.id);",
    replace: '{}',
    test: 'test/slow/skill_registry/evaluate/hostile-suites.test.ts',
    name: 'runs nothing of a skill that is held',
  },
  {
    title: 'A result counts for another content',
    file: `${EVALUATE}/evidence-store.ts`,
    find: "kind = 'result' AND digest = ? AND about = ?",
    replace: "kind = 'result' AND ? <> '' AND about = ?",
    test: `${TESTS}/evaluate.test.ts`,
    name: 'runs nothing twice, and everything again when the content',
  },
  {
    title: 'What would be held after a proposal is run',
    file: `${EVALUATE}/proposal-evidence.ts`,
    find: 'const [block] = changed ? await blocksIn(contents, source) : [];',
    replace: 'const [block] = changed ? (await blocksIn(contents, source)).slice(0, 0) : [];',
    test: `${TESTS}/proposal-evidence.test.ts`,
    name: 'runs nothing of a content that would be held',
  },
  {
    title: 'The claim of another tool counts as a check',
    file: `${EVALUATE}/run-cases.ts`,
    find: 'notRun: one.expectations.length,',
    replace: 'notRun: output.grading ? 0 : one.expectations.length,',
    test: `${TESTS}/evaluate.test.ts`,
    name: 'reads their grading as a claim',
  },
];
