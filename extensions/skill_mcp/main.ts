import {
  CodedError,
  type Extension,
  type ExtensionContext,
  type ServiceProvider,
  type TurnContext,
  z,
} from 'skill-registry/kernel';
import { aborted } from '../../lib/waiting/index.ts';
import type { SkillRegistry, SkillRegistryExtension } from '../skill_registry/api.ts';
import { createAgentDoors } from './agent-doors.ts';
import { createSkillMcpDoor } from './door.ts';
import { invalidArgument, TOKEN_NAME } from './errors.ts';
import { type HttpServing, serveHttp } from './http.ts';

/** Serves the registry of a running kernel over HTTP. */
export class SkillMcpMain implements Extension, ServiceProvider {
  #context: ExtensionContext | undefined;
  #config: SkillMcpConfig | undefined;
  #serving: HttpServing | undefined;

  async initialize(context: ExtensionContext): Promise<void> {
    this.#context = context;
    // The manifest has the defaults. Wrong values are refused, never corrected: a wrong open port is worse than none.
    const { data, error } = schema.safeParse(context.config);
    if (!data)
      throw invalidArgument(`The config of skill_mcp is wrong: ${z.prettifyError(error).replaceAll('\n', ' ')}`);
    this.#config = data;
  }

  async start(): Promise<void> {}

  /** If the port is taken, the kernel starts this again later. */
  async runBackground(signal: AbortSignal): Promise<void> {
    const context = this.#context as ExtensionContext;
    const { agent, tools, page_size, http } = this.#config as SkillMcpConfig;
    const { registry } = context.getExtension<SkillRegistryExtension>('skill_registry');
    const door = createSkillMcpDoor(registry, {
      turn: turnOf(agent, context, registry),
      ...(tools && { tools }),
      pageSize: page_size,
      onProblem: ({ file, message }) => context.log.info(`${file}: ${message}`),
    });
    const turns = context.kernel.agents().map(({ id }) => turnOf(id, context, registry));
    const agents = createAgentDoors(registry, context.rootDir, [...turns, ...registry.admin.agents()], {
      ...(tools && { tools }),
      pageSize: page_size,
      onClient: (client, of) => context.log.info(`${of}: served to ${client}`),
    });
    try {
      this.#serving = await serveHttp(door, {
        host: http.host,
        port: http.port,
        token: context.getSecret(TOKEN_NAME),
        agents,
        allowedHosts: http.allowed_hosts,
        bodyBytes: http.body_bytes,
        requestSeconds: http.request_seconds,
        onError: (error) => context.log.debug(error.message),
      });
      context.notifyUser(`Skills over MCP: ${this.#serving.url}`);
      await aborted(signal);
    } finally {
      door.close();
      agents.close();
      await this.#serving?.close();
      this.#serving = undefined;
    }
  }

  async stop(): Promise<void> {
    await this.#serving?.close();
  }

  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return this.#serving !== undefined;
  }
}

// --- internal ---

function turnOf(agent: string | null, { kernel }: ExtensionContext, { admin }: SkillRegistry): TurnContext {
  if (agent === null) return { channelId: 'skill_mcp' };
  const agents = kernel.agents();
  const ofConfig = admin.agents();
  const declared = ofConfig.find(({ agentId }) => agentId === agent);
  if (declared) return { channelId: 'skill_mcp', ...declared };
  const found = agents.find(({ id }) => id === agent);
  if (!found) {
    const known = [...agents.map(({ id }) => id), ...ofConfig.map(({ agentId }) => agentId)].join(', ') || 'none';
    throw new CodedError('AGENT_NOT_FOUND', `The config of skill_mcp names no agent "${agent}". Agents: ${known}.`);
  }
  return { channelId: 'skill_mcp', agentId: agent, ...(found.usesSkills ? { boundSkills: found.usesSkills } : {}) };
}

const schema = z.strictObject({
  agent: z.string().nullable(),
  tools: z.array(z.string()).nullable(),
  page_size: z.int().min(1).max(1000),
  http: z.strictObject({
    host: z.string().min(1),
    port: z.int().min(0).max(65_535),
    allowed_hosts: z.array(z.string().min(1)),
    body_bytes: z.int().min(1024),
    request_seconds: z.number().min(1).max(3600),
  }),
});

type SkillMcpConfig = z.infer<typeof schema>;
