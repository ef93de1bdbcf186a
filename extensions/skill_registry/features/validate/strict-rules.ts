import { isCodedError } from 'skill-registry/kernel';
import { yamlPackage } from '../../../../kernel/host.ts';
import { readContained } from '../../../../lib/files/index.ts';
import { codePoints, didYouMean } from '../../../../lib/text/index.ts';
import { splitFrontmatter } from '../../core/skill/frontmatter.ts';
import type { Violation } from '../../core/skill/profile.ts';
import { type RawFailure, readRawFrontmatter } from './raw-frontmatter.ts';
import { HYPHEN_AT_END, HYPHENS_TOGETHER } from './spec-rules.ts';

interface StrictVerdict {
  /** Empty: valid. */
  readonly violations: readonly Violation[];
  readonly declaresFiles: boolean;
}

/** More than any manifest needs; longer text belongs into the body. */
const MAX_FRONTMATTER_BYTES = 16_384;

/**
 * The broken rules of `strict`: Bernstein's manifest rules, in its words, which make typing errors visible. Unknown
 * keys are refused, values not converted (`version: 1.0` is a number). The name is ASCII and that of the directory; the
 * description has 20 to 500 characters. The fields of agentskills.io and of this registry are known keys. Declared
 * files must be regular files, not links.
 * @param directory - Real path; default: declared files are not looked for.
 */
export function strictViolations(text: string, directoryName: string, directory?: string): StrictVerdict {
  const source = readRawFrontmatter(text);
  const { yaml = '' } = splitFrontmatter(text);
  const failed = 'failure' in source;
  const closed = !failed || source.failure.kind === 'invalid' || source.failure.kind === 'not-mapping';
  if (closed && Buffer.byteLength(yaml) > MAX_FRONTMATTER_BYTES) {
    return refused(`frontmatter exceeds ${MAX_FRONTMATTER_BYTES} bytes — refusing to parse`);
  }
  if (failed) return refused(failureText(source.failure), source.failure.line);
  // With types. Keys that differ as text can be equal as values, like 1 and 1.0.
  const options = { mapAsMap: true, uniqueKeys: false, logLevel: 'silent' } as const;
  const fields = yamlPackage().parse(source.yaml, options) as ReadonlyMap<unknown, unknown>;
  const violations = fieldErrors(fields, directoryName).map(({ field, message }) => ({
    message,
    line: source.lineOf(field),
    rule: ruleOf(field),
  }));
  const declared = directory === undefined ? [] : declaredFiles(fields);
  const absent = declared.flatMap(({ bucket, path }) => {
    const code = fileErrorCode(directory as string, `${bucket}/${path}`);
    if (code === undefined) return [];
    const reason = code === 'PATH_TRAVERSAL' ? `leads out of ${bucket}/` : `is no file in ${bucket}/`;
    const message = `invalid manifest: [${bucket}] '${path}' ${reason}`;
    return [{ message, line: source.lineOf(bucket), rule: ruleOf(bucket) }];
  });
  return { violations: [...violations, ...absent], declaresFiles: declared.length > 0 };
}

export function didYouMeanField(field: string): string {
  return Object.hasOwn(RULES, field) ? '' : didYouMean(field, Object.keys(RULES));
}

// --- internal ---

function ruleOf(field: string): string {
  return `strict/${Object.hasOwn(RULES, field) ? field : 'frontmatter'}`;
}

function refused(message: string, line = 1): StrictVerdict {
  return { violations: [{ message, line, rule: ruleOf('') }], declaresFiles: false };
}

function failureText({ kind, detail }: RawFailure): string {
  if (kind === 'missing') return 'missing YAML frontmatter — expected ``---`` on the first line';
  if (kind === 'unclosed') return 'unterminated YAML frontmatter — missing closing ``---`` fence';
  if (kind === 'not-mapping') return `frontmatter must be a YAML mapping, got ${detail}`;
  return `invalid YAML frontmatter: ${detail}`;
}

type Rule = (value: unknown) => string | undefined;

const SLUG = /^[a-z][a-z0-9-]*$/;
const SLUG_TEXT = 'must match regex ^[a-z][a-z0-9-]*$ (lowercase letters, digits, hyphens; must start with a letter)';

