import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import type { SourceConfig } from '../../config/config.ts';

/**
 * Identifies a registry on a machine: two processes that serve the same root with the same sources have the same value. The value
 * does not show where the root is.
 *
 * @param root - Absolute.
 */
export function instanceOf(root: string, sources: readonly SourceConfig[]): string {
  const stats = statSync(root, { throwIfNoEntry: false });
  const folder = stats ? [stats.dev, stats.ino, stats.birthtimeMs] : [root];
  const parts = JSON.stringify([hostname(), ...folder, sources]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}

/** The MCP capability that contains the `instanceOf` of one of our servers. */
export const INSTANCE_CAPABILITY = 'skill-registry';

/**
 * Names the registries that have started this process as their MCP server, directly or through others: without it a registry that
 * has itself as its MCP server would start processes without end.
 */
export const CHAIN_VARIABLE = 'SKILL_REGISTRY_MCP_CHAIN';

/** The longest chain of registries, each started by the one before. */
export const MAX_CHAIN = 8;

export function chainOfProcess(): readonly string[] {
  // biome-ignore lint/style/noProcessEnv: the process that started this one has set it
  const chain = process.env[CHAIN_VARIABLE] ?? '';
  return chain.split(',').filter((instance) => instance !== '');
}
