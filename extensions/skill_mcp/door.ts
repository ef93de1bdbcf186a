import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  McpServer,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import { z } from 'zod';
import { createHookCaller, packageRoot } from '../../kernel/host.ts';
import { useZod } from '../../lib/arguments/index.ts';
import { foldLine } from '../../lib/text/index.ts';
import type { SkillRegistry } from '../skill_registry/api.ts';
import { invalidArgument } from './errors.ts';
import { createPublication } from './resources.ts';
import { createSdkSource, resourcesPage } from './sdk-source.ts';
import { clientOf, inThread, isThreadName, THREAD_NAME, turnOf } from './threads.ts';
import { invocableSkills, servePrompts, serveTools, toPrompt } from './tools-and-prompts.ts';

// The SDK has loaded it.
useZod(z);

export interface SkillMcpOptions {
  /** Serves the skills of `{ agentId, boundSkills }`. Default: all skills. */
  readonly turn?: TurnContext;
  /** The conversation of every request that does not name another one; 1-200 characters. Default: none. */
  readonly thread?: string;
  /**
   * For clients without the Skills extension. Default: `list_skills`, `read_skill`, `read_skill_resource`,
   * `propose_skill_update`, `list_proposals`; the last two need an agent in `turn`. A configured `dialect` adds tools.
   */
  readonly tools?: readonly string[];
  /** Entries per page, 1-1000. Default: 100. */
  readonly pageSize?: number;
  /**
   * The client is on this machine and receives paths (`directory` of `read_skill`, `${SKILL_DIR}` in prompts,
   * `<location>` of `format: xml`). For your own transport; stdio always sends paths, HTTP never. Default: false.
   */
  readonly local?: boolean;
  /** Called once for each of 100 clients, with the name and version that it gives itself. */
  readonly onClient?: (client: string, agentId?: string) => void;
  /** Called once per unpublished skill, and for requests that fail. */
  readonly onProblem?: (problem: Problem) => void;
}

export interface ListChange {
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** Tells the client of one server, if there is one. */
export function announce(server: McpServer, { resources, prompts }: ListChange): void {
  if (!server.isConnected()) return;
  if (resources) server.sendResourceListChanged();
  if (prompts) server.sendPromptListChanged();
}

/** Serves one scope of a registry through any number of MCP servers. */
export interface SkillMcpDoor {
  /** Makes an unconnected server for one connection or request. `local` defaults to the option of the door. */
  createServer(options?: { readonly local?: boolean }): Promise<McpServer>;
  /** Checks all skills. Returns SKILL_NOT_PUBLISHED for each unpublished one, and HOOK_FAILED. */
  problems(): Promise<readonly Problem[]>;
  /** Returns the function that unsubscribes. */
  onListChanged(listener: (change: ListChange) => void): () => void;
  /** For transports: what a client says of itself. @returns as one line of at most 100 characters. */
  noteClient(client: Implementation | undefined): string | undefined;
  /** For transports: calls a function of the host and adds its failure to `problems`. */
  callHook<T>(name: string, hook: () => T): T | undefined;
  /** Stops listening to the registry, which stays open. */
  close(): void;
}

/** @throws INVALID_ARGUMENT for an unknown tool, a wrong page size or name of a thread */
export function createSkillMcpDoor(registry: SkillRegistry, options: SkillMcpOptions = {}): SkillMcpDoor {
  const { thread, pageSize = 100 } = options;
  if (thread !== undefined && !isThreadName(thread)) throw invalidArgument(THREAD_NAME);
  const turn = thread === undefined ? (options.turn ?? {}) : inThread(options.turn ?? {}, thread);
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 1000) {
    throw invalidArgument(`The page size is 1-1000, got ${pageSize}.`);
  }
  const tools = registry.tools(offeredTools(registry, turn, options.tools));
  const names = tools.map(({ name }) => name);
  const publication = createPublication(registry, turn, registry.config.watch.interval_seconds * 1000);
  const clients = new Set<string>();
  const noteClient = (client: Implementation | undefined): string | undefined => {
    const name = client && foldLine(`${client.name} ${client.version}`).slice(0, MAX_CLIENT_NAME);
    if (name === undefined || clients.has(name) || clients.size >= MOST_CLIENTS) return name;
    clients.add(name);
    callHook('onClient', () => options.onClient?.(name, turn.agentId));
    return name;
  };
  const turnOfRequest = (ctx: ServerContext): TurnContext => {
    const envelope: { readonly [CLIENT_INFO_META_KEY]?: Implementation } = ctx.mcpReq.envelope ?? {};
    // A session has said it at its beginning, and so has the one client of a connection.
    const ofConnection = ctx.http || clients.size !== 1 ? undefined : [...clients][0];
    const client = noteClient(envelope[CLIENT_INFO_META_KEY]) ?? clientOf(ctx) ?? ofConnection;
    return { ...turnOf(ctx, turn), ...(client !== undefined && { client }) };
  };
  const onListed = (ids: readonly string[]): void => registry.admin.recordOffers(ids, turn);
  const extension = new SkillsExtension({
    source: createSdkSource(publication, pageSize, turnOfRequest, onListed),
    // Clients must not cache entries: no notification reports a changed file beside SKILL.md.
    cacheHint: { ttlMs: 0, cacheScope: 'private' },
    onWarning: ({ path, message }) => report({ code: 'SKILL_NOT_PUBLISHED', severity: 'warning', file: path, message }),
  });
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  const info = { name: 'skill-registry', version };
  let last: { readonly key: string; readonly text: Promise<string | null> } | undefined;
  const instructions = (local: boolean): Promise<string | null> => {
    const key = `${registry.snapshot().version} ${local}`;
    const client = local ? {} : ({ remoteClient: true } as const);
    if (last?.key !== key)
      last = { key, text: registry.context('', { ...turn, ...client, tools: names, preview: true }) };
    return last.text;
  };
  let reported: ReadonlyMap<string, Problem> = new Map();
  let isClosed = false;
  const hookProblems: Problem[] = [];
  const callHook = createHookCaller('skill_mcp', (problem) => void hookProblems.push(problem));
  const report = (problem: Problem): void => {
    // After `close` no skill can be read, which is not a fault of the skill.
    if (!isClosed) callHook('onProblem', () => options.onProblem?.(problem));
  };
  const listeners = new Set<(change: ListChange) => void>();
  let listed = listingOf(registry, turn);
  const reportNewProblems = async (): Promise<void> => {
    if (!options.onProblem) return;
    // `problems` rejects if the registry closes meanwhile.
    const problems = await publication.problems().catch(() => []);
    const before = reported;
    reported = new Map(problems.map((problem) => [`${problem.file}\n${problem.message}`, problem]));
    for (const [key, problem] of reported) if (!before.has(key)) report(problem);
  };
  const unsubscribe = registry.onChange(() => {
    const next = listingOf(registry, turn);
    const change = { resources: next.resources !== listed.resources, prompts: next.prompts !== listed.prompts };
    listed = next;
    if (change.resources || change.prompts)
      for (const listener of listeners) callHook('onListChanged', () => listener(change));
    void reportNewProblems();
  });
  // Reads all files of all skills: not before the client has its first answers.
  void whenInspected(registry, () => isClosed).then(reportNewProblems);

