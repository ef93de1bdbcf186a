import type { Problem } from 'skill-registry/kernel';
import type { Profile, ValidationProfile } from '../skill/profile.ts';
import type { SkillRegistryConfig, SkillRegistryConfigInput, SourceConfig, ToolName } from './config.ts';
import { among, CORE_KEYS, type ConfigKey, type ConfigPart, DEFAULT_SOURCES, TOOLS_OF_CORE } from './config-keys.ts';
import { collectProblems, keyFinder } from './config-problems.ts';
import { type JsonSchema, listOf, objectOf, oneOf, plainCopy, type Reader, type Readers } from './readers.ts';
import { type SourceEntry, sourceReader } from './source-entry.ts';
import { configOfUntrustedRoot, type Values } from './untrusted-config.ts';

/** Reads the config with the keys, kinds of sources and tools of the core and its features. */
export interface ConfigReader {
  readonly schema: JsonSchema;
  /**
   * Unknown keys and wrong values are CONFIG_KEY_INVALID problems, with lines of `file` (the owner's) or `manifest`. A
   * wrong key gets its default; a wrong entry of a list is left out.
   */
  read(
    input: SkillRegistryConfigInput,
    file: string,
    manifest?: string,
  ): { readonly config: SkillRegistryConfig; readonly problems: readonly Problem[] };
  readonly readSource: ReadSource;
  ofUntrustedRoot(values: Values, rootDir: string): ReturnType<typeof configOfUntrustedRoot>;
}

/** Fills in the defaults of one source; undefined when it is wrong. `path`: its keys, for the problems. */
export type ReadSource = (
  entry: unknown,
  path: readonly string[],
  file: string,
) => { readonly source?: SourceConfig | undefined; readonly problems: readonly Problem[] };

interface GivesConfig {
  readonly sources?: readonly SourceEntry[];
  readonly config?: ConfigPart;
  readonly profiles?: readonly Pick<Profile, 'name'>[];
}

/** @param parts - First the core kinds of sources, then the features. */
export function configOf(parts: readonly GivesConfig[]): ConfigReader {
  const kinds = inOrder(parts.flatMap(({ sources = [] }) => sources.map((kind) => [kind.key, kind] as const)));
  const secrets = kinds.flatMap(([, { hidden = [] }]) => hidden);
  const profiles = ['lenient', ...parts.flatMap((part) => part.profiles ?? []).map(({ name }) => name)] as const;
  const validation = oneOf<ValidationProfile>(...profiles);
  const source = sourceReader(
    kinds.map(([, kind]) => kind),
    validation,
  );
  const keys = keysOf(parts, source, { read: validation, default: 'lenient', harmless: among(...profiles) });
  const defaults = Object.fromEntries(
    Object.entries(keys).map(([name, key]) => [name, key.default]),
  ) as unknown as SkillRegistryConfig;
  const readers = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key.read]));
  const config = objectOf(readers as Readers<SkillRegistryConfig>, defaults);
  return {
    schema: config.schema,
    read(input, file, manifest) {
      const findKey = keyFinder(file, manifest);
      const { at, problems } = collectProblems(file, [], 'the default is used', { findKey, secrets });
      const given = plainCopy(() => input);
      let read = config(given, at) ?? defaults;
      const found: Problem[] = [];
      for (const { config: part } of parts) {
        const completed = part?.complete?.(read, (path, value) => ({ file, ...findKey(path, value) }));
        read = completed?.config ?? read;
        found.push(...(completed?.problems ?? []));
      }
      return { config: structuredClone(read), problems: [...problems(), ...found] };
    },
    readSource(entry, path, file) {
      const { at, problems } = collectProblems(file, path, '', { refused: 'the source is not added', secrets });
      const given = plainCopy(() => entry);
      return { source: source(given, at), problems: problems() };
    },
    ofUntrustedRoot: (values, rootDir) => configOfUntrustedRoot(values, rootDir, keys),
  };
}

// --- internal ---

function keysOf(
  parts: readonly GivesConfig[],
  source: Reader<SourceConfig>,
  validation: ConfigKey<ValidationProfile>,
): Readonly<Record<string, ConfigKey>> {
  const ofFeatures = parts.flatMap(({ config }) => config?.tools ?? []);
  const tools = inOrder([...TOOLS_OF_CORE, ...ofFeatures].map((tool) => [tool.name, tool] as const));
  const byDefault = tools.filter(([, { isDefault }]) => isDefault).map(([name]) => name);
  const ofCore: Readonly<Record<string, ConfigKey>> = {
    sources: { read: listOf(source), default: DEFAULT_SOURCES },
    ...CORE_KEYS,
    validation: { ...validation, after: 'collision' },
    tools: {
      read: listOf(oneOf(...tools.map(([name]) => name as ToolName))),
      default: byDefault,
      after: 'limits',
      harmless: (value) => Array.isArray(value) && value.every((name) => byDefault.includes(name)),
    },
  };
  const all = [ofCore, ...parts.map(({ config }) => config?.keys ?? {})].flatMap((keys) => Object.entries(keys));
  return Object.fromEntries(inOrder(all));
}

/** Each after the one that it names, else last. */
function inOrder<T extends { readonly after?: string }>(
  given: readonly (readonly [name: string, value: T])[],
): readonly (readonly [name: string, value: T])[] {
  const ordered: (readonly [name: string, value: T])[] = [];
  for (const one of given) {
    const before = ordered.findIndex(([name]) => name === one[1].after);
    ordered.splice(before === -1 ? ordered.length : before + 1, 0, one);
  }
  return ordered;
}
