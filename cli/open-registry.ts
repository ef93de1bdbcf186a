import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import type { Problem } from 'skill-registry/kernel';
import type { InternalOptions } from '../extensions/skill_registry/host.ts';
import { createSecrets, mergeConfig } from '../kernel/host.ts';
import { findRoot, flagConfig, isTrusted, ownerConfig } from './find-root.ts';
import type { Options, Terminal } from './terminal.ts';

export interface OpenRegistry {
  readonly root: string;
  /** Code and settings of the root take effect. */
  readonly trusted: boolean;
  readonly registry: SkillRegistry;
  /** Includes problems of the config file. */
  problems(): readonly Problem[];
}

interface Opening {
  /** False for a command that must be quick and does not report what agents are given. Default: true. */
  readonly inspect?: boolean;
  /** False for commands that only read: TypeScript checked their calls, and zod loads slowly. Default: true. */
  readonly checksArguments?: boolean;
}

/** Uses the same options as a kernel. The registry is closed when the command ends. */
export async function openRegistry(
  options: Options,
  terminal: Terminal,
  { inspect = true, checksArguments = true }: Opening = {},
): Promise<OpenRegistry> {
  const root = findRoot(options, terminal);
  const trusted = isTrusted(root, options, terminal);
  const owner = ownerConfig(root, trusted);
  const given: InternalOptions = {
    root,
    trust: trusted,
    inspect,
    checksArguments,
    config: mergeConfig(owner.values, flagConfig(options, terminal)),
    getSecret: createSecrets(root, terminal.environment, trusted),
    onProgress: terminal.say,
  };
  const registry = await terminal.during('Reading skills', createSkillRegistry(given));
  terminal.atEnd(() => registry.close());
  return { root, trusted, registry, problems: () => [...owner.problems, ...registry.problems()] };
}
