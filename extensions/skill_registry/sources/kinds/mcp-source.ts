import { unapprovedRootProblem } from '../../../../kernel/host.ts';
import { resourceNotFound } from '../../../../lib/files/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { addressKey, programKey } from '../../trust/sources.ts';
import { createFetch } from '../mcp/fetch-file.ts';
import { locationOf, type McpSourceOptions, ServerList } from '../mcp/server-list.ts';
import { NO_FILES, type SkillSource } from '../source.ts';

/**
 * A scan does not wait long for a slow server: its list is reported later as a change. While the server fails,
 * its last skills stay. Problems: MCP_SERVER_FAILED, MCP_CIRCLE, MCP_SECRET_MISSING, MCP_SKILL_REFUSED.
 */
export function createMcpSource(options: McpSourceOptions): SkillSource {
  const { id, root, server, trusted } = options;
  const list = new ServerList(options);
  const notHere = (skill: Skill): never => {
    throw resourceNotFound(skill.id, 'it lies on an MCP server');
  };
  return {
    id,
    kind: 'mcp',
    location: locationOf(server),
    key:
      server.url === undefined ? programKey([server.command ?? [], server.args ?? []].flat()) : addressKey(server.url),
    async scan(limits) {
      if (trusted) return list.scan(limits);
      const problem = unapprovedRootProblem(root, [`the MCP server "${id}"`]);
      return { skills: [], problems: problem ? [problem] : [] };
    },
    readSkill: notHere,
    readResource: notHere,
    ...createFetch(id, list),
    fileDigest: (skill, path) => list.found.get(skill.qualifiedId)?.files.get(path)?.digest,
    listing: (skill) => list.found.get(skill.qualifiedId)?.listing ?? NO_FILES,
    watchFolders: () => [],
    subscribe(listener) {
      list.changed = listener;
      return () => {
        list.changed = undefined;
      };
    },
    contains: () => false,
    close: () => list.close(),
  };
}
