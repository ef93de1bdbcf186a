const SOURCE = 'extensions/skill_registry/sources/kinds/mcp-source.ts';
const FETCH = 'extensions/skill_registry/sources/mcp/fetch-file.ts';
const CONNECT = 'extensions/skill_registry/sources/mcp/connect.ts';
const SERVER = 'extensions/skill_registry/sources/mcp/server.ts';
const HOSTILE = 'test/slow/skill_registry/sources/mcp-hostile.test.ts';
const TESTS = 'test/slow/skill_registry/sources/mcp-source.test.ts';

/** Skills of MCP servers. */
export const mcpSources = [
  {
    title: 'A server is contacted in a root that nobody has approved',
    file: SOURCE,
    find: 'if (trusted) return list.scan(limits);',
    replace: 'if (trusted || id) return list.scan(limits);',
    test: 'test/skill_registry/sources/mcp-unapproved.test.ts',
    name: 'starts nothing and contacts nobody in a root that no person has approved',
  },
  {
    title: 'Files of a skill whose SKILL.md was refused are fetched',
    file: FETCH,
    find: 'if (name !== SKILL_MD && refused.has(entry))',
    replace: 'if (false)',
    test: HOSTILE,
    name: 'a SKILL.md with another frontmatter, and nothing else of that skill until it is right',
  },
  {
    title: 'A file of a server is handed out before it is inspected',
    file: FETCH,
    find: 'const attacks = await blockFindingsIn(name, bytes);',
    replace: 'const attacks: readonly Finding[] = [];',
    test: HOSTILE,
    name: 'what would be called an attack, in SKILL.md or beside it',
  },
  {
    title: 'An entry of a server is listed before it is inspected',
    file: SOURCE,
    find: 'if (found.length > 0) await noteBlocked',
    replace: 'if (found.length > 1e6) await noteBlocked',
    test: 'test/skill_registry/sources/mcp-held.test.ts',
    name: 'holds a skill whose entry has an attack',
  },
  {
    title: 'A list without end is read on',
    file: CONNECT,
    find: 'left = LIST_BYTES;',
    replace: 'left = Number.POSITIVE_INFINITY;',
    test: HOSTILE,
    name: 'ends a list without end, whether in pages or in bytes, and serves the other sources',
  },
  {
    title: 'A message shows a secret',
    file: SERVER,
    find: "return this.#secrets.reduce((shown, secret) => shown.replaceAll(secret, '…'), text);",
    replace: 'return text;',
    test: HOSTILE,
    name: 'sends the secrets that the config names, and prints them nowhere',
  },
  {
    title: 'A registry takes skills from itself',
    file: SERVER,
    find: 'if (other !== undefined && [...chain, instance].includes(other)) {',
    replace: 'if (other === undefined) {',
    test: TESTS,
    name: 'finds itself over HTTP, and takes nothing from itself',
  },
  {
    title: 'Skills of a server are published as skills of this registry',
    file: 'extensions/skill_mcp/publication.ts',
    find: 'if (skill.remote)',
    replace: 'if (false)',
    test: TESTS,
    name: 'gives the skills of a server no further as skills, so two registries can be sources of each other',
  },
  {
    title: 'A list that comes late is not told of',
    file: SOURCE,
    find: 'if (this.#waiting === 0 && this.#current !== this.#returned) this.changed?.();',
    replace: '',
    test: TESTS,
    name: 'does not wait long for a server that does not answer, and takes its list when it comes',
  },
  {
    title: 'Looking for hidden text fetches every file',
    file: 'extensions/skill_registry/read/hidden-text.ts',
    find: 'skill.remote ? [] : [undefined, ...paths]',
    replace: '[undefined, ...paths]',
    test: TESTS,
    name: 'is listed in prompts, and never put into one whole unless it is bound',
  },
  {
    title: 'A server leads to another one, which gets the secrets in the headers',
    file: 'extensions/skill_registry/sources/mcp/transports.ts',
    find: 'if (next?.origin !== target.origin ||',
    replace: 'if (!next ||',
    test: 'test/slow/skill_registry/sources/mcp-redirects.test.ts',
    name: 'sends nothing, and no secret in a header, where an MCP server leads to another address',
  },
];
