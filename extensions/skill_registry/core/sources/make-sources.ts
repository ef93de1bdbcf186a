import type { SourceConfig } from '../config/config.ts';
import { CORE_KINDS, shippedFolder } from './kinds/core-kinds.ts';
import { createDirectorySource } from './kinds/directory-source.ts';
import { changeScans, freeId, type SkillSource } from './source.ts';
import type { SourceDefaults, SourceHost, SourceKind } from './source-kind.ts';

/**
 * An entry of some kinds becomes several sources, or none.
 * @param kinds - That features give. @param taken - Ids in use; new ids are added.
 */
export async function makeSources(
  configs: readonly SourceConfig[],
  { kinds = [], taken, ...defaults }: SourceDefaults & { kinds?: readonly SourceKind[]; taken: Set<string> },
): Promise<readonly SkillSource[]> {
  const all = [...CORE_KINDS, ...kinds];
  const decide = defaults.decisions?.now();
  const made: SkillSource[] = [];
  for (const config of configs) {
    const kind = all.find(({ key }) => config[key as keyof SourceConfig] !== undefined);
    if (!kind) continue;
    for (const opened of await kind.open(config, hostOf(config, configs, taken, defaults))) {
      const source = config.preload && kind.preload !== 'own' ? preloaded(opened) : opened;
      made.push(decide && !kind.asksItself ? await decide(source) : source);
    }
  }
  return made;
}

export function makeBuiltInSource(taken: Set<string>, cache: SourceDefaults['cache']): SkillSource {
  const id = takeFreeId(BUILT_IN, taken);
  const source = createDirectorySource({ id, root: shippedFolder(), cache, allowOutside: false, optional: true });
  return { ...source, watchFolders: () => [] };
}

export function takeFreeId(base: string, taken: Set<string>): string {
  const id = freeId(base, taken, '-');
  taken.add(id);
  return id;
}

// --- internal ---

/** The first part of qualified ids of built-in skills; no other source has it. */
const BUILT_IN = 'skill-registry';

function hostOf(
  config: SourceConfig,
  entries: readonly SourceConfig[],
  taken: Set<string>,
  defaults: SourceDefaults,
): SourceHost {
  const { root, cache, profile, trusted = true } = defaults;
  const takeId = (id: string): string => takeFreeId(id, taken);
  return {
    ...defaults,
    trusted,
    entries,
    takeId,
    // Without colons, and characters that are hard to type.
    idOr: (name) => takeId(config.id ?? (name.replace(/[\s:`[\]\p{C}]+/gu, '-') || 'source')),
    options: {
      allowOutside: config.allow_outside,
      optional: config.optional,
      ignoreFiles: config.ignore_files,
      bareFiles: config.bare_files,
      profile: profile?.(config.validation),
      registryRoot: root,
      cache,
    },
  };
}

function preloaded(source: SkillSource): SkillSource {
  return changeScans(source, (scan) => {
    return { ...scan, skills: scan.skills.map((skill) => ({ ...skill, preload: true as const })) };
  });
}
