import { join } from 'node:path';
import type { TurnContext } from './contract.ts';
import { type Discovery, discoverExtensions } from './discover.ts';
import { agentNotFound, agentUnavailable } from './errors.ts';
import { builtExtensions, packageRoot } from './package-root.ts';

/**
 * The turn of an agent, as its manifest declares it: what it may see, for a door that runs beside the kernel. Nothing is
 * started and no code of an extension runs.
 *
 * @param trusted - Whether the manifests of the root count; those of the package always do.
 * @throws AGENT_NOT_FOUND with the agents there are; AGENT_UNAVAILABLE when its manifest is broken or disables it.
 */
export function declaredTurn(rootDir: string, agentId: string, trusted: boolean): TurnContext {
  const discovery = findExtensions(rootDir, trusted);
  const agents = discovery.extensions.filter(({ manifest }) => manifest.agent);
  const found = agents.find(({ manifest }) => manifest.id === agentId);
  if (!found) {
    const broken = discovery.broken.find(({ name }) => name === agentId);
    if (broken) throw agentUnavailable(agentId, broken.reason);
    throw agentNotFound(
      agentId,
      agents.map(({ manifest }) => manifest.id),
    );
  }
  const { enabled, agent } = found.manifest;
  if (!enabled) throw agentUnavailable(agentId, 'its manifest says enabled: false');
  return { agentId, ...(agent?.uses_skills ? { boundSkills: agent.uses_skills } : {}) };
}

/**
 * The extensions of the package and of a root, with their manifests read.
 *
 * @param trusted - false: those of the root are left out.
 */
export function findExtensions(rootDir: string, trusted: boolean): Discovery {
  const folder = trusted ? join(rootDir, 'extensions') : undefined;
  return discoverExtensions(builtExtensions(), folder, join(packageRoot(), 'extensions'));
}
