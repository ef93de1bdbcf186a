import { type Problem, z } from 'skill-registry/kernel';
import { type EmbeddingsConfig, embeddings } from './embeddings.ts';
import { PACKAGE_NAME } from './package-name.ts';
import { SOURCE_ID } from './source-id.ts';

/** One place skills come from: exactly one of `path`, `package`, `pack`, `inline`, `preset` and `shipped`. */
export interface SourceConfig {
  /** A folder, or a bare `.md` file: absolute, below `~/`, or relative to the root. */
  readonly path?: string | undefined;
  /** An npm package that is installed where the root can see it. */
  readonly package?: string | undefined;
  /** A PromptPack JSON. */
  readonly pack?: string | undefined;
  /** A skill, or several, written right here. */
  readonly inline?: InlineSkillConfig | readonly InlineSkillConfig[] | undefined;
  /** Where another agent keeps its skills: the folders of the project, nearest first, then of the home directory. */
  readonly preset?: PresetName | undefined;
  /** The skills that come with this package. */
  readonly shipped?: true | undefined;
  /** Default: the name of the folder, file, package, pack or preset; `inline`, `shipped`. Numbered when it is taken. */
  readonly id?: string | undefined;
  /** Follow links, and entries of a pack, that lead out of the folder. Default: false, they are problems. */
  readonly allow_outside: boolean;
  /** Default: the registry's. */
  readonly validation?: ValidationProfile | undefined;
  /** The bodies of its skills stand in every prompt. Default: false. */
  readonly preload: boolean;
  /** No problem when it does not exist. Default: false. */
  readonly optional: boolean;
  /** Pass over what `.gitignore` and `.ignore` files in it name. Default: false. */
  readonly ignore_files: boolean;
  /** Its skills may be changed under `writes`. Default: true for a `path`, else false. */
  readonly writable?: boolean | undefined;
}

export interface InlineSkillConfig {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** Text by relative path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/**
 * `lenient`: whatever can be loaded is, with problems. `spec`: agentskills.io, message for message as its reference
 * implementation. `strict`: typing errors fail loudly and declared files exist.
 */
export type ValidationProfile = 'lenient' | 'spec' | 'strict';

export type PresetName = 'agents' | 'claude' | 'cursor' | 'github';

export type WriteMode = 'allow' | 'propose' | 'deny';

/** The `config:` block of the manifest; docs/configuration.md explains every key. */
export interface SkillRegistryConfig {
  readonly sources: readonly SourceConfig[];
  /** Which source wins an id that several have; `error`: nobody, each clash is an error. */
  readonly collision: 'first' | 'last' | 'error';
  readonly validation: ValidationProfile;
  /** What a system prompt carries: the catalog, bodies, or nothing but what is preloaded. */
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
  readonly embeddings: EmbeddingsConfig;
  /** Whether gates such as `requires.bins` hide skills, and the settings that `requires.config` asks for. */
  readonly gates: { readonly check: boolean; readonly settings: Readonly<Record<string, unknown>> };
}

type Given<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** An entry of `sources` as it may be written: every flag has a default. */
export type SourceConfigInput = Given<SourceConfig>;

type ConfigSections = Pick<SkillRegistryConfig, 'catalog' | 'watch' | 'writes' | 'limits' | 'embeddings' | 'gates'>;

/** The config as it may be written: every key has a default. Where the compiler does not see it, `readConfig` checks it. */
export interface SkillRegistryConfigInput
  extends Given<Omit<SkillRegistryConfig, keyof ConfigSections | 'sources'>>,
    Readonly<{ [Name in keyof ConfigSections]?: Given<ConfigSections[Name]> | undefined }> {
  readonly sources?: readonly SourceConfigInput[] | undefined;
}

const DEFAULT_TOOLS = ['list_skills', 'read_skill', 'read_skill_resource', 'propose_skill_update'] as const;
const OTHER_TOOLS = ['load_skill', 'create_skill', 'skill'] as const;
const TOOL_NAMES: readonly ToolName[] = [...DEFAULT_TOOLS, ...OTHER_TOOLS];
export type ToolName = (typeof DEFAULT_TOOLS)[number] | (typeof OTHER_TOOLS)[number];

const mode = z.enum(['allow', 'propose', 'deny']);
const profile = z.enum(['lenient', 'spec', 'strict']);
const inlineSkill = z.strictObject({
  name: z.string().min(1),
  description: z.string().min(1),
  instructions: z.string().min(1),
  files: z.record(z.string(), z.string()).optional(),
});
const KINDS = ['path', 'package', 'pack', 'inline', 'preset', 'shipped'] as const;
const source = z
  .strictObject({
    path: z.string().min(1).optional(),
    package: z.string().regex(PACKAGE_NAME, 'expected the name of an npm package').optional(),
    pack: z.string().min(1).optional(),
    inline: z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(inlineSkill)).optional(),
    preset: z.enum(['agents', 'claude', 'cursor', 'github']).optional(),
    shipped: z.literal(true).optional(),
    id: z.string().regex(SOURCE_ID, 'expected letters, digits and @ . _ / -').optional(),
    allow_outside: z.boolean().default(false),
    validation: profile.optional(),
    preload: z.boolean().default(false),
    optional: z.boolean().default(false),
    ignore_files: z.boolean().default(false),
    writable: z.boolean().optional(),
  })
  .refine(
    (value) => KINDS.filter((kind) => value[kind] !== undefined).length === 1,
    `expected exactly one of ${KINDS.join(', ')}`,
  );

