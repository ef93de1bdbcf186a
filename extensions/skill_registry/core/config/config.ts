import type { Problem } from 'skill-registry/kernel';
import { isLoopback } from '../../../../lib/loopback/index.ts';
import { isAddress, type McpServerConfig, mcpServer } from '../../features/mcp_source/config.ts';
import type { ValidationProfile } from '../skill/spec-rules.ts';
import { collectProblems, keyFinder, sourceAdvice } from './config-problems.ts';
import { PRESET_NAMES, type PresetName } from './presets.ts';
import {
  bool,
  integerFrom,
  type JsonSchema,
  json,
  listOf,
  numberFrom,
  objectOf,
  oneOf,
  plainCopy,
  type Reader,
  readerOf,
  recordOf,
  refine,
  text,
  textLike,
  valueThat,
} from './readers.ts';

/** `name` or `@scope/name`, by npm's present rules; no name can leave node_modules. */
export const PACKAGE_NAME: RegExp = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

export interface EmbeddingsConfig {
  /** Address of an OpenAI-compatible API without `/embeddings`; empty: search uses words only. */
  readonly base_url: string;
  readonly model: string;
  /** How long a search or a turn waits for the vector of its query, in milliseconds. */
  readonly timeout_ms: number;
  /** Most texts in one request. */
  readonly batch: number;
}

/** Has exactly one of `path`, `package`, `pack`, `inline`, `preset`, `shipped`, `wellKnown` and `mcp`. */
export interface SourceConfig {
  /** A folder, or a bare `.md` file: absolute, below `~/`, or relative to the root. */
  readonly path?: string | undefined;
  /** An npm package that can be resolved from the root. */
  readonly package?: string | undefined;
  readonly pack?: string | undefined;
  readonly inline?: InlineSkillConfig | readonly InlineSkillConfig[] | undefined;
  /** The skill folders of another agent: those of the project, nearest first, then that of the home directory. */
  readonly preset?: PresetName | undefined;
  /** The skills of this package; `if_none`: only while no earlier source has a skill. */
  readonly shipped?: true | 'if_none' | undefined;
  /** The skills of an MCP server. They are listed; a file is fetched when it is read. */
  readonly mcp?: McpServerConfig | undefined;
  /** Address of a page with skills: https:, or http: on this machine. Copies are kept in the user's cache directory. */
  readonly wellKnown?: string | undefined;
  /** A page is asked again after this many seconds. Default: 60. */
  readonly interval_seconds?: number | undefined;
  /** Default: name of the folder, file, package, pack, preset, program, host; `inline`, `shipped`. Numbered if used. */
  readonly id?: string | undefined;
  /** Follow links and pack entries that lead outside the folder. Default: false; they are problems. */
  readonly allow_outside: boolean;
  /** Default: `validation` of the registry. */
  readonly validation?: ValidationProfile | undefined;
  /** Every prompt contains the bodies of its skills. Default: false. */
  readonly preload: boolean;
  /** It is no problem if it does not exist. Default: false. */
  readonly optional: boolean;
  /** Ignore what its `.gitignore` and `.ignore` files name. Default: false. */
  readonly ignore_files: boolean;
  /** `.md` files directly in the folder, except README.md, are skills, too. Default: false. */
  readonly bare_files: boolean;
  /** Its skills may be changed under `writes`. Default: true for a `path`, else false. */
  readonly writable?: boolean | undefined;
}

