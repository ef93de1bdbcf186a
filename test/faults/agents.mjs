/** Agents at one server: whom a token lets in, and what an agent sees and is. */
export const agents = [
  {
    title: 'The token of an agent opens the address of every agent',
    in: 'mayOpen',
    swap: ['agent === address.agent', 'true'],
    test: 'opens the address of its agent with a token, nothing else, until it is revoked',
  },
  {
    title: 'The token of an agent opens the server itself',
    in: 'mayOpen',
    swap: ['isLoopback && !isOfAgent', 'isLoopback'],
    test: 'opens the address of its agent with a token, nothing else, until it is revoked',
  },
  {
    title: 'Without a token an agent is served after all tokens are revoked',
    in: 'mayOpen',
    swap: ['isLoopback && !token && !wasIssued', 'isLoopback && !token'],
    test: 'opens the address of its agent with a token, nothing else, until it is revoked',
  },
  {
    title: 'Without the token of the server other machines reach it, where an agent has one',
    in: 'mayOpen',
    swap: ['isLoopback && !isOfAgent', '!isOfAgent'],
    test: 'asks for a token at every address beyond loopback',
  },
  {
    title: 'The token of the server opens the address of an agent',
    in: 'mayOpen',
    swap: ['isOpen && given === undefined', 'isMaster || (isOpen && given === undefined)'],
    test: 'opens /mcp alone with the token of the server',
  },
  {
    title: 'A revoked token of an agent opens its address',
    in: 'openAgentTokens.check',
    swap: ["action === 'allow'", 'action !== undefined'],
    test: 'opens the address of its agent with a token, nothing else, until it is revoked',
  },
  {
    title: 'A token opens the address in another root',
    in: 'openAgentTokens.issued',
    drop: 'one.path === path',
    test: 'keeps digests of tokens only, in a file of its user, and none of another root',
  },
  {
    title: 'A tag puts a skill into a scope, whatever its source',
    in: 'namedBySource.isNamedHere',
    swap: [
      'Object.hasOwn(tags, source) && own.some((tag) => tags[source]?.includes(tag))',
      'own.some((tag) => Object.values(tags).flat().includes(tag))',
    ],
    test: 'shows an agent of the config what its ids, sources and tags name, whatever the caller says',
  },
  {
    title: 'A caller says what an agent of the config sees',
    in: 'createScopes.declared',
    swap: [
      '{ ...turn, boundSkills, ...(workflowState && { workflowState }) }',
      '{ boundSkills, ...turn, ...(workflowState && { workflowState }) }',
    ],
    test: 'shows an agent of the config what its ids, sources and tags name, whatever the caller says',
  },
  {
    title: 'A skill that hides itself is read by an agent that sees its source',
    in: 'refusalOf',
    swap: ['isLoad && bound?.ids.has(skill.qualifiedId)', 'isLoad && bound && isNamed(skill, bound)'],
    test: 'shows an agent of the config what its ids, sources and tags name, whatever the caller says',
  },
  {
    title: 'A wrong key of an agent in the config is passed over, and the agent used',
    in: 'wholly',
    swap: ['isWhole ? read : undefined', 'read'],
    test: 'leaves out an agent with anything wrong in it, and one that a manifest declares, too',
  },
  {
    title: 'An agent that may not propose proposes',
    in: 'proposalFunctions',
    never: 'ofTurn && !mayPropose(config, ofTurn)',
    test: 'gives such an agent over MCP its scope in tools, resources, prompts and instructions, and no proposals',
  },
  {
    title: 'A client writes a name of any length into the record of a conversation',
    in: 'createSkillMcpDoor.noteClient',
    swap: ['MAX_CLIENT_NAME', '100_000'],
    test: 'calls itself, in one short line',
  },
  {
    title: 'A thread is the same for every agent that names it',
    in: 'keyOf',
    swap: ['ownThread ? [threadId, agentId] : threadId', 'threadId'],
    test: 'keeps the workflow of a thread from the same name at another agent',
  },
];
