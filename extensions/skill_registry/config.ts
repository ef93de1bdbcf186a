import { type Problem, z } from 'skill-registry/kernel';

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
}

export interface InlineSkillConfig {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** Text by relative path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** `lenient` loads what can be loaded; `spec` is agentskills.io; `strict` is a manifest where typing errors fail loudly. */
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
  /** Whether gates such as `requires.bins` hide skills, and the settings that `requires.config` asks for. */
  readonly gates: { readonly check: boolean; readonly settings: Readonly<Record<string, unknown>> };
}

const DEFAULT_TOOLS = ['list_skills', 'read_skill', 'read_skill_resource'] as const;
const TOOL_NAMES = ['list_skills', 'read_skill', 'read_skill_resource', 'load_skill'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

const SOURCE_ID = /^[A-Za-z0-9@][A-Za-z0-9@._/-]*$/;

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
    package: z
      .string()
      .regex(/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/, 'expected the name of an npm package')
      .optional(),
    pack: z.string().min(1).optional(),
    inline: z.union([inlineSkill, z.array(inlineSkill)]).optional(),
    preset: z.enum(['agents', 'claude', 'cursor', 'github']).optional(),
    shipped: z.literal(true).optional(),
    id: z.string().regex(SOURCE_ID, 'expected letters, digits and @ . _ / -').optional(),
    allow_outside: z.boolean().default(false),
    validation: profile.optional(),
    preload: z.boolean().default(false),
    optional: z.boolean().default(false),
    ignore_files: z.boolean().default(false),
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
  gates: z
    .strictObject({ check: z.boolean().default(true), settings: z.record(z.string(), z.unknown()).default({}) })
    .prefault({}),
});

/** What a caller may give; everything has a default. */
export type SkillRegistryConfigInput = Readonly<Record<string, unknown>>;

/**
 * Fills in the defaults. A key that is unknown or wrong is a CONFIG_KEY_INVALID problem and its default holds: one typo
 * does not take the catalog away.
 *
 * @param file - Named in the problems.
 */
export function readConfig(
  input: SkillRegistryConfigInput,
  file: string,
): { readonly config: SkillRegistryConfig; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  let values: Record<string, unknown> = { ...input };
  for (;;) {
    const parsed = schema.safeParse(values);
    if (parsed.success) return { config: parsed.data, problems };
    for (const issue of parsed.error.issues) {
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
      for (const key of keys) {
        const path = key === undefined ? issue.path : [...issue.path, key];
        const name = path.join('.');
        const what =
          key === undefined ? `${issue.message}; the default is used` : 'there is no such key; it is ignored';
        const message = `Config "${name}": ${what}. docs/configuration.md lists the keys.`;
        problems.push({ code: 'CONFIG_KEY_INVALID', severity: 'error', file, message, details: { key: name } });
        values = without(values, path);
      }
    }
  }
}

/** Whether it can stand before the colon of a qualified id. */
export function isSourceId(id: string): boolean {
  return SOURCE_ID.test(id);
}

// --- internal ---

/** A copy without what `path` leads to; without the whole list when it leads into one. */
function without(values: Record<string, unknown>, path: readonly PropertyKey[]): Record<string, unknown> {
  const [head, ...rest] = path;
  if (head === undefined) return {};
  const copy = { ...values };
  const child = copy[head as string];
  const deeper = rest.length > 0 && typeof child === 'object' && child !== null && !Array.isArray(child);
  if (deeper) copy[head as string] = without(child as Record<string, unknown>, rest);
  else delete copy[head as string];
  return copy;
}
