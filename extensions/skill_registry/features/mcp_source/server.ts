import { describeError } from 'skill-registry/kernel';
import { fillSecrets, withoutSecrets } from '../../../../lib/secrets/index.ts';
import { oneLine } from '../../../../lib/text/index.ts';
import { backOff } from '../../../../lib/waiting/index.ts';
import type { McpServerConfig } from './config.ts';
import { type ConnectOptions, connect, type McpConnection } from './connect.ts';
import type { McpFailure } from './errors.ts';

export interface McpServerOptions extends Omit<ConnectOptions, 'signal'> {
  readonly getSecret: (name: string) => string | undefined;
  readonly instance: string;
}

const RETRY = { firstMs: 1_000, maxMs: 60_000 };

/** A server of the config. Connects when first needed and again after a failure, once at a time. */
export class McpServer {
  readonly #options: McpServerOptions;
  readonly #closed = new AbortController();
  #connecting: Promise<McpConnection> | undefined;
  /** Undefined while the server works, and before it is first needed. */
  failure: McpFailure | undefined;
  #secrets: readonly string[] = [];

  constructor(options: McpServerOptions) {
    this.#options = options;
  }

  get mayTry(): boolean {
    return !this.#closed.signal.aborted && (!this.failure || Date.now() >= this.failure.retryAt);
  }

  /**
   * If an older connection fails, tries once more with a new one: the server may have restarted.
   * @param isAnswer - Whether an error of `work` is an answer, and no failure of the server. Default: none is.
   */
  async use<T>(
    work: (connection: McpConnection) => Promise<T>,
    isAnswer: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    const isOld = this.#connecting !== undefined;
    this.#closed.signal.throwIfAborted();
    this.#connecting ??= this.#connect().catch((error) => {
      this.#connecting = undefined;
      throw error;
    });
    const connection = await this.#connecting;
    try {
      const result = await work(connection);
      this.failure = undefined;
      return result;
    } catch (error) {
      if (isAnswer(error) || this.#closed.signal.aborted) throw error;
      this.#connecting = undefined;
      await connection.close().catch(() => undefined);
      if (isOld) return this.use(work, isAnswer);
      this.#fail('MCP_SERVER_FAILED', connection.describe(error));
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const connection = await this.#connecting?.catch(() => undefined);
    await connection?.close().catch(() => undefined);
  }

  async #connect(): Promise<McpConnection> {
    const { instance, onEnd, server } = this.#options;
    const chain = chainOfProcess();
    const circle = whyCircle(chain, instance);
    if (circle) throw this.#fail('MCP_CIRCLE', circle);
    const { filled, missing } = this.#withSecrets(server);
    if (missing.length > 0)
      throw this.#fail('MCP_SECRET_MISSING', `the secret ${missing.join(' and ')}, which the source names, is not set`);
    const env = { ...filled.env, [CHAIN_VARIABLE]: [...chain, instance].join(',') };
    let connection: McpConnection | undefined;
    try {
      connection = await connect({
        ...this.#options,
        server: filled.url === undefined ? { ...filled, env } : filled,
        signal: this.#closed.signal,
        onEnd: () => {
          this.#connecting = undefined;
          onEnd();
        },
      });
    } catch (error) {
      throw this.#fail('MCP_SERVER_FAILED', describeError(error));
    }
    const other = connection.instance;
    if (other !== undefined && [...chain, instance].includes(other)) {
      await connection.close().catch(() => undefined);
      const self =
        other === instance ? 'it is this registry itself' : 'it is a registry that uses this one as its server';
      throw this.#fail('MCP_CIRCLE', self);
    }
    if (connection.hasSkills) return connection;
    await connection.close().catch(() => undefined);
    throw this.#fail('MCP_SERVER_FAILED', 'it does not offer skills (the extension io.modelcontextprotocol/skills)');
  }

  #fail(code: McpFailure['code'], reason: string): Error {
    const before = this.failure?.code === code ? this.failure : undefined;
    const times = (before?.times ?? 0) + 1;
    const now = Date.now();
    const wait = code === 'MCP_CIRCLE' ? RETRY.maxMs : backOff(times, RETRY);
    const shown = oneLine(withoutSecrets(reason, this.#secrets), 300).replace(/\.$/, '');
    this.failure = { code, reason: shown, since: before?.since ?? now, times, retryAt: now + wait };
    return new Error(shown);
  }

  #withSecrets(server: McpServerConfig): { readonly filled: McpServerConfig; readonly missing: readonly string[] } {
    const { getSecret } = this.#options;
    const [env, headers] = [fillSecrets(server.env, getSecret), fillSecrets(server.headers, getSecret)];
    this.#secrets = [...env.secrets, ...headers.secrets];
    const missing = [...new Set([...env.missing, ...headers.missing])];
    return { filled: { ...server, env: env.filled, headers: headers.filled }, missing };
  }
}

// --- internal ---

/** The registries above this process. Without it, a registry that serves itself would start processes without end. */
const CHAIN_VARIABLE = 'SKILL_REGISTRY_MCP_CHAIN';
const MAX_CHAIN = 8;

function chainOfProcess(): readonly string[] {
  // biome-ignore lint/style/noProcessEnv: the process that started this one has set it
  const chain = process.env[CHAIN_VARIABLE] ?? '';
  return chain.split(',').filter((instance) => instance !== '');
}

function whyCircle(chain: readonly string[], instance: string): string | undefined {
  if (chain.includes(instance)) return 'this process was started as the MCP server of this registry';
  if (chain.length < MAX_CHAIN) return undefined;
  return `this process is the last of ${chain.length} registries, each the MCP server of the one before`;
}
