import { setTimeout } from 'node:timers/promises';
import type { Problem } from 'skill-registry/kernel';
import { unapprovedRootProblem } from '../../../../kernel/host.ts';
import { resourceNotFound } from '../../../../lib/files/index.ts';
import type { SkillRegistryConfig } from '../../config/config.ts';
import type { McpServerConfig } from '../../config/mcp.ts';
import type { Finding } from '../../inspect/types.ts';
import type { Skill } from '../../skill/skill.ts';
import { addressKey, programKey } from '../../trust/sources.ts';
import type { NoteBlocked } from '../../trust/types.ts';
import type { McpTimes } from '../mcp/connect.ts';
import { chainOfProcess } from '../mcp/cycle.ts';
import { type McpListedSkill, SKILL_MD, skillsOf } from '../mcp/entries.ts';
import { failureProblem, noAnswerYet } from '../mcp/errors.ts';
import { blockFindingsIn, createFetch } from '../mcp/fetch-file.ts';
import { McpServer } from '../mcp/server.ts';
import { NO_FILES, ScannedSkills, type SkillSource, type SourceScan } from '../source.ts';

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
  /** Default: nobody has allowed anything. */
  readonly noteBlocked?: NoteBlocked | undefined;
  readonly times?: Partial<McpSourceTimes>;
}

/** Milliseconds. */
export interface McpSourceTimes extends McpTimes {
  readonly first: number;
  /** How long a scan waits for a later list before it uses the last one. */
  readonly later: number;
}

const NONE: readonly Skill[] = [];

const TIMES: McpSourceTimes = { connect: 30_000, list: 30_000, read: 30_000, first: 10_000, later: 1_000 };
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
  const { id, root, trusted, noteBlocked = async () => false } = options;
  const own = new ScannedSkills<McpListedSkill>();
  const location = locationOf(options.server);
  const list = new ServerList({ ...options, location, noteBlocked, keep: (all) => own.replace(() => all) });
  const notHere = (skill: Skill): never => {
    throw resourceNotFound(skill.id, 'it lies on an MCP server');
  };
  return {
    id,
    kind: 'mcp',
    location,
    key: serverKey(options.server),
    async scan(limits) {
      if (trusted) return list.scan(limits);
      const problem = unapprovedRootProblem(root, [`the MCP server "${id}"`]);
      return { skills: [], problems: problem ? [problem] : [] };
    },
    readSkill: notHere,
    readResource: notHere,
    ...createFetch({
      source: id,
      server: () => list.server as McpServer,
      listed: (skill) => own.get(skill),
      noteBlocked,
      onHeld: () => list.changed?.(),
      onDifference: () => list.expire(),
    }),
    fileDigest: (skill, path) => own.find(skill)?.files.get(path)?.digest,
    listing(skill) {
      const { listed, leftOut } = own.find(skill) ?? {};
      return listed === undefined || leftOut === undefined ? NO_FILES : { files: listed, leftOut };
    },
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

interface ServerListOptions extends McpSourceOptions {
  readonly location: string;
  readonly noteBlocked: NoteBlocked;
  readonly keep: (all: ReadonlyMap<string, McpListedSkill>) => void;
}

/** The list of a server's skills: asked for when it is outdated, one request at a time; the last good one stays. */
class ServerList {
  readonly #options: ServerListOptions;
  readonly #times: McpSourceTimes;
  readonly #notYet: SourceScan;
  #listing: { readonly startedAt: number; readonly done: Promise<void> } | undefined;
  #freshUntil = 0;
  /** How often something said that the list is outdated. */
  #outdated = 0;
  /** Scans that wait for the present list. */
  #waiting = 0;
  #good: Good = { text: '', skills: NONE, losers: NONE, problems: [], attacks: new Map() };
  #current: SourceScan = { skills: [], problems: [] };
  #returned: SourceScan = this.#current;
  server: McpServer | undefined;
  /** Called when the skills have changed and no scan has returned them. */
  changed: (() => void) | undefined;

  constructor(options: ServerListOptions) {
    this.#options = options;
    this.#times = { ...TIMES, ...options.times };
    this.#notYet = { skills: [], problems: options.optional ? [] : [noAnswerYet(options.id, options.location)] };
  }

  async scan(limits: SkillRegistryConfig['limits']): Promise<SourceScan> {
    if (!this.#listing && Date.now() >= this.#freshUntil && this.#serverFor(limits).mayTry)
      this.#listing = { startedAt: Date.now(), done: this.#list(limits) };
    const listing = this.#listing;
    if (listing) {
      const wait = this.#good.text === '' && !this.server?.failure ? this.#times.first : this.#times.later;
      this.#waiting += 1;
      await untilOrFor(listing.done, listing.startedAt + wait - Date.now());
      this.#waiting -= 1;
    }
    this.#returned = this.#good.text === '' && this.#listing ? this.#notYet : this.#current;
    return this.#returned;
  }

  /** The list is outdated; subscribers are notified. */
  expire(): void {
    this.#expire();
    this.changed?.();
  }

  async close(): Promise<void> {
    await this.server?.close();
    await this.#listing?.done;
  }

  #expire(): void {
    this.#outdated += 1;
    this.#freshUntil = 0;
  }

  #serverFor(limits: SkillRegistryConfig['limits']): McpServer {
    const { chain = chainOfProcess(), ...given } = this.#options;
    const fileBytes = Math.max(limits.file_bytes, limits.resource_bytes);
    this.server ??= new McpServer({
      ...{ ...given, chain, cwd: given.root, fileBytes, times: this.#times },
      onChanged: () => this.expire(),
      onEnd: () => this.#expire(),
    });
    return this.server;
  }

  async #list(limits: SkillRegistryConfig['limits']): Promise<void> {
    const { id, keep, noteBlocked } = this.#options;
    const before = this.#outdated;
    try {
      const found = await this.#serverFor(limits).use(async (connection) => {
        const listed = await connection.list();
        const text = JSON.stringify([listed.entries, listed.invalid]);
        if (text !== this.#good.text) {
          const { attacks } = this.#good;
          this.#good = await readList(text, listed, { id, limits, attacks, keep, noteBlocked });
        }
        return listed;
      });
      const fresh = Math.min(Math.max(found.ttlMs, FRESH_MS.least), FRESH_MS.most);
      this.#freshUntil = before === this.#outdated ? Date.now() + fresh : 0;
    } catch {
      // The server says why (`failure`).
    }
    this.#settle();
    this.#listing = undefined;
    if (this.#waiting === 0 && this.#current !== this.#returned) this.changed?.();
  }

  /** The scan for the present state stays the same object while nothing has changed. */
  #settle(): void {
    const { id, location, optional } = this.#options;
    const { skills, losers, problems: found } = this.#good;
    const failure = optional ? undefined : this.server?.failure;
    const count = skills.length + losers.length;
    const problems = [...found, ...(failure ? [failureProblem(id, location, failure, count)] : [])];
    const isCircle = this.server?.failure?.code === 'MCP_CIRCLE';
    const next = isCircle ? { skills: NONE, losers: NONE, problems } : { skills, losers, problems };
    if (this.#current.skills !== next.skills || !isSameText(this.#current.problems, problems)) this.#current = next;
  }
}

