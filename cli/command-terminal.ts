import { createSkillRegistry } from 'skill-registry';
import type {
  CommandTerminal,
  FeatureCommands,
  Opening,
  OpenRegistry,
} from '../extensions/skill_registry/core/command-line.ts';
import type { InternalOptions } from '../extensions/skill_registry/host.ts';
import { createSecrets, mergeConfig } from '../kernel/host.ts';
import type { Options, Terminal } from '../lib/command-line/index.ts';
import { findRoot, flagConfig, isRoot, isTrusted, ownerConfig, takesPresets } from './find-root.ts';

export function commandTerminal(terminal: Terminal, features: readonly FeatureCommands[]): CommandTerminal {
  const opened = new WeakMap<Options, Promise<OpenRegistry>>();
  return {
    ...terminal,
    features,
    isRoot,
    findRoot: (options) => findRoot(options, terminal),
    configOf: (root, options) => ownerConfig(root, isTrusted(root, options, terminal)).values,
    openTeamPages: async (options) => (await import('../extensions/skill_review/index.ts')).openTeamPages(options),
    openRegistry(options, opening) {
      const open = opened.get(options) ?? openRegistry(options, terminal, opening);
      opened.set(options, open);
      return open;
    },
  };
}

// --- internal ---

/** Uses the same options as a kernel. */
async function openRegistry(
  options: Options & { readonly guard?: boolean },
  terminal: Terminal,
  { inspect = true, checksArguments = true, presets = true }: Opening = {},
): Promise<OpenRegistry> {
  const root = findRoot(options, terminal);
  const trusted = isTrusted(root, options, terminal);
  const owner = ownerConfig(root, trusted);
  const given: InternalOptions = {
    root,
    trust: trusted,
    ...(options.guard === false && { noGuard: true }),
    inspect,
    presets: presets && takesPresets(root, options, terminal),
    checksArguments,
    config: mergeConfig(owner.values, flagConfig(options, terminal)),
    asksForSecrets: true,
    getSecret: createSecrets(root, terminal.environment, trusted),
    onProgress: terminal.howFar,
  };
  const registry = await terminal.during('Reading skills', createSkillRegistry(given));
  terminal.atEnd(() => registry.close());
  return { root, trusted, registry, problems: () => [...owner.problems, ...registry.problems()] };
}