export interface InlineSkillConfig {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** Text of its other files by relative path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

export type WriteMode = 'allow' | 'propose' | 'deny';

/** Disables a skill by id (every skill of that id) or qualified id, for all agents or only for `agent`. */
export type DisabledSkill = string | { readonly skill: string; readonly agent: string };

/** The `config:` block of the manifest; docs/configuration.md explains every key. */
export interface SkillRegistryConfig {
  readonly sources: readonly SourceConfig[];
  readonly disabled: readonly DisabledSkill[];
  /** Which source wins when several have one id; `error`: none, and each collision is an error. */
  readonly collision: 'first' | 'last' | 'error';
  readonly validation: ValidationProfile;
  /** What a system prompt contains: the catalog, bodies, or only preloaded skills. */
  readonly inject: 'catalog' | 'bodies' | 'off';
  readonly catalog: {
    readonly format: 'bullets' | 'xml';
    readonly budget_tokens: number;
    readonly enforcement: boolean;
    readonly pinned: readonly string[];
  };
  readonly watch: { readonly mode: 'events' | 'poll' | 'off'; readonly interval_seconds: number };
  readonly writes: { readonly create: WriteMode; readonly update: WriteMode; readonly delete: WriteMode };
  readonly limits: {
    readonly skill_tokens: number;
    readonly resource_bytes: number;
    readonly file_bytes: number;
    readonly scan_depth: number;
  };
  readonly tools: readonly ToolName[];
  /** Adds the tools of other designs after `tools`. */
  readonly dialect: readonly Dialect[];
  readonly embeddings: EmbeddingsConfig;
  /** Whether gates such as `requires.bins` hide skills, and the settings for `requires.config`. */
  readonly gates: { readonly check: boolean; readonly settings: Readonly<Record<string, unknown>> };
  /** Whether agents' use of skills is recorded. */
  readonly usage: boolean;
}

type Given<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

export type SourceConfigInput = Given<SourceConfig>;

type ConfigSections = Pick<SkillRegistryConfig, 'catalog' | 'watch' | 'writes' | 'limits' | 'embeddings' | 'gates'>;

/** Every key has a default. `readConfig` checks it at run time. */
export interface SkillRegistryConfigInput
  extends Given<Omit<SkillRegistryConfig, keyof ConfigSections | 'sources'>>,
    Readonly<{ [Name in keyof ConfigSections]?: Given<ConfigSections[Name]> | undefined }> {
  readonly sources?: readonly SourceConfigInput[] | undefined;
}

const DEFAULT_TOOLS = [
  'list_skills',
  'read_skill',
  'read_skill_resource',
  'propose_skill_update',
  'list_proposals',
] as const;
const DIALECT_TOOLS = {
  bernstein: ['load_skill'],
  operator: ['skill'],
  promptkit: ['skill__activate', 'skill__read_resource'],
} as const;
export type Dialect = keyof typeof DIALECT_TOOLS;
const DIALECTS = Object.keys(DIALECT_TOOLS) as readonly Dialect[];
const OTHER_TOOLS = ['load_skill', 'create_skill', 'skill', 'skill__activate', 'skill__read_resource'] as const;
export type ToolName = (typeof DEFAULT_TOOLS)[number] | (typeof OTHER_TOOLS)[number];

const SOURCE_ID = /^[A-Za-z0-9@][A-Za-z0-9@._/-]*$/;

const someText = valueThat<string>(
  'expected a text that is not empty',
  { type: 'string', minLength: 1 },
  (value) => typeof value === 'string' && value !== '',
);
const mode = oneOf('allow', 'propose', 'deny');
const profile = oneOf('lenient', 'spec', 'strict');
const inlineSkill = objectOf<InlineSkillConfig>(
  { name: someText, description: someText, instructions: someText, files: recordOf(text) },
  {},
  ['name', 'description', 'instructions'],
);
const inlineSkills = listOf(inlineSkill);

const PAGE_EXPECTED = 'expected an https: address (http: only on this machine) without user name, query and fragment';

const KINDS = ['path', 'package', 'pack', 'inline', 'preset', 'shipped', 'wellKnown', 'mcp'] as const;
const SOURCE_DEFAULTS = {
  allow_outside: false,
  preload: false,
  optional: false,
  ignore_files: false,
  bare_files: false,
};
const sourceEntry: Reader<SourceConfig> = refine(
  objectOf<SourceConfig>(
    {
      path: someText,
      package: textLike(PACKAGE_NAME, 'expected the name of an npm package'),
      pack: someText,
      inline: readerOf({ anyOf: [inlineSkill.schema, inlineSkills.schema] }, (value, at) =>
        inlineSkills(Array.isArray(value) ? value : [value], at),
      ),
      preset: oneOf(...PRESET_NAMES),
      shipped: oneOf<true | 'if_none'>(true, 'if_none'),
      wellKnown: refine(text, PAGE_EXPECTED, (address) => pageAddress(address) !== undefined),
      interval_seconds: numberFrom(1, 86_400),
      mcp: mcpServer,
      id: textLike(SOURCE_ID, 'expected letters, digits and @ . _ / -'),
      allow_outside: bool,
      validation: profile,
      preload: bool,
      optional: bool,
      ignore_files: bool,
      bare_files: bool,
      writable: bool,
    },
    SOURCE_DEFAULTS,
    [],
  ),
  `expected exactly one of ${KINDS.join(', ')}, and no preload with mcp`,
  (entry) => KINDS.filter((kind) => entry[kind] !== undefined).length === 1 && !(entry.mcp && entry.preload),
  { oneOf: KINDS.map((kind) => ({ required: [kind] })) },
);
const source: Reader<SourceConfig> = readerOf(sourceEntry.schema, (value, at) =>
  sourceEntry(value, { ...at, advice: sourceAdvice(value) }),
);

const disabledForAgent = objectOf<Exclude<DisabledSkill, string>>({ skill: someText, agent: someText }, {}, [
  'skill',
  'agent',
]);
const disabledSkill: Reader<DisabledSkill> = readerOf(
  { anyOf: [someText.schema, disabledForAgent.schema] },
  (value, at) => (typeof value === 'object' ? disabledForAgent(value, at) : someText(value, at)),
);

const NO_EMBEDDINGS: EmbeddingsConfig = { base_url: '', model: '', timeout_ms: 400, batch: 64 };
const embeddings: Reader<EmbeddingsConfig> = refine(
  objectOf(
    {
      base_url: valueThat(
        'expected an http(s) address without a password',
        { type: 'string' },
        (value) => value === '' || isAddress(value),
      ),
      model: text,
      // All context of a turn must be ready after 2 seconds.
      timeout_ms: integerFrom(10, 1500),
      batch: integerFrom(1, 2048),
    },
    NO_EMBEDDINGS,
  ),
  'expected both base_url and model, or neither',
  ({ base_url, model }) => (base_url === '') === (model === ''),
);

const DEFAULTS: SkillRegistryConfig = {
  sources: [
    { path: 'skills', ...SOURCE_DEFAULTS, optional: true },
    { shipped: 'if_none', ...SOURCE_DEFAULTS },
  ],
  disabled: [],
  collision: 'first',
  validation: 'lenient',
  inject: 'catalog',
  catalog: { format: 'bullets', budget_tokens: 2000, enforcement: false, pinned: [] },
  watch: { mode: 'events', interval_seconds: 5 },
  writes: { create: 'propose', update: 'propose', delete: 'deny' },
  limits: { skill_tokens: 8000, resource_bytes: 1_048_576, file_bytes: 4_194_304, scan_depth: 8 },
  tools: DEFAULT_TOOLS,
  dialect: [],
  embeddings: NO_EMBEDDINGS,
  gates: { check: true, settings: {} },
  usage: true,
};

const config: Reader<SkillRegistryConfig> = objectOf(
  {
    sources: listOf(source),
    disabled: listOf(disabledSkill),
    collision: oneOf('first', 'last', 'error'),
    validation: profile,
    inject: oneOf('catalog', 'bodies', 'off'),
    catalog: objectOf(
      { format: oneOf('bullets', 'xml'), budget_tokens: integerFrom(50), enforcement: bool, pinned: listOf(text) },
      DEFAULTS.catalog,
    ),
    watch: objectOf(
      { mode: oneOf('events', 'poll', 'off'), interval_seconds: numberFrom(0.05, 86_400) },
      DEFAULTS.watch,
    ),
    writes: objectOf({ create: mode, update: mode, delete: mode }, DEFAULTS.writes),
    limits: objectOf(
      {
        skill_tokens: integerFrom(1),
        resource_bytes: integerFrom(1),
        file_bytes: integerFrom(1),
        scan_depth: integerFrom(0, 64),
      },
      DEFAULTS.limits,
    ),
    tools: listOf(oneOf<ToolName>(...DEFAULT_TOOLS, ...OTHER_TOOLS)),
    dialect: listOf(oneOf(...DIALECTS)),
    embeddings,
    gates: objectOf({ check: bool, settings: recordOf(json) }, DEFAULTS.gates),
    usage: bool,
  },
  DEFAULTS,
);

/**
 * Unknown keys and wrong values are CONFIG_KEY_INVALID problems, with lines of `file` (the owner's) or `manifest`. A
 * wrong key gets its default; a wrong entry of a list is left out.
 */
export function readConfig(
  input: SkillRegistryConfigInput,
  file: string,
  manifest?: string,
): { readonly config: SkillRegistryConfig; readonly problems: readonly Problem[] } {
  const find = keyFinder(file, manifest);
  const { at, problems } = collectProblems(file, [], 'the default is used', find);
  const read =
    config(
      plainCopy(() => input),
      at,
    ) ?? DEFAULTS;
  const added = dialectTools(read.dialect);
  const named = DIALECTS.flatMap((dialect) => {
    const only = dialectTools([dialect]).filter((tool) => read.tools.includes(tool) && !added.includes(tool));
    return only.length > 0 ? [toolOfDialect(only, dialect, { file, ...find(['tools'], read.tools) })] : [];
  });
  const tools = [...new Set([...read.tools, ...added])];
  return { config: structuredClone({ ...read, tools }), problems: [...problems(), ...named] };
}

/** Fills in the defaults of one source; undefined when it is wrong. `path`: its keys, for the problems. */
export function readSourceConfig(
  entry: unknown,
  path: readonly string[],
  file: string,
): { readonly source?: SourceConfig | undefined; readonly problems: readonly Problem[] } {
  const { at, problems } = collectProblems(file, path, '', undefined, 'the source is not added');
  return {
    source: source(
      plainCopy(() => entry),
      at,
    ),
    problems: problems(),
  };
}

export const CONFIG_SCHEMA: JsonSchema = config.schema;

/** Whether an id can be the first half of a qualified id. */
export function isSourceId(id: string): boolean {
  return SOURCE_ID.test(id);
}

/** The page without a slash at the end. `text`: its address, or that of its `/.well-known/` index; else undefined. */
export function pageAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) return undefined;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') return undefined;
  return url.origin + url.pathname.replace(/\/\.well-known\/.*$/, '').replace(/\/+$/, '');
}

// --- internal ---

function dialectTools(dialects: readonly Dialect[]): readonly ToolName[] {
  return dialects.flatMap((dialect): readonly ToolName[] => DIALECT_TOOLS[dialect]);
}

function toolOfDialect(tools: readonly string[], dialect: Dialect, position: Pick<Problem, 'file' | 'line'>): Problem {
  const message = `Config "tools" names ${tools.join(' and ')}, which the key \`dialect\` offers now. It still works. Write dialect: [${dialect}] instead.`;
  return { code: 'CONFIG_KEY_INVALID', severity: 'warning', ...position, message, details: { key: 'tools' } };
}
