import { join } from 'node:path';
import type { Problem, TurnContext } from './contract.ts';
import { type Discovery, discoverExtensions } from './discover.ts';
import { agentNotFound, agentUnavailable } from './errors.ts';
import { foldersOfRoot } from './extension-folders.ts';
import { heldExtensions } from './held/held-extensions.ts';
import { builtExtensions, packageRoot } from './package-root.ts';
import { isDataInRoot } from './untrusted-root.ts';

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

/** One extension as `skill-registry extensions list` shows it. */
export interface ListedExtension {
  /** Its id; the name of its folder when the manifest is not known. */
  readonly id: string;
  readonly origin: 'package' | 'root';
  readonly version: string;
  /** Absolute. */
  readonly dir: string;
  readonly state: string;
  /** What agents wrote of it and nobody has approved. */
  readonly held: { readonly digest: string; readonly files: number; readonly by: readonly string[] } | null;
}

/** The extensions of the package and of a root, and what waits. Nothing is started and no code of an extension runs. */
export function listedExtensions(
  rootDir: string,
  trusted: boolean,
): { readonly extensions: readonly ListedExtension[]; readonly problems: readonly Problem[] } {
  const { extensions, broken, problems } = findExtensions(rootDir, trusted);
  const folder = join(rootDir, 'extensions');
  const held = trusted || isDataInRoot(rootDir) ? heldExtensions(rootDir) : [];
  const waiting = new Map(held.map((one) => [join(folder, one.name), one]));
  const heldAt = (dir: string): ListedExtension['held'] => {
    const held = waiting.get(dir);
    return held ? { digest: held.digest, files: held.files.length, by: held.by } : null;
  };
  const left = trusted ? [] : foldersOfRoot(folder, builtExtensions(), join(packageRoot(), 'extensions'));
  const listed: readonly Omit<ListedExtension, 'held'>[] = [
    ...extensions.map(({ manifest: { id, version, enabled }, dir, origin }) => ({
      ...{ id, origin, version, dir },
      state: enabled ? 'starts with the kernel' : 'off: enabled: false in its manifest',
    })),
    ...broken.map(({ name, dir, reason }) => ({
      ...{ id: name, origin: 'root' as const, version: '', dir },
      state: `broken: ${reason}`,
    })),
    ...left.map((name) => ({
      ...{ id: name, origin: 'root' as const, version: '', dir: join(folder, name) },
      state: 'left alone: nobody has approved the root',
    })),
  ];
  const known = new Set(listed.map(({ dir }) => dir));
  const fresh = [...waiting].filter(([dir]) => !known.has(dir));
  return {
    extensions: [
      ...listed.map((one) => ({ ...one, held: heldAt(one.dir) })),
      ...fresh.map(([dir, { name }]) => ({
        ...{ id: name, origin: 'root' as const, version: '', dir },
        state: 'not there yet',
        held: heldAt(dir),
      })),
    ],
    problems,
  };
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
