import { codePoints } from '../../../../lib/text/index.ts';
import type { Violation } from '../../core/skill/profile.ts';
import { type RawFailure, type RawFrontmatter, type RawValue, readRawFrontmatter, strip } from './raw-frontmatter.ts';

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const MAX_COMPATIBILITY = 500;
const ALLOWED = ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'];

export const HYPHEN_AT_END = 'Skill name cannot start or end with a hyphen';
export const HYPHENS_TOGETHER = 'Skill name cannot contain consecutive hyphens';

/**
 * The broken rules of agentskills.io, in the words and order of the reference implementation; last, a rule that it does
 * not check: `allowed-tools` must be text. Without `directoryName` the name is not compared.
 */
export function specViolations(text: string, directoryName?: string): readonly Violation[] {
  const source = readRawFrontmatter(text);
  if ('failure' in source)
    return [{ message: failureText(source.failure), line: source.failure.line, rule: FRONTMATTER }];
  const { fields, lineOf } = source;
  const at = (field: string, messages: readonly string[]): readonly Violation[] =>
    messages.map((message) => ({ message, line: lineOf(field), rule: `agentskills/${field}` }));
  return [
    ...unknownFieldErrors(source),
    ...at('name', nameErrors(fields.get('name'), directoryName)),
    ...at('description', descriptionErrors(fields.get('description'))),
    ...at('compatibility', compatibilityErrors(fields.get('compatibility'))),
    ...at('allowed-tools', allowedToolsErrors(fields.get('allowed-tools'))),
  ];
}

/** Clients accept these, the reference refuses or misreads them. Empty when the frontmatter cannot be read. */
export function referenceRefusals(text: string): readonly Violation[] {
  const source = readRawFrontmatter(text);
  if ('failure' in source) return [];
  const bracket = source.bracketLine;
  const asText = bracket === source.lineOf('allowed-tools') && source.fields.has('allowed-tools');
  const written = asText ? `Write text: ${TOOLS_AS_TEXT}.` : 'Write each item on a line of its own.';
  const hyphens = source.yaml.split('\n').findIndex((line) => line.includes('---'));
  const refused = (line: number, what: string, remedy: string): Violation => ({
    line,
    message: `The reference validator ${what}. ${remedy} Clients accept it.`,
  });
  return [
    ...(text.startsWith('\ufeff') ? [refused(1, 'refuses a byte order mark', 'Save the file without it.')] : []),
    ...(bracket === undefined ? [] : [refused(bracket, 'refuses lists and mappings in brackets', written)]),
    ...(hyphens === -1 ? [] : [refused(hyphens + 2, HYPHENS, 'Write it without them.')]),
  ];
}

const FRONTMATTER = 'agentskills/frontmatter';
const TOOLS_AS_TEXT = 'allowed-tools: Read Bash(git add *)';
const HYPHENS = 'reads three hyphens in a value as the end of the frontmatter';

export function failureText({ kind, detail }: RawFailure): string {
  if (kind === 'missing') return 'SKILL.md must start with YAML frontmatter (---)';
  if (kind === 'unclosed') return 'SKILL.md frontmatter not properly closed with ---';
  if (kind === 'not-mapping') return 'SKILL.md frontmatter must be a YAML mapping';
  return `Invalid YAML in frontmatter: ${detail}`;
}

export function requiredFieldError(field: string, value: RawValue | undefined): string | undefined {
  if (value === undefined) return `Missing required field in frontmatter: ${field}`;
  if (typeof value === 'string' && strip(value) !== '') return undefined;
  return `Field '${field}' must be a non-empty string`;
}

// --- internal ---

function unknownFieldErrors({ fields, lineOf }: RawFrontmatter): readonly Violation[] {
  // The bytes of UTF-8 have the order of code points.
  const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const unknown = [...fields.keys()].filter((key) => !ALLOWED.includes(key)).sort(byCodePoint);
  if (unknown[0] === undefined) return [];
  const allowed = ALLOWED.map((field) => `'${field}'`).join(', ');
  const message = `Unexpected fields in frontmatter: ${unknown.join(', ')}. Only [${allowed}] are allowed.`;
  return [{ message, line: lineOf(unknown[0]), rule: FRONTMATTER }];
}

function nameErrors(value: RawValue | undefined, directoryName: string | undefined): readonly string[] {
  const missing = requiredFieldError('name', value);
  if (missing) return [missing];
  const name = strip(value as string).normalize('NFKC');
  const errors = [...limitErrors(`Skill name '${name}'`, name, MAX_NAME)];
  if (name !== name.toLowerCase()) errors.push(`Skill name '${name}' must be lowercase`);
  if (name.startsWith('-') || name.endsWith('-')) errors.push(HYPHEN_AT_END);
  if (name.includes('--')) errors.push(HYPHENS_TOGETHER);
  // Exactly Python's isalnum(), for every character.
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) {
    errors.push(`Skill name '${name}' contains invalid characters. Only letters, digits, and hyphens are allowed.`);
  }
  if (directoryName !== undefined && directoryName.normalize('NFKC') !== name) {
    errors.push(`Directory name '${directoryName}' must match skill name '${name}'`);
  }
  return errors;
}

function descriptionErrors(value: RawValue | undefined): readonly string[] {
  const missing = requiredFieldError('description', value);
  // White space at both ends counts, also the line feed that ends a literal block.
  return missing ? [missing] : limitErrors('Description', value as string, MAX_DESCRIPTION);
}

function compatibilityErrors(value: RawValue | undefined): readonly string[] {
  if (value === undefined) return [];
  if (typeof value !== 'string') return ["Field 'compatibility' must be a string"];
  return limitErrors('Compatibility', value, MAX_COMPATIBILITY);
}

function limitErrors(what: string, text: string, most: number): readonly string[] {
  const length = codePoints(text);
  return length > most ? [`${what} exceeds ${most} character limit (${length} chars)`] : [];
}

/** The reference implementation accepts any value; the standard requires text. */
function allowedToolsErrors(value: RawValue | undefined): readonly string[] {
  if (value === undefined || typeof value === 'string') return [];
  return [`Field 'allowed-tools' must be a string, one tool after another: ${TOOLS_AS_TEXT}`];
}
