import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import { createHookCaller, packageRoot } from '../../kernel/host.ts';
import type { Skill, SkillRegistry } from '../skill_registry/api.ts';
import { invalidArgument } from './errors.ts';
import { createPublication } from './publication.ts';
import { createSdkSource } from './sdk-source.ts';
import { invocableSkills, servePrompts, serveTools } from './tools-and-prompts.ts';

export interface SkillMcpOptions {
  /** The agent whose skills are served: `{ agentId, boundSkills }`. Default: all skills. */
  readonly turn?: TurnContext;
  /**
   * Tools for clients that do not know the Skills extension. Default: `list_skills`, `read_skill`, `read_skill_resource`, `load_skill`,
   * `propose_skill_update`, `list_proposals`. The last two are offered only when `turn` names an agent.
   */
  readonly tools?: readonly string[];
  /** Entries in one page of an answer, 1-1000. Default: 100. */
  readonly pageSize?: number;
  /**
   * For a transport of your own: whether the client is on this machine. Then it gets paths of folders (`directory` of `read_skill`,
   * `${SKILL_DIR}` in prompts, `<location>` of `format: xml`). Over stdio it always gets them, over HTTP never. Default: false.
   */
  readonly local?: boolean;
  /** Called once for each skill that is not published, and for failures of requests. */
  readonly onProblem?: (problem: Problem) => void;
}

/** Which of the lists that a client reads have changed. */
export interface ListChange {
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** The skills of one scope of a registry, for any number of MCP servers with any transport. */
export interface SkillMcpDoor {
  /**
   * Makes a server for one connection or one request. It is not connected yet.
   *
   * @param options.local - As `local` of `SkillMcpOptions`. Default: the value given there.
   */
  createServer(options?: { readonly local?: boolean }): Promise<McpServer>;
  /** Checks all skills. Gives SKILL_NOT_PUBLISHED for each one that is not published, and HOOK_FAILED. */
  problems(): Promise<readonly Problem[]>;
  /** @returns A function that ends the subscription. */
  onListChanged(listener: (change: ListChange) => void): () => void;
  /** For transports: calls a function of the host. Its failure is added to `problems`. */
  callHook<T>(name: string, hook: () => T): T | undefined;
  /** Stops listening to the registry. The registry stays open. */
  close(): void;
}

export const DEFAULT_TOOLS: readonly string[] = [
  'list_skills',
  'read_skill',
  'read_skill_resource',
  'propose_skill_update',
  'list_proposals',
];
/** Offered where the config of the registry has a `dialect`. */
const OF_DIALECTS: ReadonlySet<string> = new Set(['load_skill', 'skill', 'skill__activate', 'skill__read_resource']);
/** Tools that need an agent with a name: a proposal has an author, who may list its own proposals. */
const WITH_AGENT: ReadonlySet<string> = new Set(['propose_skill_update', 'list_proposals']);

/** @throws INVALID_ARGUMENT for an unknown tool, or an invalid page size. */
export function createSkillMcpDoor(registry: SkillRegistry, options: SkillMcpOptions = {}): SkillMcpDoor {
  const { turn = {}, pageSize = 100 } = options;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 1000) {
    throw invalidArgument(`The page size is 1-1000, got ${pageSize}.`);
  }
  const { dialect, tools: ofAgents } = registry.config;
  const added = dialect.length > 0 ? ofAgents.filter((name) => OF_DIALECTS.has(name)) : [];
  const named = [...(options.tools ?? DEFAULT_TOOLS), ...added];
  const offered = [...new Set(named)].filter((name) => !WITH_AGENT.has(name) || turn.agentId);
  const tools = registry.tools(offered);
  const names = tools.map(({ name }) => name);
  const publication = createPublication(registry, turn, registry.config.watch.interval_seconds * 1000);
  const extension = new SkillsExtension({
    source: createSdkSource(publication, pageSize, (ids) => registry.admin.recordOffers(ids, turn)),
    // Clients are not notified when a file beside SKILL.md changes, so they must not cache entries.
    cacheHint: { ttlMs: 0, cacheScope: 'private' },
    onWarning: ({ path, message }) => report({ code: 'SKILL_NOT_PUBLISHED', severity: 'warning', file: path, message }),
  });
  const info = { name: 'skill-registry', version: versionOf() };
  let instructions:
    | { readonly version: number; readonly local: boolean; readonly text: Promise<string | null> }
    | undefined;
  let reported = new Set<string>();
  let isClosed = false;
  const hookProblems: Problem[] = [];
  const callHook = createHookCaller('skill_mcp', (problem) => void hookProblems.push(problem));
  const report = (problem: Problem): void => {
    // After `close` no skill can be read, and this is not a fault of the skill.
    if (!isClosed) callHook('onProblem', () => options.onProblem?.(problem));
  };
  const listeners = new Set<(change: ListChange) => void>();
  let listed = listingOf(registry, turn);
  const reportNewProblems = async (): Promise<void> => {
    if (!options.onProblem) return;
    const before = reported;
    // `problems` rejects when the registry is closed meanwhile.
    const problems = await publication.problems().catch(() => []);
    reported = new Set(problems.map(problemKey));
    for (const problem of problems) if (!before.has(problemKey(problem))) report(problem);
  };
  const unsubscribe = registry.onChange(() => {
    const next = listingOf(registry, turn);
    const change = { resources: next.resources !== listed.resources, prompts: next.prompts !== listed.prompts };
    listed = next;
    if (change.resources || change.prompts)
      for (const listener of listeners) callHook('onListChanged', () => listener(change));
    void reportNewProblems();
  });
  void reportNewProblems();

