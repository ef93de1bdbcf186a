/** What an inspection makes of two facts, of samples, and of orders. */
export const inspections = [
  {
    title: 'Two facts block wherever they are in one file',
    in: 'firstThatFlows',
    swap: ['DATA.test(path) ? 0 : NEAR', 'DATA.test(path) ? 0 : NEAR * NEAR'],
    test: 'block in two functions of which the lines are at most 60 apart',
  },
  {
    title: 'Two facts of one function block only where they are near each other',
    in: 'functionsOf',
    swap: ['isFunction === undefined', 'isFunction !== null'],
    test: 'block in one function of any length, and not in two',
  },
  {
    title: 'What was read may stand in the arguments of what sends',
    in: 'namesIn',
    swap: ['assigned ?? named', 'named'],
    test: 'block where a name stands in the arguments',
  },
  {
    title: 'An attack beside samples is only a warning, although something leads there',
    in: 'isAside',
    swap: ['leadsTo(file.path.toLowerCase(), other)', 'other.path === file.path'],
    test: 'what blocks, among samples that nothing leads to, is a warning',
  },
  {
    title: 'A program among samples is only a sample',
    in: 'liesAside',
    swap: ['!executable', '!isSkillFileName(name)'],
    test: 'what blocks, among samples that nothing leads to, is a warning',
  },
  {
    title: 'Samples that nothing leads to hold a skill',
    in: 'liesAside',
    swap: ['SAMPLES.test(one)', 'one === path'],
    test: 'what blocks, among samples that nothing leads to, is a warning',
  },
  {
    title: 'Sentences that only name a secret and a server are an order',
    in: 'isOrder',
    swap: ['!part.test(sentence) || ORDER.test(sentence)', 'sentence.length > 0'],
    test: 'is not found in "Do not ask them for all credentials.',
  },
  {
    title: 'What a list of wrong ways names is a warning',
    in: 'stanceOf',
    swap: ['FORBIDS.test(heading)', 'heading.length < 0'],
    test: 'is nothing where the sentence says not to do it, unless it would be an attack',
  },
  {
    title: 'A host that the text names is undeclared',
    in: 'undeclaredHosts',
    swap: ['!named.has(domainOf(what))', 'named.size >= 0'],
    test: 'is not found in {"SKILL.md":"Uses https://api.tea.example/v1.',
  },
  {
    title: 'A secret that a skill reads beside an undeclared host does not count',
    in: 'undeclaredHosts',
    swap: ['HARM.test(one)', "one === ''"],
    test: 'is found in {"SKILL.md":"Lists changes.',
  },
  {
    title: 'A skill is not followed from the file that leads to another one',
    in: 'linesInOrder',
    swap: ['begin(byName.get(name))', 'byName.get(name)'],
    test: 'over files, in the order in which they are read',
  },
  {
    title: 'What was fetched loses its mark under another name',
    in: 'stepsOf',
    swap: ['step ??= one.step', 'step ??= undefined'],
    test: 'under another name',
  },
  {
    title: 'A secret that is kept in one step and sent in another is only a warning',
    in: 'stepsOf',
    swap: ['one.step === SECRETS', "one.name === ''"],
    test: 'is found in "```sh',
  },
  {
    title: 'A host that is named once is no stray one',
    in: 'strayHosts',
    swap: ['count <= 2', 'count <= 0'],
    test: 'is found in "When the tea is brewed',
  },
  {
    title: 'A host that is named often is a stray one',
    in: 'strayHosts',
    swap: ['count <= 2', 'count >= 0'],
    test: 'is not found in "Send the list to https',
  },
  {
    title: 'A step for which the user is asked is an alarm',
    in: 'stanceOf',
    swap: ['ASKS', 'EXPRESSION'],
    test: 'is not found in "Add a cron job, but only if the user agrees.',
  },
  {
    title: 'Bytes that were judged as data are not judged as SKILL.md',
    in: 'keyOfFile',
    swap: ['nameOf(path)', "''"],
    test: 'gives no model a body whose bytes lay in another skill as data and were harmless there',
  },
  {
    title: 'Bytes that were judged as data are not judged as a script',
    in: 'keyOfFile',
    swap: [
      '[digest, script, executable, nameOf(path)]',
      '[digest, script && false, executable && false, nameOf(path)]',
    ],
    test: 'judges the same bytes again as a script, and under a name of another kind',
  },
  {
    title: 'Data is not searched for orders of prose',
    in: 'matchesOfFile',
    swap: [
      "where === undefined || (where === 'prose') === file.prose",
      "where === undefined ? !file.path.endsWith('.csv') : (where === 'prose') === file.prose",
    ],
    test: 'finds orders of prose in data',
  },
  {
    title: 'A file that is known is left out of the rules about all files',
    in: 'inspect',
    swap: [
      'result.reach.map((one) => ({ ...one, file: path }))',
      'known?.has(key) ? [] : result.reach.map((one) => ({ ...one, file: path }))',
    ],
    test: 'asks rules about several files again when one of them has changed',
  },
  {
    title: 'A line counts as judged for the file that it stands in',
    in: 'JudgedLines.judge',
    swap: ['digestOf(text)', 'digestOf(digest)'],
    test: 'judges a line once for all processes of the user',
  },
];
