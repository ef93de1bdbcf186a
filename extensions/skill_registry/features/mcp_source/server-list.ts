import { settledWithin } from '../../../../lib/waiting/index.ts';
import type { SkillRegistryConfig } from '../../core/config/config.ts';
import type { Finding, NoteBlocked } from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { SourceScan } from '../../core/sources/source.ts';
import { inspectFiles } from '../guard/inspect-files.ts';
import type { McpServerConfig } from './config.ts';
import type { McpTimes } from './connect.ts';
import { type McpListedSkill, type McpListing, SKILL_MD, skillsOf } from './entries.ts';
import { failureProblem, noAnswerYet } from './errors.ts';
import { McpServer, type McpServerOptions } from './server.ts';

export interface McpSourceOptions extends Pick<McpServerOptions, 'getSecret' | 'instance' | 'root' | 'server'> {
  readonly id: string;
  /** A person has approved the root; if not, no program is started and no address is contacted. */
  readonly trusted: boolean;
  /** Report no problem while the server fails. */
  readonly optional: boolean;
  /** Default: nobody has allowed anything. */
  readonly noteBlocked?: NoteBlocked | undefined;
  readonly times?: Partial<McpTimes>;
}

const TIMES: McpTimes = { connect: 30_000, list: 30_000, read: 30_000, first: 10_000, later: 1_000 };
/** Milliseconds that a list stays valid, whatever the server says. */
const FRESH_MS = { least: 1_000, most: 300_000 };

interface Good extends SourceScan {
  /** As received; empty before the first list. */
  readonly text: string;
  readonly losers: readonly Skill[];
  /** `block` findings in SKILL.md as generated from each entry, and in names of its files. By digest. */
  readonly attacks: ReadonlyMap<string, readonly Finding[]>;
}

/** A server's list of skills. Asks again when it is outdated, one request at a time; the last good list stays. */
export class ServerList {
  readonly #options: McpSourceOptions;
  readonly noteBlocked: NoteBlocked;
  found: ReadonlyMap<string, McpListedSkill> = new Map();
  #listing: { readonly startedAt: number; readonly done: Promise<void> } | undefined;
  #freshUntil = 0;
  /** Counts reports that the list is outdated. */
  #outdated = 0;
  #waiting = 0;
  #good: Good = { text: '', skills: [], losers: [], problems: [], attacks: new Map() };
  #shown: SourceScan = { skills: this.#good.skills, problems: [] };
  server: McpServer | undefined;
  /** Called when the skills have changed and no scan has returned them. */
  changed: (() => void) | undefined;

  constructor(options: McpSourceOptions) {
    this.#options = options;
    this.noteBlocked = options.noteBlocked ?? (async () => false);
  }

  async scan(limits: SkillRegistryConfig['limits']): Promise<SourceScan> {
    this.server ??= this.#makeServer(limits);
    if (!this.#listing && Date.now() >= this.#freshUntil && this.server.mayTry)
      this.#listing = { startedAt: Date.now(), done: this.#list(this.server, limits) };
    const listing = this.#listing;
    if (listing) {
      const { first, later } = { ...TIMES, ...this.#options.times };
      const wait = this.#good.text === '' && !this.server.failure ? first : later;
      this.#waiting += 1;
      await settledWithin(listing.done, listing.startedAt + wait - Date.now());
      this.#waiting -= 1;
    }
    return this.#show();
  }

  /** What is known is outdated: at the next scan the server is asked again. */
  expire(): void {
    this.#outdated += 1;
    this.#freshUntil = 0;
  }

  async close(): Promise<void> {
    await this.server?.close();
    await this.#listing?.done;
  }

  #makeServer(limits: SkillRegistryConfig['limits']): McpServer {
    return new McpServer({
      ...this.#options,
      fileBytes: Math.max(limits.file_bytes, limits.resource_bytes),
      times: { ...TIMES, ...this.#options.times },
      onChanged: () => {
        this.expire();
        this.changed?.();
      },
      onEnd: () => this.expire(),
    });
  }

  async #list(server: McpServer, limits: SkillRegistryConfig['limits']): Promise<void> {
    const before = this.#outdated;
    try {
      const found = await server.use(async (connection) => {
        const listed = await connection.list();
        const text = JSON.stringify([listed.skills, listed.invalid]);
        if (text !== this.#good.text) this.#good = await this.#readList(text, listed, limits.file_bytes);
        return listed;
      });
      const fresh = Math.min(Math.max(found.ttlMs ?? 0, FRESH_MS.least), FRESH_MS.most);
      this.#freshUntil = before === this.#outdated ? Date.now() + fresh : 0;
    } catch {
      // `failure` of the server has the reason.
    }
    this.#listing = undefined;
    const shown = this.#shown;
    if (this.#waiting === 0 && this.#show() !== shown) this.changed?.();
  }

  async #readList(text: string, listed: McpListing, maxBytes: number): Promise<Good> {
    const { id } = this.#options;
    const { skills, problems } = await skillsOf(listed, id, maxBytes);
    const all = [...skills].sort((a, b) => (a.skill.qualifiedId < b.skill.qualifiedId ? -1 : 1));
    const attacks = new Map<string, readonly Finding[]>();
    for (const { digest, files, header } of all) {
      const known = this.#good.attacks.get(digest);
      attacks.set(digest, known ?? (await blockFindingsIn(SKILL_MD, Buffer.from(header), files.keys())));
    }
    const first = new Map<string, Skill>();
    const losers: Skill[] = [];
    // In one step with its findings: what was found is listed to nobody.
    this.found = new Map(all.map((one) => [one.skill.qualifiedId, one]));
    const noted = all.map(({ digest, skill }) => {
      if (first.has(skill.id)) losers.push(skill);
      else first.set(skill.id, skill);
      const found = attacks.get(digest) ?? [];
      return found.length > 0 && this.noteBlocked(skill, digest, found);
    });
    await Promise.all(noted);
    return { text, skills: [...first.values()], losers, problems, attacks };
  }

  /** The same object while nothing has changed. */
  #show(): SourceScan {
    const { id, optional, server } = this.#options;
    const { text, problems: found } = this.#good;
    const failure = this.server?.failure;
    const { skills, losers } = failure?.code === 'MCP_CIRCLE' ? NO_SKILLS : this.#good;
    const problems = [...found];
    if (!optional && text === '' && this.#listing) problems.push(noAnswerYet(id, locationOf(server)));
    else if (!optional && failure)
      problems.push(failureProblem(id, locationOf(server), failure, skills.length + losers.length));
    const isSameText = JSON.stringify(this.#shown.problems) === JSON.stringify(problems);
    if (this.#shown.skills !== skills || !isSameText) this.#shown = { skills, losers, problems };
    return this.#shown;
  }
}

/** @param names - Of other files, which are judged without their contents. */
export async function blockFindingsIn(
  path: string,
  bytes: Uint8Array,
  names: Iterable<string> = [],
): Promise<readonly Finding[]> {
  const named = [...names].map((file): Finding => ({ rule: '', level: 'info', file, excerpt: '', message: '' }));
  const { inspection } = await inspectFiles(() => [{ path, bytes }, ...named]);
  return inspection.findings.filter(({ level }) => level === 'block');
}

/** For display. Leaves out an address's query and a program's arguments, which may contain secrets. */
export function locationOf({ command = [], url }: McpServerConfig): string {
  if (url === undefined) return [command].flat()[0] ?? '';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

// --- internal ---

const NO_SKILLS: Pick<Good, 'skills' | 'losers'> = { skills: [], losers: [] };
