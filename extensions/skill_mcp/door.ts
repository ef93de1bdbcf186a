import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import { createHookCaller, packageRoot } from '../../kernel/host.ts';
import type { Skill, SkillRegistry } from '../skill_registry/api.ts';
import { invalidArgument } from './errors.ts';
import { createPublication } from './publication.ts';
import { createSkillSource } from './skill-source.ts';
import { invocableSkills, servePrompts, serveTools } from './tools-and-prompts.ts';

export interface SkillMcpOptions {
  /** Whose skills are served: `{ agentId, boundSkills }`. Default: all skills. */
  readonly turn?: TurnContext;
  /** Tools for clients that do not know the Skills extension. Default: `list_skills`, `read_skill`, `read_skill_resource`, `load_skill`. */
  readonly tools?: readonly string[];
  /** Entries in one page of an answer, 1-1000. Default: 100. */
  readonly pageSize?: number;
  /** The client is on this machine: `${SKILL_DIR}` in prompts is the real folder, not the address. Default: false. */
  readonly local?: boolean;
  /** Told once of each skill that is not published, and of what goes wrong with a request. */
  readonly onProblem?: (problem: Problem) => void;
}

/** What clients list has changed. */
export interface ListChange {
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** One scope of a registry, ready for any number of servers. Knows no transport. */
export interface SkillMcpDoor {
  /** A server for one connection or one request, not connected yet. */
  createServer(): Promise<McpServer>;
  /** Every skill that is not published, once all of them have been looked at; and HOOK_FAILED. */
  problems(): Promise<readonly Problem[]>;
  /** @returns unsubscribes. */
  onListChanged(listener: (change: ListChange) => void): () => void;
  /** For what carries it: calls a function of the host, whose failure is among `problems`. */
  callHook<T>(name: string, hook: () => T): T | undefined;
  /** Stops following the registry, which stays open. */
  close(): void;
}

export const DEFAULT_TOOLS: readonly string[] = ['list_skills', 'read_skill', 'read_skill_resource', 'load_skill'];

/** @throws INVALID_ARGUMENT for a tool or a page size that cannot be. */
export function createSkillMcpDoor(registry: SkillRegistry, options: SkillMcpOptions = {}): SkillMcpDoor {
  const { turn = {}, pageSize = 100, local = false } = options;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 1000) {
    throw invalidArgument(`The page size is 1-1000, got ${pageSize}.`);
  }
  const tools = registry.tools(options.tools ?? DEFAULT_TOOLS);
  const names = tools.map(({ name }) => name);
  const publication = createPublication(registry, turn, registry.config.watch.interval_seconds * 1000);
  const extension = new SkillsExtension({
    source: createSkillSource(publication, pageSize),
    // Entries are right when they leave, and nobody is told when a file beside SKILL.md changes.
    cacheHint: { ttlMs: 0, cacheScope: 'private' },
    onWarning: ({ path, message }) => tell({ code: 'SKILL_NOT_PUBLISHED', severity: 'warning', file: path, message }),
  });
  const info = { name: 'skill-registry', version: versionOf() };
  let instructions: { readonly version: number; readonly text: Promise<string | null> } | undefined;
  let told = new Set<string>();
  const hookProblems: Problem[] = [];
  const callHook = createHookCaller('skill_mcp', (problem) => void hookProblems.push(problem));
  const tell = (problem: Problem): void => void callHook('onProblem', () => options.onProblem?.(problem));
  const listeners = new Set<(change: ListChange) => void>();
  let listed = listingOf(registry, turn);
  const tellProblems = async (): Promise<void> => {
    if (!options.onProblem) return;
    const before = told;
    // Closed meanwhile: nobody wants to know.
    const problems = await publication.problems().catch(() => []);
    told = new Set(problems.map(keyOf));
    for (const problem of problems) if (!before.has(keyOf(problem))) tell(problem);
  };
  const unsubscribe = registry.onChange(() => {
    const next = listingOf(registry, turn);
    const change = { resources: next.resources !== listed.resources, prompts: next.prompts !== listed.prompts };
    listed = next;
    if (change.resources || change.prompts)
      for (const listener of listeners) callHook('onListChanged', () => listener(change));
    void tellProblems();
  });
  void tellProblems();

  return {
    async createServer() {
      const { version } = registry.snapshot();
      if (instructions?.version !== version)
        instructions = { version, text: registry.context('', { ...turn, tools: names }) };
      const text = await instructions.text;
      const server = new McpServer(info, {
        capabilities: { tools: {}, prompts: { listChanged: true }, resources: { listChanged: true } },
        ...(text === null ? {} : { instructions: text }),
      });
      serveTools(server, tools, turn);
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
      unsubscribe();
      listeners.clear();
    },
  };
}

// --- internal ---

/** What the lists of resources and prompts are made of; equal texts, equal lists. */
function listingOf(registry: SkillRegistry, turn: TurnContext): Readonly<Record<keyof ListChange, string>> {
  const resources = registry.visible(turn).map(({ id, digest }) => [id, digest]);
  const prompts = invocableSkills(registry, turn).map(promptKey);
  return { resources: JSON.stringify(resources), prompts: JSON.stringify(prompts) };
}

function promptKey({ id, name, description, arguments: names, argumentHint }: Skill): readonly unknown[] {
  return [id, name, description, names, argumentHint];
}

function keyOf({ file, message }: Problem): string {
  return JSON.stringify([file, message]);
}

function versionOf(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
