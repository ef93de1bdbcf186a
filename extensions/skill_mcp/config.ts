import { z } from 'skill-registry/kernel';
import { invalidArgument } from './errors.ts';

/** The `config:` block of the manifest; docs/configuration.md explains every key. */
export interface SkillMcpConfig {
  readonly agent: string | null;
  readonly tools: readonly string[];
  readonly page_size: number;
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly allowed_hosts: readonly string[];
    readonly body_bytes: number;
    readonly request_seconds: number;
  };
}

const schema = z.strictObject({
  agent: z.string().nullable(),
  tools: z.array(z.string()),
  page_size: z.int().min(1).max(1000),
  http: z.strictObject({
    host: z.string().min(1),
    port: z.int().min(0).max(65_535),
    allowed_hosts: z.array(z.string().min(1)),
    body_bytes: z.int().min(1024),
    request_seconds: z.number().min(1).max(3600),
  }),
});

/**
 * Checks the config, whose defaults stand in the manifest. A port that is opened by mistake is worse than none, so nothing is
 * put right here.
 *
 * @throws INVALID_ARGUMENT that names the key.
 */
export function readMcpConfig(config: Readonly<Record<string, unknown>>): SkillMcpConfig {
  const parsed = schema.safeParse(config);
  if (parsed.success) return parsed.data;
  throw invalidArgument(`The config of skill_mcp is wrong: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
}
