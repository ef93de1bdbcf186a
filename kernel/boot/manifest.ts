import { isMap, isScalar, isSeq } from 'yaml';
import { z } from '#zod';
import { didYouMean } from '../../lib/text/index.ts';
import type { Problem, TurnContext } from '../contract.ts';
import { readMapping } from './settings.ts';

type Parameter = 'temperature' | 'top_p' | 'frequency_penalty' | 'presence_penalty' | 'seed' | 'max_output_tokens';

export interface AgentManifest {
  /** `tool`: other agents call it. `handoff`: a person talks to it. Default: `tool`. */
  readonly integration_mode: 'tool' | 'handoff';
  /** Overrides MODEL_NAME. */
  readonly model?: string | undefined;
  readonly instructions?: string | undefined;
  /** Ids of extensions whose tools it may use and of agents it may call; `*`: all. Default: none. */
  readonly uses_tools: readonly string[];
  /** Their bodies are in its instructions. It sees these and what they require; with `*` or when absent, all. */
  readonly uses_skills?: readonly string[] | undefined;
  /** The workflow in which it works; without `state`, from its first one. Absent: that of its caller. */
  readonly workflow?: TurnContext['workflowState'] | undefined;
  /** Passed to the model unchanged. Default: those of the endpoint. */
  readonly parameters: Readonly<Partial<Record<Parameter, number | undefined>>> & {
    readonly stop?: readonly string[] | undefined;
  };
  readonly limits: {
    /** Model calls in one invocation, 1-1000. Default: 20. */
    readonly max_turns: number;
    /** Input and output together, checked after each call. Default: none. */
    readonly max_tokens_per_invocation?: number | undefined;
    /** Default: none. */
    readonly time_budget_ms?: number | undefined;
  };
}

export interface Manifest {
  /** `^[a-z][a-z0-9_-]{0,63}$`. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** `main:MyExtension`. May be absent when there is an `agent` block. */
  readonly entrypoint?: string | undefined;
  readonly description: string;
  /** Ids of extensions that must run first. `getExtension` gives only these. */
  readonly depends_on: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly enabled: boolean;
  readonly agent?: AgentManifest | undefined;
  /** When given, the extension may emit only `emits`. `listens` has no effect. */
  readonly events?: { readonly emits: readonly string[]; readonly listens: readonly string[] } | undefined;
}

const limits = z.strictObject({
  max_turns: z.int().min(1).max(1000).default(20),
  max_tokens_per_invocation: z.int().min(1).optional(),
  time_budget_ms: z.int().min(1).optional(),
});

const parameters = z.strictObject({
  temperature: z.number().min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
  frequency_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  seed: z.int().optional(),
  max_output_tokens: z.int().min(1).optional(),
  stop: z.array(z.string()).optional(),
});

const workflow = z
  .strictObject({ pack: z.string().min(1), state: z.string().min(1).optional() })
  .transform(({ pack, state }) => (state === undefined ? { pack } : { pack, state }));

const agent = z.strictObject({
  integration_mode: z.enum(['tool', 'handoff']).default('tool'),
  model: z.string().min(1).optional(),
  instructions: z.string().optional(),
  uses_tools: z.array(z.string()).default([]),
  uses_skills: z.array(z.string()).optional(),
  workflow: z
    .union([
      z
        .string()
        .min(1)
        .transform((pack) => ({ pack })),
      workflow,
    ])
    .optional(),
  parameters: parameters.prefault({}),
  limits: limits.prefault({}),
});

const events = z.strictObject({
  emits: z.array(z.string()).default([]),
  listens: z.array(z.string()).default([]),
});

const fields = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'expected lowercase letters, digits, _ and -, first a letter, at most 64'),
  name: z.string().min(1),
  version: z.string().min(1),
  entrypoint: z
    .string()
    .regex(/^[\w-]+:[A-Za-z_]\w*$/, 'expected <file without its ending>:<exported class>, for example main:MyExtension')
    .optional(),
  description: z.string().default(''),
  depends_on: z.array(z.string()).default([]),
  config: z.record(z.string(), z.unknown()).default({}),
  enabled: z.boolean().default(true),
  agent: agent.optional(),
  events: events.optional(),
});

