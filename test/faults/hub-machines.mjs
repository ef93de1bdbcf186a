/** What a machine takes from a hub, what goes there, and what waits for it. */
export const hubMachines = [
  {
    title: 'A proposal goes where a redirection leads',
    in: 'answerOf',
    swap: ["redirect: 'manual'", "redirect: 'follow'"],
    test: 'sends a proposal to no other address',
  },
  {
    title: 'A hub is asked with a secret that was approved for its first address alone',
    in: 'createHub.use',
    swap: [
      'addresses.map(headersOf)',
      'addresses.map((one, at) => (at === current ? headersOf(one) : { origin: one, values: {}, secrets: [] }))',
    ],
    test: 'asks nothing before a person has approved that the secret goes to each of its addresses',
  },
  {
    title: 'Code comes from a hub',
    in: 'withoutExtensions',
    swap: ['!isCode(path)', "(!isCode(path) || path !== '')"],
    test: 'lists only what its entry names',
  },
  {
    title: 'A proposal is given up while the hub is away',
    in: 'Outbox.#sendOne',
    swap: ['error.details.refused !== true', "error.code === ''"],
    test: 'keeps proposals on disk while the hub is away',
  },
  {
    title: 'A proposal that had waited is gone when the hub refuses it',
    in: 'Outbox.#sendOne',
    swap: [
      'this.#write(file, { proposal, refused: { code: error.code, message: error.message } });',
      'this.#remove(file);',
    ],
    test: 'refuses what the hub refuses, keeps nothing of it',
  },
  {
    title: 'A machine goes on from its number after another epoch',
    in: 'readNews',
    swap: ['answer.epoch !== at.epoch || answer.head < at.seq', 'answer.head < at.seq'],
    test: 'reads everything anew after another epoch',
  },
  {
    title: 'A machine goes on from its number after a head that went back',
    in: 'readNews',
    swap: ['answer.epoch !== at.epoch || answer.head < at.seq', 'answer.epoch !== at.epoch'],
    test: 'reads everything anew after another epoch, and after a head that went back',
  },
  {
    title: 'A change names one skill, and its entry another',
    in: 'readOn',
    swap: ['change.entry.id !== change.id', "change.entry.id === ''"],
    test: 'that names a skill otherwise than its entry',
  },
  {
    title: 'An agent is told the words of a hub that nobody has inspected',
    in: 'toldBy',
    swap: ['(await mayName?.([line])) === false', '(await mayName?.([line])) === undefined'],
    test: 'refuses what the hub refuses, keeps nothing of it',
  },
  {
    title: 'An agent is shown the proposals of another one',
    in: 'createHubSource',
    swap: ['agent === undefined', "agent !== ''"],
    test: 'sends what an agent proposes to the hub',
  },
  {
    title: 'An agent that may not remove skills proposes it to a hub',
    in: 'proposeElsewhere',
    swap: ["config.writes[kind] === 'deny'", "config.writes.update === 'deny'"],
    test: 'is made and removed at the hub, when a person there has approved',
  },
  {
    title: 'A short program leaves what waits to the next one',
    in: 'createHubSource',
    swap: ['await outbox.end(END_MS);', ''],
    test: 'is sent before a short program ends',
  },
  {
    title: 'The same proposal waits for a hub twice',
    in: 'Outbox.post',
    swap: ['!refused && isSame(proposal, given)', "!refused && proposal.id === '' && isSame(proposal, given)"],
    test: 'keeps proposals on disk while the hub is away',
  },
  {
    title: 'A person is shown the codes of a terminal that a hub sends',
    in: 'describeOneTaken',
    swap: ["printable(parts.join('\\n\\n'))", "parts.join('\\n\\n')"],
    test: 'shows a person what waits at the hub',
  },
  {
    title: 'A machine is given the policy of other spaces',
    in: 'policyOf',
    swap: ["[own, 'policy.json']", "['policy.json']"],
    test: 'holds what the policy of its space denies',
  },
  {
    title: 'The skills of a hub count as those of folders here',
    in: 'createPolicies',
    swap: ['source?.policy ?? source?.remote', 'source?.remote'],
    test: 'holds what the policy of its space denies',
  },
  {
    title: 'The policy of a hub governs nothing',
    in: 'mayGovern',
    swap: ['policy !== undefined', 'policy === null'],
    test: 'holds what the policy of its space denies',
  },
  {
    title: 'A root that nobody has approved has its hub asked',
    in: 'hubKind.open',
    swap: ['!trusted', 'trusted === undefined'],
    test: 'asks nothing in a root that nobody has approved, also where a program names the hub',
  },
];