const SOURCE_DEFAULTS = { allow_outside: false, preload: false, optional: false, ignore_files: false };

const schema = z.strictObject({
  sources: z.array(source).default([
    { path: 'skills', ...SOURCE_DEFAULTS, optional: true },
    { shipped: true, ...SOURCE_DEFAULTS },
  ]),
  collision: z.enum(['first', 'last', 'error']).default('first'),
  validation: profile.default('lenient'),
  inject: z.enum(['catalog', 'bodies', 'off']).default('catalog'),
  catalog: z
    .strictObject({
      format: z.enum(['bullets', 'xml']).default('bullets'),
      budget_tokens: z.int().min(50).default(2000),
      enforcement: z.boolean().default(false),
      pinned: z.array(z.string()).default([]),
    })
    .prefault({}),
  watch: z
    .strictObject({
      mode: z.enum(['events', 'poll', 'off']).default('events'),
      interval_seconds: z.number().min(0.05).max(86_400).default(5),
    })
    .prefault({}),
  writes: z
    .strictObject({ create: mode.default('propose'), update: mode.default('propose'), delete: mode.default('deny') })
    .prefault({}),
  limits: z
    .strictObject({
      skill_tokens: z.int().min(1).default(8000),
      resource_bytes: z.int().min(1).default(1_048_576),
      file_bytes: z.int().min(1).default(4_194_304),
      scan_depth: z.int().min(0).max(64).default(8),
    })
    .prefault({}),
  tools: z.array(z.enum(TOOL_NAMES)).default([...DEFAULT_TOOLS]),
  embeddings,
  gates: z
    .strictObject({ check: z.boolean().default(true), settings: z.record(z.string(), z.json()).default({}) })
    .prefault({}),
});

/**
 * Fills in the defaults. What is unknown or wrong is a CONFIG_KEY_INVALID problem and costs nothing beside it: the default of
 * that key holds, and an entry of a list that is wrong is left out, the others stay.
 *
 * @param file - Named in the problems.
 */
export function readConfig(
  input: SkillRegistryConfigInput,
  file: string,
): { readonly config: SkillRegistryConfig; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  let values: Record<string, unknown> = readLists(input, file, problems);
  for (;;) {
    const parsed = schema.safeParse(values);
    if (parsed.success) return { config: parsed.data, problems };
    for (const issue of parsed.error.issues) {
      for (const path of pathsOf(issue)) {
        const effect = issue.code === 'unrecognized_keys' ? 'it is ignored' : 'the default is used';
        problems.push(wrongKey(path, issue, valueAt(values, path), effect, file));
        values = without(values, path);
      }
    }
  }
}

