import { unapprovedRootProblem } from '../../../../kernel/host.ts';
import { assertReadable, relativeSegments, resourceNotFound, resourceTooLarge } from '../../../../lib/files/index.ts';
import type { Finding, InspectedFile, RemoteFiles } from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { NO_FILES, ownSkill, type SkillSource } from '../../core/sources/source.ts';
import { addressKey, programKey } from '../guard/revoked.ts';
import { type McpListedSkill, SKILL_MD } from './entries.ts';
import { fileRefused, readFailed, serverFailed } from './errors.ts';
import type { McpServer } from './server.ts';
import { blockFindingsIn, locationOf, type McpSourceOptions, ServerList } from './server-list.ts';

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

// --- internal ---

/**
 * Hands out a file with a `block` finding only if a person has allowed the files of the entry. After SKILL.md was
 * refused, no other file of the skill is fetched.
 */
function createFetch(source: string, list: ServerList): Required<Pick<SkillSource, 'fetch' | 'remote'>> {
  /** By entry, so a new entry is tried again. */
  const refused = new WeakSet<object>();
  const fetch: NonNullable<SkillSource['fetch']> = async (skill, path = SKILL_MD, maxBytes) => {
    const found = ownSkill(list.found, skill);
    const segments = relativeSegments(path);
    assertReadable(segments, path);
    const name = segments.join('/');
    const size = found.files.get(name)?.size;
    if (size === undefined) throw resourceNotFound(path);
    if (size > maxBytes) throw resourceTooLarge(name, size, maxBytes);
    const { entry } = found;
    const refuse = (why: string, remedy: string): Error => {
      if (name === SKILL_MD) refused.add(entry);
      return fileRefused(source, name, why, remedy);
    };
    if (name !== SKILL_MD && refused.has(entry))
      throw refuse(`the ${SKILL_MD} of that skill was refused`, `Read ${SKILL_MD} again, or do without the skill.`);
    const bytes = await read(found, name, refuse);
    const attacks = await blockFindingsIn(name, bytes);
    const isAllowed = attacks.length === 0 || (await list.noteBlocked(skill, found.digest, attacks));
    if (!isAllowed) {
      const { message, file, line } = attacks[0] as Finding;
      list.changed?.();
      throw refuse(
        `it looks like an attack: ${message} (${file}${line === undefined ? '' : `:${line}`})`,
        `Tell the user, who can see it with skill-registry approvals show ${skill.qualifiedId}.`,
      );
    }
    if (name === SKILL_MD) refused.delete(entry);
    return Buffer.from(bytes);
  };
  const remote: RemoteFiles = {
    digestOf: (skill) => list.found.get(skill.qualifiedId)?.digest,
    async read(skill) {
      const found = ownSkill(list.found, skill);
      const files: InspectedFile[] = [];
      for (const path of [SKILL_MD, ...found.listing.files.map((one) => one.path)])
        files.push({ path, bytes: await read(found, path, (...why) => fileRefused(source, path, ...why)) });
      return files;
    },
  };
  return { fetch, remote };

  async function read(
    { entry, files }: McpListedSkill,
    name: string,
    refuse: (why: string, remedy: string) => Error,
  ): Promise<Uint8Array> {
    const server = list.server as McpServer;
    try {
      return await server.use((connection) => connection.read(entry, files.get(name)?.uri ?? ''), isAnswer);
    } catch (error) {
      const why = differenceOf(error);
      if (why !== undefined) {
        list.expire();
        list.changed?.();
        throw refuse(why, 'The list of the server is read again. Try again; if that does not help, tell the user.');
      }
      const { failure } = server;
      throw failure && !isAnswer(error) ? serverFailed(source, failure.since) : readFailed(source, name);
    }
  }
}

/** Whether the server answered, with an error or with something that differs from its entry. */
function isAnswer(error: unknown): boolean {
  return typeof (error as { readonly code?: unknown } | null)?.code === 'number' || differenceOf(error) !== undefined;
}

function differenceOf(error: unknown): string | undefined {
  const { reason } = (error ?? {}) as { readonly reason?: unknown };
  return typeof reason === 'string' ? DIFFERENCES[reason] : undefined;
}

const DIFFERENCES: Readonly<Record<string, string>> = {
  unlisted: 'the entry of the skill does not list it',
  size: 'its size is not the one in the entry of the skill',
  digest: 'its digest is not the one in the entry of the skill',
  frontmatter: 'its frontmatter is not the one in the entry of the skill',
};
