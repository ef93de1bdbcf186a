/** What a page, or whoever manages the machine, lets be given. */
export const policies = [
  {
    title: 'A denied skill is given',
    in: 'policyOf.refuses',
    never: 'no !== undefined',
    test: 'shows what it lets through: denied ids',
  },
  {
    title: 'A policy that allows one list lets everything else in',
    in: 'policyOf.refuses',
    swap: ['rule && those && !those.some((name) => rule.has(name))', 'rule && those && rule.size < 0'],
    test: 'shows what it lets through: each list narrows',
  },
  {
    title: 'A policy that was never read holds nothing',
    in: 'rulingOf',
    never: 'missing !== undefined',
    test: 'holds everything on a fresh machine where the page gives no answer',
  },
  {
    title: 'A policy counts for ever while its page is away',
    in: 'KeptPolicy.missing',
    swap: ['3_600_000', '3_600_000_000'],
    test: 'counts for its hours while the page is away',
  },
  {
    title: 'An older policy replaces a newer one',
    in: 'KeptPolicy.#answered',
    swap: ['read.version <= now', 'read.version < 0'],
    test: 'stays as it was read when it is older',
  },
  {
    title: 'A policy that somebody else could have written is believed',
    in: 'KeptPolicy.#read',
    never: "withFallback(() => whyNotTrusted(this.#file), 'unknown') !== undefined",
    test: 'is not taken from a state file that others can write',
  },
  {
    title: 'A typing error switches a policy off',
    in: 'policyKey',
    swap: ["'(wrong)'", "''"],
    test: 'holds everything where nothing answers, or the key is written wrongly',
  },
  {
    title: 'A lock that came with a root says where a skill is from',
    in: 'createPolicies.heldBecause',
    swap: ['origins.of(digest)', 'locked(skill)'],
    test: 'let in by where a skill was fetched from',
  },
  {
    title: 'What is applied minutes after its plan is not compared with the policy',
    in: 'applyOf',
    drop: 'await context.assertMayCome(source, id, pageIn(origin));',
    test: 'take nothing that a policy denies, before and after the plan',
  },
  {
    title: 'A list that was made before shows what a policy holds since',
    in: 'HeldSkills.heldMeanwhile',
    swap: ['this.#options.reasonsChanged?.() ?? false', 'false'],
    test: 'is too old for what is read of a list that was made before',
  },
  {
    title: 'Skills of a server are not asked of the policy',
    in: 'HeldSkills.#reasonOf',
    swap: [
      'this.#options.heldBecause?.(skill, entry?.digest)',
      'entry && this.#options.heldBecause?.(skill, entry.digest)',
    ],
    test: 'holds the skills of an MCP server by its address',
  },
  {
    title: 'A file that anybody can write is the policy of the machine',
    in: 'whyUnsafe',
    swap: ['0o022', '0'],
    test: 'says why it cannot be used, which holds everything, when others can write it',
  },
  {
    title: 'A file of another user is the policy of the machine',
    in: 'whyUnsafe',
    never: 'stats.uid !== owner',
    test: 'is not that of another user',
  },
  {
    title: 'A policy of the machine that cannot be used holds nothing',
    in: 'createPolicies.rulingOn',
    swap: ["['POLICY_FILE_UNUSABLE', managed]", 'undefined'],
    build: true,
    test: 'holds everything when others can write it, and says what to do',
  },
  {
    title: 'Whoever names a page in a root of a stranger has it asked',
    in: 'createPolicies.ofPages',
    drop: 'trusted',
    test: 'counts only in a config that a person has approved',
  },
];
