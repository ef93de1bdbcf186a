import { join } from 'node:path';
import type { TurnContext } from './contract.ts';
import { type Discovery, discoverExtensions } from './discover.ts';
import { agentNotFound, agentUnavailable } from './errors.ts';
import { builtExtensions, packageRoot } from './package-root.ts';

/**
 * The turn of an agent, as its manifest declares it: what it may see, for a door that runs beside the kernel. Nothing is
 * started and no code of an extension runs.
 *
 * @throws AGENT_NOT_FOUND with the agents there are; AGENT_UNAVAILABLE when its manifest is broken or disables it.
 */
export function declaredTurn(rootDir: string, agentId: string): TurnContext {
  const discovery = findExtensions(rootDir);
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

/** The extensions of the package and of a root, with their manifests read. */
export function findExtensions(rootDir: string): Discovery {
  return discoverExtensions(builtExtensions(), join(rootDir, 'extensions'), join(packageRoot(), 'extensions'));
}
