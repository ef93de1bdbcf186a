/** What is read and run of a skill's test cases, and whose word it is. */
export const evidence = [
  {
    title: 'A pattern of a skill hangs whoever evaluates it',
    in: 'createMatcher.matches',
    swap: ['AbortSignal.timeout(MAX_MS)', 'AbortSignal.timeout(MAX_MS * 1_000_000)'],
    test: 'ends a regular expression that never ends',
  },
  {
    title: 'An absolute path of a test case is taken for one below the outputs',
    in: 'fileIn',
    swap: ['relativeSegments(path)', "relativeSegments(path.replace(/^.*\\//, ''))"],
    test: 'reads nothing outside the outputs',
  },
  {
    title: 'Test cases of a held skill are run',
    in: 'createEvaluation.evaluate',
    swap: ["throw skillHeldOrDisabled('SKILL_HELD', skill.id);", '{}'],
    test: 'runs nothing of a skill that is held',
  },
  {
    title: 'A result counts for another content',
    in: 'resultOf',
    text: ["kind = 'result' AND digest = ? AND about = ?", "kind = 'result' AND ? <> '' AND about = ?"],
    test: 'runs nothing twice, and everything again when the content',
  },
  {
    title: 'What would be held after a proposal is run',
    in: 'runBoth',
    swap: ['after.files', 'after.files.slice(after.files.length)'],
    test: 'runs nothing of a content that would be held',
  },
  {
    title: 'The claim of another tool counts as a check',
    in: 'runCases',
    swap: ['one.expectations.length', '(output?.grading ? 0 : one.expectations.length)'],
    test: 'reads their grading as a claim',
  },
];
