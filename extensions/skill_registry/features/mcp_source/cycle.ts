import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import type { SourceConfig } from '../../core/config/config.ts';

/** Equal for processes with the same root and sources on one machine. A hash, so it does not reveal the root. */
export function instanceOf(root: string, sources: readonly SourceConfig[]): string {
  const stats = statSync(root, { throwIfNoEntry: false });
  const folder = stats ? [stats.dev, stats.ino, stats.birthtimeMs] : [root];
  const parts = JSON.stringify([hostname(), ...folder, sources]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}

/** The MCP capability with the `instanceOf` of our servers. */
export const INSTANCE_CAPABILITY = 'skill-registry';

/** The registries above this process. Without it, a registry that serves itself would start processes without end. */
export const CHAIN_VARIABLE = 'SKILL_REGISTRY_MCP_CHAIN';

export const MAX_CHAIN = 8;

export function chainOfProcess(): readonly string[] {
  // biome-ignore lint/style/noProcessEnv: the process that started this one has set it
  const chain = process.env[CHAIN_VARIABLE] ?? '';
  return chain.split(',').filter((instance) => instance !== '');
}
