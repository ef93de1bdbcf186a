import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { mergeConfig, type Problem } from 'skill-registry/kernel';
import { findRoot, flagConfig, ownerConfig } from './find-root.ts';
import type { GlobalOptions, Terminal } from './terminal.ts';
import { withProgress } from './with-progress.ts';

export interface OpenRegistry {
  readonly root: string;
  readonly registry: SkillRegistry;
  /** Of the registry and of its config file. */
  problems(): readonly Problem[];
}

/** The registry a command works on: the same the kernel would run with these flags, without the kernel. */
export async function openRegistry(options: GlobalOptions, terminal: Terminal): Promise<OpenRegistry> {
  const root = findRoot(options, terminal);
  const owner = ownerConfig(root);
  const config = mergeConfig(owner.values, flagConfig(options, terminal));
  const registry = await withProgress('Reading skills', terminal, createSkillRegistry({ root, config }));
  return { root, registry, problems: () => [...owner.problems, ...registry.problems()] };
}
