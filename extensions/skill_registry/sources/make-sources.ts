import { homedir } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { packageRoot } from 'skill-registry/kernel';
import type { SourceConfig } from '../config.ts';
import { createDirectorySource } from './directory-source.ts';
import type { SkillSource } from './source.ts';

/** The sources of a config, in its order, each with an id of its own. @param root - Absolute; relative paths start here. */
export function makeSources(configs: readonly SourceConfig[], root: string): readonly SkillSource[] {
  const taken = new Set<string>();
  const shipped = join(packageRoot(), 'skills');
  const located = configs.map((config) => ({
    config,
    location: config.shipped ? shipped : locate(config.path ?? '.', root),
  }));
  // In a checkout of the package, its skills are those of the root: one source, not two.
  const shippedIsListed = located.some(({ config, location }) => !config.shipped && location === shipped);
  return located
    .filter(({ config }) => !(config.shipped && shippedIsListed))
    .map(({ config, location }) => {
      const id = freeId(config.id ?? (config.shipped ? 'shipped' : basename(location)), taken);
      return createDirectorySource({ id, root: location, allowOutside: config.allow_outside });
    });
}

// --- internal ---

function locate(path: string, root: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? path : resolve(root, path);
}

function freeId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  for (let number = 2; taken.has(id); number++) id = `${wanted}-${number}`;
  taken.add(id);
  return id;
}