const RULES: Readonly<Record<string, Rule>> = {
  name: (value) => slugError('name', value) ?? hyphenError(value as string),
  description: (value) => textError(value) ?? lengthError(value as string, 20, 500),
  trigger_keywords: textsError,
  references: textsError,
  scripts: textsError,
  assets: textsError,
  version: textError,
  author: (value) => (value === null ? undefined : textError(value)),
  manifest_schema: (value) => (Number.isInteger(value) ? undefined : `expected a whole number, got ${kindOf(value)}`),
  sandbox_profile: (value) => (value === null ? undefined : slugError('sandbox_profile', value)),
  // agentskills.io
  license: textError,
  compatibility: (value) => textError(value) ?? lengthError(value as string, 1, 500),
  metadata: (value) => (value instanceof Map ? undefined : `expected a mapping, got ${kindOf(value)}`),
  'allowed-tools': textError,
  // this registry
  tags: textsError,
  paths: (value) => (typeof value === 'string' ? undefined : textsError(value)),
  requires: textsError,
  when_to_use: textError,
  'argument-hint': textError,
  'disable-model-invocation': booleanError,
  'user-invocable': booleanError,
};
const REQUIRED = ['name', 'description'];
const BUCKETS = ['references', 'scripts', 'assets'] as const;

interface FieldError {
  readonly field: string;
  readonly message: string;
}

function fieldErrors(fields: ReadonlyMap<unknown, unknown>, directoryName: string): readonly FieldError[] {
  const missing = REQUIRED.filter((key) => !fields.has(key)).map((key) => invalid(key, 'field required'));
  const wrong = [...fields].flatMap(([key, value]) => {
    if (typeof key !== 'string')
      return [{ field: String(key), message: `frontmatter key ${String(key)} must be a string` }];
    const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
    const hint = didYouMeanField(key);
    const unknown = `unknown key; known keys: ${Object.keys(RULES).join(', ')}${hint && `.${hint}`}`;
    const error = rule ? rule(value) : unknown;
    return error === undefined ? [] : [invalid(key, error)];
  });
  const name = fields.get('name');
  const message = `directory name '${directoryName}' does not match manifest name '${name}'`;
  const isMisplaced = typeof name === 'string' && name !== directoryName;
  return [...missing, ...wrong, ...(isMisplaced ? [{ field: 'name', message }] : [])];
}

function invalid(field: string, reason: string): FieldError {
  return { field, message: `invalid manifest: [${field}] ${reason}` };
}

/** `path` as written, below the folder `bucket` of the skill. */
function declaredFiles(fields: ReadonlyMap<unknown, unknown>) {
  return BUCKETS.flatMap((bucket) => {
    const paths = fields.get(bucket);
    if (!Array.isArray(paths) || textsError(paths)) return [];
    return (paths as readonly string[]).map((path) => ({ bucket, path }));
  });
}

function fileErrorCode(directory: string, path: string): string | undefined {
  try {
    // Opens and checks the file; with this limit nothing is read.
    readContained(directory, path, 0);
    return undefined;
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_TOO_LARGE')) return undefined;
    return isCodedError(error) ? error.code : 'RESOURCE_NOT_FOUND';
  }
}

function textError(value: unknown): string | undefined {
  return typeof value === 'string' ? undefined : `expected text, got ${kindOf(value)}`;
}

function textsError(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `expected a list of texts, got ${kindOf(value)}`;
  const wrong = value.find((item) => typeof item !== 'string');
  return wrong === undefined ? undefined : `expected a list of texts, got ${kindOf(wrong)} in it`;
}

function booleanError(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : `expected true or false, got ${kindOf(value)}`;
}

function slugError(field: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return textError(value);
  return SLUG.test(value) ? lengthError(value, 1, 64) : `${field} '${value}' ${SLUG_TEXT}`;
}

/** Bernstein allows these hyphens, the standard does not. */
function hyphenError(name: string): string | undefined {
  if (name.endsWith('-')) return HYPHEN_AT_END;
  return name.includes('--') ? HYPHENS_TOGETHER : undefined;
}

function lengthError(value: string, least: number, most: number): string | undefined {
  const length = codePoints(value);
  return length < least || length > most ? `expected ${least}-${most} characters, got ${length}` : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Map) return 'a mapping';
  return typeof value === 'string' ? 'a text' : `the ${typeof value} ${String(value)} (quotes make it text)`;
}