  return {
    async createServer({ local = options.local ?? false } = {}) {
      const text = await instructions(local);
      const server = new McpServer(info, {
        capabilities: {
          tools: {},
          prompts: { listChanged: true },
          resources: { listChanged: true },
          // Lets a registry with this server as a source detect that both are the same (sources/mcp/cycle.ts).
          experimental: { 'skill-registry': { instance: registry.admin.instanceId() } },
        },
        ...(text === null ? {} : { instructions: text }),
      });
      const connect = server.connect.bind(server);
      server.connect = (transport) => connect(withPresent(transport, () => instructions(local)));
      // One text serves many servers, most of which answer one request. `initialized` proves that a client
      // received it, so the text counts as shown only then.
      server.server.oninitialized = () => {
        noteClient(server.server.getClientVersion());
        void registry.context('', { ...turn, tools: names }).catch(() => undefined);
      };
      serveTools(server, tools, { turnOf: turnOfRequest, local });
      servePrompts(server, registry, { turnOf: turnOfRequest, pageSize, local });
      extension.attach(server);
      server.server.setRequestHandler('resources/list', ({ params }, ctx) =>
        resourcesPage(publication, turnOfRequest(ctx), params?.cursor, pageSize, onListed),
      );
      return server;
    },
    problems: async () => [...(await publication.problems()), ...hookProblems],
    callHook,
    noteClient,
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

const LOOKS_MS = 1_000;
const MOST_CLIENTS = 100;
const MAX_CLIENT_NAME = 100;

function offeredTools({ admin, config }: SkillRegistry, { agentId }: TurnContext, chosen?: readonly string[]) {
  const proposes = agentId !== undefined && config.agents[agentId]?.proposes !== false;
  const served = admin.servedTools();
  const named = chosen ?? served.map(({ name }) => name);
  const all = [...named, ...served.flatMap(({ name, always }) => (always ? name : []))];
  const needAgent = served.filter(({ name, always, needsAgent }) => needsAgent && !(always && chosen?.includes(name)));
  const isOffered = (name: string): boolean => proposes || !needAgent.some((one) => one.name === name);
  return [...new Set(all)].filter(isOffered);
}

async function whenInspected({ admin }: SkillRegistry, isOver: () => boolean): Promise<void> {
  while (!isOver() && admin.notInspected() > 0) await wait(LOOKS_MS, undefined, { ref: false });
}

/** Makes instructions anew when they are sent: those that a server was made with may name a skill held since. */
function withPresent(transport: Transport, instructions: () => Promise<string | null>): Transport {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const { instructions: old, ...result } = 'result' in message ? message.result : {};
    if (old === undefined) return send(message, options);
    const text = await instructions().catch(() => null);
    return send({ ...message, result: { ...result, ...(text !== null && { instructions: text }) } }, options);
  };
  return transport;
}

/** Each text changes exactly when the list of resources or of prompts changes. */
function listingOf(registry: SkillRegistry, turn: TurnContext): Readonly<Record<keyof ListChange, string>> {
  const resources = registry.visible(turn).map(({ id, digest }) => [id, digest]);
  const prompts = invocableSkills(registry, turn).map(toPrompt);
  return { resources: JSON.stringify(resources), prompts: JSON.stringify(prompts) };
}
