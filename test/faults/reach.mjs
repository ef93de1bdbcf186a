/** What a skill reaches, as inspections say. */
export const reach = [
  {
    title: 'Prose counts as what a skill does',
    in: 'createReach',
    never: '!passage.isCodeAt(start)',
    test: 'takes fenced blocks of SKILL.md for code, and its prose for none',
  },
  {
    title: 'A host in a comment counts as sent to',
    in: 'hostOf',
    never: 'COMMENT.test(before)',
    test: 'of a line of code in a.js, // see https://docs.example.com/',
  },
  {
    title: 'A host with letters of another script is shown as the one that it looks like',
    in: 'hostOf',
    swap: ["words.includes('://') && FOREIGN.exec(line)", "words.includes('') && FOREIGN.exec('')"],
    test: 'of a line of code in a.js, fetch("https://tеa.example.com/")',
  },
  {
    title: 'What a skill reaches shows a key',
    in: 'inOneLine',
    swap: ['withoutKeys(words.slice(0, 500))', 'words.slice(0, 500)'],
    test: 'shows no key, no control character and no more than a line of 120 characters',
  },
  {
    title: 'What is not listed is not counted',
    in: 'listReach',
    swap: ['all.length - MOST', '1'],
    test: 'names each thing once, where it is said first, and counts what is more than a hundred of a kind',
  },
  {
    title: 'A proposal is compared with nothing',
    in: 'HeldSkills.inspectAfter',
    swap: ['skill ? (await this.trustOf(skill)).reach : []', '[]'],
    test: 'compares a proposal with the whole skill, not with the file that it changes',
  },
  {
    title: 'A proposal that reaches further does not say so',
    in: 'describeProposal',
    swap: ['reaches ? [reaches] : []', '[]'],
    test: 'says in one line above the difference where a proposal reaches further, at every door',
  },
  {
    title: 'An update that reaches further does not say so',
    in: 'furtherReach',
    swap: ['!known.has(keyOf(one))', 'known.has(keyOf(one))'],
    test: 'says so of an update, by the command and on the page',
  },
  {
    title: 'What a skill reaches is lost with the process',
    in: 'readInspection',
    swap: ['...JSON.parse(row.findings)', '...{ ...JSON.parse(row.findings), reach: [] }'],
    test: 'outlives the process that inspected',
  },
  {
    title: 'A terminal obeys the name of a program',
    in: 'reachLines',
    swap: ['oneLine(file, 200)', 'file'],
    test: 'is shown by show tea, with nothing that a terminal obeys',
  },
];