/** The last list that could be read. */
interface Good {
  /** As it came; empty before the first. */
  readonly text: string;
  readonly skills: readonly Skill[];
  readonly losers: readonly Skill[];
  readonly problems: readonly Problem[];
  /** What was found in the beginning of each SKILL.md, as its entry gives it. */
  readonly attacks: ReadonlyMap<string, readonly Finding[]>;
}

interface ReadingList {
  readonly id: string;
  readonly limits: SkillRegistryConfig['limits'];
  readonly attacks: Good['attacks'];
  readonly keep: (all: ReadonlyMap<string, McpListedSkill>) => void;
  readonly noteBlocked: NoteBlocked;
}

async function readList(
  text: string,
  found: Parameters<typeof skillsOf>[0],
  { id, limits, attacks: before, keep, noteBlocked }: ReadingList,
): Promise<Good> {
  const { skills: listed, problems } = await skillsOf(found, id, limits.file_bytes);
  const all = [...listed].sort((a, b) => (a.skill.qualifiedId < b.skill.qualifiedId ? -1 : 1));
  const attacks = new Map<string, readonly Finding[]>();
  const first = new Map<string, Skill>();
  const losers: Skill[] = [];
  keep(new Map(all.map((one) => [one.skill.qualifiedId, one])));
  for (const { digest, header, skill } of all) {
    const found = before.get(header) ?? (await blockFindingsIn(SKILL_MD, Buffer.from(header)));
    attacks.set(header, found);
    if (found.length > 0) await noteBlocked(skill, digest, found);
    if (first.has(skill.id)) losers.push(skill);
    else first.set(skill.id, skill);
  }
  return { text, skills: [...first.values()], losers, problems, attacks };
}

/** For people: an address without its query, or the program without its arguments. Both may hold a secret. */
function locationOf({ command = [], url }: McpServerConfig): string {
  if (url === undefined) return [command].flat()[0] ?? '';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function serverKey({ command = [], args = [], url }: McpServerConfig): string {
  return url === undefined ? programKey([command, args].flat()) : addressKey(url);
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
