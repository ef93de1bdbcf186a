import { type Problem, z } from 'skill-registry/kernel';

/** One place skills come from. */
export interface SourceConfig {
  /** A folder: absolute, below `~/`, or relative to the root. */
  readonly path?: string | undefined;
  /** The skills that come with this package. */
  readonly shipped?: true | undefined;
  /** Default: the folder's name, `shipped` for the shipped ones; a number is added to one that is taken. */
  readonly id?: string | undefined;
  /** Follow links that lead out of the folder. Default: false, such links are problems. */
  readonly allow_outside: boolean;
}

export type WriteMode = 'allow' | 'propose' | 'deny';

/** The `config:` block of the manifest; docs/configuration.md explains every key. */
export interface SkillRegistryConfig {
  readonly sources: readonly SourceConfig[];
  readonly catalog: { readonly budget_tokens: number; readonly pinned: readonly string[] };
  readonly watch: { readonly mode: 'events' | 'poll' | 'off'; readonly interval_seconds: number };
  readonly writes: { readonly create: WriteMode; readonly update: WriteMode; readonly delete: WriteMode };
  readonly limits: {
    readonly skill_tokens: number;
    readonly resource_bytes: number;
    readonly file_bytes: number;
    readonly scan_depth: number;
  };
  readonly tools: readonly ToolName[];
}

export const TOOL_NAMES = ['list_skills', 'read_skill', 'read_skill_resource'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

const mode = z.enum(['allow', 'propose', 'deny']);
const source = z
  .strictObject({
    path: z.string().min(1).optional(),
    shipped: z.literal(true).optional(),
    id: z
      .string()
      .regex(/^[A-Za-z0-9@][A-Za-z0-9@._/-]*$/, 'expected letters, digits and @ . _ / -')
      .optional(),
    allow_outside: z.boolean().default(false),
  })
  .refine(
    (value) => (value.path === undefined) !== (value.shipped === undefined),
    'expected exactly one of path and shipped',
  );

const schema = z.strictObject({
  sources: z.array(source).default([
    { path: 'skills', allow_outside: false },
    { shipped: true, allow_outside: false },
  ]),
  catalog: z
    .strictObject({ budget_tokens: z.int().min(50).default(2000), pinned: z.array(z.string()).default([]) })
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
  tools: z.array(z.enum(TOOL_NAMES)).default([...TOOL_NAMES]),
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
  let values: Record<string, unknown> = structuredClone(input) as Record<string, unknown>;
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
