/** For the command only, not an export of the package. */
import { registryConfig } from './config.ts';
import { writeOwnerFile } from './core/config/owner-file.ts';
import type { ConfigReader } from './core/config/read-config.ts';
import type { FoundAgent } from './core/sources/agent-folders.ts';

export type * from './api.ts';
export { ownerFile } from './core/config/owner-file.ts';
export type { InternalOptions } from './core/options.ts';

export const configOfUntrustedRoot: ConfigReader['ofUntrustedRoot'] = registryConfig.ofUntrustedRoot;

/** What `init` writes. */
export async function startConfig(
  root: string,
): Promise<{ agents: readonly FoundAgent[]; text: string; write(): void }> {
  const { foundAgents } = await import('./core/sources/agent-folders.ts');
  const { starterConfig } = await import('./core/config/starter-config.ts');
  const agents = foundAgents(root);
  const presets = agents.map(({ preset }) => preset);
  const text = starterConfig(root, presets);
  return { agents, text, write: () => writeOwnerFile(root, text) };
}