/**
 * One entry of `sources`, its defaults filled in; undefined when anything but an unknown key is wrong with it.
 *
 * @param path - Where it stands, for the problems.
 */
export function readSourceConfig(
  entry: unknown,
  path: readonly PropertyKey[],
  file: string,
): { readonly source?: SourceConfig | undefined; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  return { source: readEntry(source, entry, path, file, problems), problems };
}

// --- internal ---

/** Lists are read entry by entry: a wrong one must not bring back a default that its owner has replaced. */
function readLists(input: object, file: string, problems: Problem[]): Record<string, unknown> {
  const values: Record<string, unknown> = { ...input };
  const readEach = <T>(list: unknown, schemaOfEntry: z.ZodType<T>, path: readonly PropertyKey[]): unknown =>
    Array.isArray(list)
      ? list.flatMap((entry, index) => readEntry(schemaOfEntry, entry, [...path, index], file, problems) ?? [])
      : list;
  if ('sources' in values) values.sources = readEach(values.sources, source, ['sources']);
  if ('tools' in values) values.tools = readEach(values.tools, z.enum(TOOL_NAMES), ['tools']);
  const { catalog } = values;
  if (typeof catalog === 'object' && catalog !== null && 'pinned' in catalog) {
    values.catalog = { ...catalog, pinned: readEach(catalog.pinned, z.string(), ['catalog', 'pinned']) };
  }
  return values;
}

function readEntry<T>(
  schemaOfEntry: z.ZodType<T>,
  entry: unknown,
  path: readonly PropertyKey[],
  file: string,
  problems: Problem[],
): T | undefined {
  let value = entry;
  for (;;) {
    const parsed = schemaOfEntry.safeParse(value);
    if (parsed.success) return parsed.data;
    const unknown = parsed.error.issues.filter(({ code }) => code === 'unrecognized_keys');
    for (const issue of unknown.length > 0 ? unknown : parsed.error.issues) {
      for (const below of pathsOf(issue)) {
        const effect = unknown.length > 0 ? 'it is ignored' : 'this entry is left out';
        problems.push(wrongKey([...path, ...below], issue, valueAt(value, below), effect, file));
        if (unknown.length > 0) value = without(value as Record<string, unknown>, below);
      }
    }
    if (unknown.length === 0) return undefined;
  }
}

/** Of an unknown key, where the key stands. */
function pathsOf(issue: z.core.$ZodIssue): readonly (readonly PropertyKey[])[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
}

function wrongKey(
  path: readonly PropertyKey[],
  issue: z.core.$ZodIssue,
  value: unknown,
  effect: string,
  file: string,
): Problem {
  const name = path.join('.');
  const expected = issue.code === 'unrecognized_keys' ? 'there is no such key' : issue.message;
  const message = `Config "${name}" is ${shown(value)}: ${expected}; ${effect}. Correct it; the configuration page lists the keys.`;
  return { code: 'CONFIG_KEY_INVALID', severity: 'error', file, message, details: { key: name } };
}

function shown(value: unknown): string {
  const text = value === undefined ? 'missing' : (safeJson(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function valueAt(value: unknown, [head, ...rest]: readonly PropertyKey[]): unknown {
  if (head === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, head)) return undefined;
  return valueAt((value as Readonly<Record<PropertyKey, unknown>>)[head], rest);
}

/** A copy without what `path` leads to. */
function without(values: Record<string, unknown>, path: readonly PropertyKey[]): Record<string, unknown> {
  const [head, ...rest] = path;
  if (head === undefined) return {};
  const copy = (Array.isArray(values) ? [...values] : { ...values }) as Record<string, unknown>;
  const child = copy[head as string];
  const deeper = rest.length > 0 && typeof child === 'object' && child !== null;
  if (deeper) copy[head as string] = without(child as Record<string, unknown>, rest);
  else delete copy[head as string];
  return copy;
}