  return {
    async createServer({ local = options.local ?? false } = {}) {
      const { version } = registry.snapshot();
      if (instructions?.version !== version || instructions.local !== local) {
        const reader = {
          ...turn,
          tools: names,
          preview: true,
          ...(local ? {} : { remoteClient: true as const }),
        } as const;
        instructions = { version, local, text: registry.context('', reader) };
      }
      const text = await instructions.text;
      const server = new McpServer(info, {
        capabilities: {
          ...{ tools: {}, prompts: { listChanged: true }, resources: { listChanged: true } },
          // Tells a registry that has this server as a source whether both are the same registry (sources/mcp/cycle.ts).
          experimental: { 'skill-registry': { instance: registry.admin.instanceId() } },
        },
        ...(text === null ? {} : { instructions: text }),
      });
      // The text is written once for many servers, most of which answer one request. It is recorded as
      // shown when a client reports `initialized`, because only then a client has read it.
      server.server.oninitialized = () => void registry.context('', { ...turn, tools: names }).catch(() => undefined);
      serveTools(server, tools, { turn, local });
      servePrompts(server, registry, { turn, pageSize, local });
      extension.attach(server);
      return server;
    },
    problems: async () => [...(await publication.problems()), ...hookProblems],
    callHook,
    onListChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      isClosed = true;
      unsubscribe();
      listeners.clear();
    },
  };
}

// --- internal ---

/** One text for each list. It changes exactly when the list of resources or of prompts changes. */
function listingOf(registry: SkillRegistry, turn: TurnContext): Readonly<Record<keyof ListChange, string>> {
  const resources = registry.visible(turn).map(({ id, digest }) => [id, digest]);
  const prompts = invocableSkills(registry, turn).map(promptKey);
  return { resources: JSON.stringify(resources), prompts: JSON.stringify(prompts) };
}

function promptKey({ id, name, description, arguments: names, argumentHint }: Skill): readonly unknown[] {
  return [id, name, description, names, argumentHint];
}

function problemKey({ file, message }: Problem): string {
  return JSON.stringify([file, message]);
}

function versionOf(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
