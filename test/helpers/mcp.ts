import { join } from 'node:path';
import {
  Client,
  type ClientOptions,
  type Implementation,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Problem } from 'skill-registry/kernel';
import {
  createAgentDoors,
  createSkillMcpDoor,
  type HttpServing,
  type ServeHttpOptions,
  type SkillMcpDoor,
  type SkillMcpOptions,
  serveHttp,
} from 'skill-registry/mcp';
import { onTestFinished } from 'vitest';
import { type OpenRegistry, openRegistry } from './open-registry.ts';
import type { AtEnd, Tree } from './temp-folder.ts';

const OWN_FOLDERS = ['XDG_STATE_HOME', 'XDG_CACHE_HOME'] as const;
const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');

/** A registry behind HTTP in this process, closed when the test has finished. */
export interface ServedRegistry extends OpenRegistry {
  readonly door: SkillMcpDoor;
  readonly serving: HttpServing;
  /** Every skill that was kept back so far. */
  readonly told: readonly Problem[];
}

export interface ServeOptions {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly mcp?: SkillMcpOptions;
  readonly http?: ServeHttpOptions;
  /** Agents of the config are served, too, each at its own address. */
  readonly agents?: boolean;
}

export async function serveRegistry(
  tree: Tree = {},
  { config, mcp, http, agents: servesAgents }: ServeOptions = {},
): Promise<ServedRegistry> {
  const opened = await openRegistry(tree, config);
  const told: Problem[] = [];
  const door = createSkillMcpDoor(opened.registry, { ...mcp, onProblem: (problem) => told.push(problem) });
  const { registry, root } = opened;
  const agents = servesAgents ? createAgentDoors(registry, root, registry.admin.agents(), mcp) : undefined;
  const serving = await serveHttp(door, { ...http, agents });
  onTestFinished(() => serving.close().finally(() => agents?.close()));
  return { ...opened, door, serving, told };
}

/** What every host of today speaks, and what the newest speak. */
export type Era = 'legacy' | 'modern';

/** The official client over HTTP, connected; closed when the test has finished. */
export async function httpClient(
  url: string,
  era: Era = 'modern',
  options: ClientOptions = {},
  atEnd: AtEnd = onTestFinished,
  token?: string,
  info?: Implementation,
): Promise<Client> {
  const client = newClient(era, options, info);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  atEnd(() => client.close());
  return client;
}

export interface StdioClient {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  stderr(): string;
}

/** The official client over stdio, which starts `skill-registry mcp` with these arguments. */
export async function stdioClient(
  args: readonly string[],
  era: Era = 'modern',
  options: ClientOptions = {},
): Promise<StdioClient> {
  const client = newClient(era, options);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    // The client hands on few variables: what was decided and inspected lies in folders of the tests.
    env: Object.fromEntries(OWN_FOLDERS.map((name) => [name, process.env[name] ?? ''])),
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (data) => {
    stderr += String(data);
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport, stderr: () => stderr };
}

/** The result of a tool, as its structured content gives it. */
export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<{ readonly result: Record<string, unknown>; readonly isError: boolean }> {
  const { structuredContent, isError = false } = await client.callTool({ name, arguments: args });
  return { result: structuredContent as Record<string, unknown>, isError };
}

// --- internal ---

function newClient(
  era: Era,
  options: ClientOptions,
  info: Implementation = { name: 'test', version: '1.0.0' },
): Client {
  const versionNegotiation = { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } as const;
  return new Client(info, { versionNegotiation, ...options });
}
