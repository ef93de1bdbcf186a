import { setTimeout } from 'node:timers/promises';
import type { Problem } from 'skill-registry/kernel';
import { rootNotApproved } from '../../../../kernel/host.ts';
import { createBreaks } from '../../../../lib/breaks/index.ts';
import { assertReadable, relativeSegments, resourceNotFound, resourceTooLarge } from '../../../../lib/files/index.ts';
import type { SkillRegistryConfig } from '../../config/config.ts';
import type { McpServerConfig } from '../../config/mcp.ts';
import type { Skill } from '../../skill/skill.ts';
import { chainOfProcess } from '../mcp/circle.ts';
import type { McpTimes } from '../mcp/connect.ts';
import { type ListedFile, type ListedSkill, SKILL_MD, skillsOf } from '../mcp/entries.ts';
import { failureProblem, fileRefused, readFailed, serverFailed } from '../mcp/errors.ts';
import { McpServer } from '../mcp/server.ts';
import { createOwnSkills, type SkillListing, type SkillSource, type SourceScan } from '../source.ts';

export interface McpSourceOptions {
  readonly id: string;
  readonly server: McpServerConfig;
  /** Absolute. A program runs in it. */
  readonly root: string;
  /** Whether a person has approved the root; if not, nothing is started and no address is contacted. */
  readonly trusted: boolean;
  /** No problem is reported while the server cannot be used. */
  readonly optional: boolean;
  readonly getSecret: (name: string) => string | undefined;
  /** Which registry this is (`instanceOf`). */
  readonly instance: string;
  /** The registries that have started this process. Default: as the process was told. */
  readonly chain?: readonly string[];
  readonly times?: Partial<McpSourceTimes>;
}

/** Milliseconds. */
export interface McpSourceTimes extends McpTimes {
  /** How long a scan waits for the first list. */
  readonly first: number;
  /** How long a scan waits for a later list before it uses the last one. */
  readonly later: number;
}

const TIMES: McpSourceTimes = { connect: 10_000, list: 20_000, read: 30_000, first: 5_000, later: 1_000 };
/** How long a list stays valid at least, and at most whatever the server says, in milliseconds. */
const FRESH_MS = { least: 1_000, most: 300_000 };

/**
 * The skills of an MCP server (SEP-2640). A scan lists them; nothing of a file is fetched before it is read. A slow server does not
 * delay the other sources for long: its list arrives later, and is reported as a change. While it cannot be used, its last skills
 * stay.
 *
 * Problems: MCP_SERVER_FAILED, MCP_CIRCLE, MCP_SECRET_MISSING, MCP_SKILL_REFUSED, and those of the fields of skills.
 */