const manifest: z.ZodType<Manifest> = fields.refine(
  (value) => value.entrypoint !== undefined || value.agent !== undefined,
  {
    path: ['entrypoint'],
    message: 'expected an entrypoint (main:MyExtension) or an agent block; the manifest has neither',
  },
);

/**
 * @param file - For the problems only.
 * @returns The manifest or problems: MANIFEST_YAML_INVALID, MANIFEST_FIELD_UNKNOWN, MANIFEST_FIELD_INVALID.
 */
export function parseManifest(text: string, file: string): { manifest?: Manifest; problems: readonly Problem[] } {
  const read = readMapping(text);
  if ('reason' in read) {
    const message = `The manifest is not valid YAML: ${read.reason}. Correct it.`;
    return { problems: [{ code: 'MANIFEST_YAML_INVALID', severity: 'error', file, line: read.line, message }] };
  }
  const { document, values } = read;
  const parsed = manifest.safeParse(values);
  if (parsed.success) return { manifest: parsed.data, problems: [] };
  const lineOf = (path: readonly PropertyKey[]): number => {
    for (let depth = path.length; depth > 0; depth--) {
      const line = read.lineOf(path.slice(0, depth));
      if (line !== undefined) return line;
    }
    return 1;
  };
  return {
    problems: parsed.error.issues.flatMap((issue) =>
      fieldProblems(issue, file, lineOf, document.getIn(issue.path, true)),
    ),
  };
}

export function manifestSchema(): Readonly<Record<string, unknown>> {
  const { $schema: _, ...schema } = z.toJSONSchema(fields, { io: 'input' });
  return { ...schema, anyOf: [{ required: ['entrypoint'] }, { required: ['agent'] }] };
}

// --- internal ---

/** By the field that contains them; '' for the manifest itself. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '': fields.shape,
  agent: agent.shape,
  'agent.parameters': parameters.shape,
  'agent.limits': limits.shape,
  events: events.shape,
};

function fieldProblems(
  issue: z.core.$ZodIssue,
  file: string,
  lineOf: (path: readonly PropertyKey[]) => number,
  node: unknown,
): Problem[] {
  const given = isScalar(node) ? node.value : node;
  const field = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const name = field ? `${field}.${key}` : key;
      const known = FIELDS[field] ?? {};
      const hint = didYouMean(key, Object.keys(known), (near) => valuesOf(known[near]));
      const message = `Unknown field "${name}".${hint} Remove it or correct its spelling; docs/extension-contract.md says where the fields are listed.`;
      const line = lineOf([...issue.path, key]);
      return { code: 'MANIFEST_FIELD_UNKNOWN', severity: 'error', file, line, message, details: { field: name } };
    });
  }
  const hint =
    issue.code === 'invalid_value'
      ? didYouMean(given, issue.values.map(String))
      : typeAdvice(issue, given, isScalar(node) ? node.source : undefined);
  const message = `Field "${field}"${issue.code === 'invalid_type' ? wrongType(issue, given) : `: ${issue.message}`}.${hint}`;
  return [
    { code: 'MANIFEST_FIELD_INVALID', severity: 'error', file, line: lineOf(issue.path), message, details: { field } },
  ];
}

/** Only an enum field has values to show. */
function valuesOf(field: unknown): string {
  const values = field instanceof z.ZodDefault ? field.unwrap() : field;
  return values instanceof z.ZodEnum ? ` (${values.options.join(' or ')})` : '';
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
};

function wrongType(issue: z.core.$ZodIssueInvalidType, given: unknown): string {
  const expected = KINDS[issue.expected] ?? issue.expected;
  if (given === undefined) return ` is missing: expected ${expected}`;
  const kind = given === null ? 'nothing' : isSeq(given) ? 'a list' : isMap(given) ? 'a mapping' : KINDS[typeof given];
  return `: expected ${expected}, got ${kind ?? typeof given}`;
}

/** YAML reads `version: 1.0` as a number. */
function typeAdvice(issue: z.core.$ZodIssue, given: unknown, written = String(given)): string {
  if (issue.code !== 'invalid_type') return '';
  if (given === undefined) return ' Add it; the shipped skill extension-development describes every field.';
  if (issue.expected === 'array' && typeof given === 'string') return ` Write [${given}].`;
  return issue.expected === 'string' && typeof given !== 'object' ? ` Put the value in quotes: "${written}".` : '';
}
