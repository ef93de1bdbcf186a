/** Skills of MCP servers. */
export const mcpSources = [
  {
    title: 'A server is contacted in a root that nobody has approved',
    in: 'createMcpSource.scan',
    swap: ['trusted', 'trusted || id'],
    test: 'starts nothing and contacts nobody in a root that no person has approved',
  },
  {
    title: 'Files of a skill whose SKILL.md was refused are fetched',
    in: 'createFetch.fetch',
    never: 'name !== SKILL_MD && refused.has(entry)',
    test: 'a SKILL.md with another frontmatter, and nothing else of that skill until it is right',
  },
  {
    title: 'A file of a server is handed out before it is inspected',
    in: 'createFetch.fetch',
    swap: ['const attacks = await blockFindingsIn(name, bytes);', 'const attacks: readonly Finding[] = [];'],
    test: 'what would be called an attack, in SKILL.md or beside it',
  },
  {
    title: 'An entry of a server is listed before it is inspected',
    in: 'ServerList.#readList',
    swap: ['found.length > 0', 'found.length > 1e6'],
    test: 'holds a skill whose entry has an attack',
  },
  {
    title: 'A list without end is read on',
    in: 'ListMeter.start',
    swap: ['LIST_BYTES', 'Number.POSITIVE_INFINITY'],
    test: 'ends a list without end, whether in pages or in bytes, and serves the other sources',
  },
  {
    title: 'A message shows a secret',
    in: 'withoutSecrets',
    swap: ["shown.replaceAll(secret, '…')", 'shown'],
    test: 'sends the secrets that the config names, and prints them nowhere',
  },
  {
    title: 'A registry takes skills from itself',
    in: 'McpServer.#connect',
    swap: ['other !== undefined && [...chain, instance].includes(other)', 'other === undefined'],
    test: 'finds itself over HTTP, and takes nothing from itself',
  },
  {
    title: 'Skills of a server are published as skills of this registry',
    in: 'publishSkill',
    never: 'skill.remote',
    test: 'gives the skills of a server no further as skills, so two registries can be sources of each other',
  },
  {
    title: 'A list that comes late is not told of',
    in: 'ServerList.#list',
    never: 'this.#waiting === 0 && this.#show() !== shown',
    test: 'does not wait long for a server that does not answer, and takes its list when it comes',
  },
  {
    title: 'Looking for hidden text fetches every file',
    in: 'hiddenTextOf',
    swap: ['skill.remote ? [] : [undefined, ...paths]', '[undefined, ...paths]'],
    test: 'is listed in prompts, and never put into one whole unless it is bound',
  },
  {
    title: 'A server leads to another one, which gets the secrets in the headers',
    in: 'answerFrom',
    swap: ['next?.origin !== target.origin', '!next'],
    test: 'sends nothing, and no secret in a header, where an MCP server leads to another address',
  },
];