export function createMcpSource(options: McpSourceOptions): SkillSource {
  const { id, optional, root, trusted } = options;
  const times = { ...TIMES, ...options.times };
  const location = locationOf(options.server);
  const own = createOwnSkills<ListedSkill>();
  let changed: (() => void) | undefined;
  let server: McpServer | undefined;
  let listing: { readonly startedAt: number; readonly done: Promise<void> } | undefined;
  let freshUntil = 0;
  /** How often something said that the list is outdated. */
  let outdated = 0;
  let waiting = 0;
  /** Skills whose SKILL.md was refused: nothing of them is fetched until it passes. */
  const refusedSkills = new Set<string>();
  let good: Good = { text: '', skills: [], losers: [], problems: [] };
  let current: SourceScan = { skills: [], problems: [] };

  const expire = (): void => {
    outdated += 1;
    freshUntil = 0;
  };
  const serverFor = (limits: SkillRegistryConfig['limits']): McpServer => {
    const { chain = chainOfProcess(), ...given } = options;
    const fileBytes = Math.max(limits.file_bytes, limits.resource_bytes);
    server ??= new McpServer({
      ...{ ...given, chain, cwd: root, fileBytes, times },
      onChanged: () => {
        expire();
        changed?.();
      },
      onEnd: expire,
    });
    return server;
  };
  /** The scan for the present state; the same object as before while nothing has changed. */
  const settle = (): void => {
    const failure = optional ? undefined : server?.failure;
    const count = good.skills.length + good.losers.length;
    const problems = [...good.problems, ...(failure ? [failureProblem(id, location, failure, count)] : [])];
    const isCircle = server?.failure?.code === 'MCP_CIRCLE';
    const next = isCircle
      ? { skills: [], losers: [], problems }
      : { skills: good.skills, losers: good.losers, problems };
    if (current.skills !== next.skills || !isSameText(current.problems, problems)) current = next;
  };
  const list = async (limits: SkillRegistryConfig['limits']): Promise<void> => {
    const before = { current, outdated };
    try {
      const found = await serverFor(limits).use((connection) => connection.list());
      const text = JSON.stringify([found.entries, found.invalid]);
      if (text !== good.text) good = await readList(text, found, id, limits, own.replace);
      const fresh = Math.min(Math.max(found.ttlMs, FRESH_MS.least), FRESH_MS.most);
      freshUntil = before.outdated === outdated ? Date.now() + fresh : 0;
    } catch {
      // The server says why (`failure`).
    }
    settle();
    listing = undefined;
    if (waiting === 0 && current !== before.current) changed?.();
  };
  const fileOf = (
    skill: Skill,
    path: string | undefined,
  ): { readonly listed: ListedSkill; readonly file: ListedFile } => {
    const listed = own.get(skill);
    const segments = path === undefined ? [SKILL_MD] : relativeSegments(path);
    assertReadable(segments, path ?? SKILL_MD);
    const file = listed.files.get(segments.join('/'));
    if (!file) throw resourceNotFound(path ?? SKILL_MD);
    return { listed, file };
  };
  const listingFor = (skill: Skill): SkillListing => {
    const found = own.find(skill);
    return { files: found?.listed ?? [], leftOut: found?.leftOut ?? 0 };
  };
  const notHere = (skill: Skill): never => {
    throw resourceNotFound(skill.id, 'it lies on an MCP server');
  };

  return {
    id,
    kind: 'mcp',
    location,
    async scan(limits) {
      if (!trusted) {
        const problem = rootNotApproved(root, [`the MCP server "${id}"`]);
        return { skills: [], problems: problem ? [problem] : [] };
      }
      if (!listing && Date.now() >= freshUntil && serverFor(limits).mayTry)
        listing = { startedAt: Date.now(), done: list(limits) };
      if (listing) {
        const wait = good.text === '' && !server?.failure ? times.first : times.later;
        waiting += 1;
        await untilOrFor(listing.done, listing.startedAt + wait - Date.now());
        waiting -= 1;
      }
      return current;
    },
    readSkill: notHere,
    readResource: notHere,
    async fetch(skill, path, maxBytes) {
      const shown = path ?? SKILL_MD;
      const { listed, file } = fileOf(skill, path);
      if (file.size > maxBytes) throw resourceTooLarge(shown, file.size, maxBytes);
      const { qualifiedId } = listed.skill;
      if (file.path !== SKILL_MD && refusedSkills.has(qualifiedId))
        throw fileRefused(id, shown, 'SKILL.md of that skill has failed its check', 'Read SKILL.md again.');
      try {
        const { entry } = listed;
        return Buffer.from((await server?.use(({ read }) => read(entry, file.uri), isAnswer)) ?? []);
      } catch (error) {
        const why = differenceOf(error);
        const failure = server?.failure;
        if (why === undefined)
          throw failure && !isAnswer(error) ? serverFailed(id, failure.since) : readFailed(id, shown);
        // The server may have changed it since it was listed.
        expire();
        changed?.();
        throw fileRefused(id, shown, why, 'The list of the server is read anew; try again, and then tell the user.');
      }
    },
    fileDigest: (skill, path) => own.find(skill)?.files.get(path)?.digest,
    resources: (skill) => listingFor(skill).files,
    listing: listingFor,
    watchFolders: () => [],
    subscribe(listener) {
      changed = listener;
      return () => {
        changed = undefined;
      };
    },
    contains: () => false,
    async close() {
      await server?.close();
      await listing?.done;
    },
  };
}

// --- internal ---

/** The last list that could be read. */
interface Good {
  /** As it came; empty before the first. */
  readonly text: string;
  readonly skills: readonly Skill[];
  readonly losers: readonly Skill[];
  readonly problems: readonly Problem[];
}

async function readList(
  text: string,
  found: Parameters<typeof skillsOf>[0],
  source: string,
  limits: SkillRegistryConfig['limits'],
  keep: (all: ReadonlyMap<string, ListedSkill>) => void,
): Promise<Good> {
  const { skills: all, problems } = await skillsOf(found, source, limits.file_bytes, createBreaks());
  keep(new Map(all.map((one) => [one.skill.qualifiedId, one])));
  const first = new Map<string, Skill>();
  const losers: Skill[] = [];
  for (const { skill } of all) {
    if (first.has(skill.id)) losers.push(skill);
    else first.set(skill.id, skill);
  }
  return { text, skills: [...first.values()], losers, problems };
}

/** For people: an address without its query, or the program without its arguments. Both may hold a secret. */
function locationOf({ command = [], url }: McpServerConfig): string {
  if (url === undefined) return [command].flat()[0] ?? '';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** What differs from the entry; undefined for another failure. */
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

/** Whether the server has answered: with an error, or with something else than its entry says. */
function isAnswer(error: unknown): boolean {
  return typeof (error as { readonly code?: unknown } | null)?.code === 'number' || differenceOf(error) !== undefined;
}

async function untilOrFor(work: Promise<void>, ms: number): Promise<void> {
  if (ms <= 0) return;
  const end = new AbortController();
  await Promise.race([work, setTimeout(ms, undefined, { signal: end.signal }).catch(() => undefined)]);
  end.abort();
}

function isSameText(before: readonly Problem[], after: readonly Problem[]): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
