import type { Problem } from 'skill-registry/kernel';
import type { AgentConfig, DisabledSkill, SkillRegistryConfig } from './config.ts';
import type { PresetGroup } from './preset-table.ts';
import {
  bool,
  integerFrom,
  json,
  listOf,
  numberFrom,
  objectOf,
  oneOf,
  type Reader,
  type Readers,
  readerOf,
  recordOf,
  someText,
  text,
  textLike,
  wholly,
} from './readers.ts';
import { SOURCE_DEFAULTS } from './source-entry.ts';

export interface ConfigKey<T = unknown> {
  readonly read: Reader<T>;
  readonly default: T;
  /** Listed after this key. Default: last. */
  readonly after?: string;
  /** Values that show less than the default, which an unapproved root may set. Default: none. */
  readonly harmless?: IsHarmless | Readonly<Record<string, IsHarmless>>;
}

export type IsHarmless = (value: unknown) => boolean;

export interface ToolOfConfig {
  readonly name: string;
  /** In `tools` without a config; an unapproved root may name it too. Default: false. */
  readonly isDefault?: boolean;
  /** Listed after this tool. Default: last. */
  readonly after?: string;
}

export interface ConfigPart {
  readonly keys?: Readonly<Record<string, ConfigKey>>;
  readonly tools?: readonly ToolOfConfig[];
  /** Changes the config after all keys have been read. @param positionOf - Where a key got its value. */
  readonly complete?: (
    config: SkillRegistryConfig,
    positionOf: (path: readonly string[], value: unknown) => Pick<Problem, 'file' | 'line'>,
  ) => { readonly config: SkillRegistryConfig; readonly problems: readonly Problem[] };
}

export const atMost =
  (most: number): IsHarmless =>
  (value) =>
    typeof value === 'number' && value <= most;
export const among =
  (...allowed: readonly unknown[]): IsHarmless =>
  (value) =>
    allowed.includes(value);

export const DEFAULT_LIMITS: SkillRegistryConfig['limits'] = {
  skill_tokens: 8000,
  resource_bytes: 1_048_576,
  file_bytes: 4_194_304,
  scan_depth: 8,
};

/** As of a manifest: it is a part of an address. */
const AGENT_ID = /^[a-z][a-z0-9_-]{0,63}$/;
const EXPECTED_ID = 'expected lowercase letters, digits, _ and - as the name of an agent, first a letter, at most 64';

/** Without `sources`, `validation` and `tools`, whose values come from features, too. */
type CoreKey = 'disabled' | 'collision' | 'inject' | 'catalog' | 'watch' | 'limits' | 'gates' | 'agents';

export const CORE_KEYS: { readonly [Key in CoreKey]: ConfigKey<SkillRegistryConfig[Key]> } = {
  disabled: { read: listOf(disabledReader()), default: [], harmless: () => true },
  collision: { read: oneOf('first', 'last', 'error'), default: 'first', harmless: among('first', 'error') },
  inject: { read: oneOf('catalog', 'bodies', 'off'), default: 'catalog', harmless: among('catalog', 'off') },
  catalog: section<SkillRegistryConfig['catalog']>(
    { format: oneOf('bullets', 'xml'), budget_tokens: integerFrom(50), enforcement: bool, pinned: listOf(text) },
    { format: 'bullets', budget_tokens: 2000, enforcement: false, pinned: [] },
    { budget_tokens: atMost(2000), enforcement: among(false), format: among('bullets', 'xml') },
  ),
  watch: section<SkillRegistryConfig['watch']>(
    { mode: oneOf('events', 'poll', 'off'), interval_seconds: numberFrom(0.05, 86_400) },
    { mode: 'events', interval_seconds: 5 },
  ),
  limits: section(
    {
      skill_tokens: integerFrom(1),
      resource_bytes: integerFrom(1),
      file_bytes: integerFrom(1),
      scan_depth: integerFrom(0, 64),
      thread_tokens: integerFrom(1),
      agent_tokens_per_day: integerFrom(1),
    },
    DEFAULT_LIMITS,
    Object.fromEntries(Object.entries(DEFAULT_LIMITS).map(([key, most = 0]) => [key, atMost(most)])),
  ),
  gates: section<SkillRegistryConfig['gates']>(
    { check: bool, settings: recordOf(json) },
    { check: true, settings: {} },
    { check: among(true) },
  ),
  agents: { read: recordOf(wholly(agentReader()), textLike(AGENT_ID, EXPECTED_ID)), default: {} },
};

export const DEFAULT_SOURCES: SkillRegistryConfig['sources'] = [
  { path: 'skills', ...SOURCE_DEFAULTS, optional: true },
  { shipped: 'if_none', ...SOURCE_DEFAULTS },
];

/** Instead of `DEFAULT_SOURCES` where no config file is. */
export function presetSources(
  preset: PresetGroup,
): readonly [{ path: string; optional: true }, { preset: PresetGroup }, { shipped: 'if_none' }] {
  return [{ path: 'skills', optional: true }, { preset }, { shipped: 'if_none' }];
}

export const TOOLS_OF_CORE: readonly ToolOfConfig[] = ['list_skills', 'read_skill', 'read_skill_resource'].map(
  (name) => ({
    name,
    isDefault: true,
  }),
);

/** A key that holds others: a wrong one costs only itself. */
export function section<T extends object>(
  readers: Readers<T>,
  defaults: T,
  harmless?: Readonly<Record<string, IsHarmless>>,
): ConfigKey<T> {
  return { read: objectOf(readers, defaults), default: defaults, ...(harmless ? { harmless } : {}) };
}

// --- internal ---

function agentReader(): Reader<AgentConfig> {
  const workflow = objectOf<NonNullable<AgentConfig['workflow']>>({ pack: someText, state: someText }, {}, ['pack']);
  return objectOf<AgentConfig>(
    {
      skills: listOf(someText),
      sources: listOf(someText),
      tags: recordOf(listOf(someText)),
      workflow,
      proposes: bool,
      repeat: oneOf('full'),
    },
    { skills: [], sources: [], tags: {}, proposes: true },
  );
}

function disabledReader(): Reader<DisabledSkill> {
  const forAgent = objectOf<Exclude<DisabledSkill, string>>({ skill: someText, agent: someText }, {}, [
    'skill',
    'agent',
  ]);
  return readerOf({ anyOf: [someText.schema, forAgent.schema] }, (value, at) =>
    typeof value === 'object' ? forAgent(value, at) : someText(value, at),
  );
}
