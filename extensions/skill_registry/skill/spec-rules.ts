import { codePoints } from '../../../lib/text/index.ts';
import {
  byCodePoint,
  readSource,
  type SourceFailure,
  type SourceFields,
  type SourceValue,
  strip,
} from './fields-as-written.ts';

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const MAX_COMPATIBILITY = 500;
const ALLOWED = ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'];

/** Shared with the strict profile. */
export const HYPHEN_AT_END = 'Skill name cannot start or end with a hyphen';
export const HYPHENS_TOGETHER = 'Skill name cannot contain consecutive hyphens';

/** One rule that a SKILL.md breaks. */
export interface Violation {
  readonly message: string;
  /** 1-based, of the field it is about; 1 when it is about none that is there. */
  readonly line: number;
}

/**
 * What agentskills.io forbids in one SKILL.md, in the words and the order of its reference implementation, and last what the
 * standard forbids and that does not look at: `allowed-tools` that is no text. Empty: valid.
 *
 * @param directoryName - Must equal the name; absent: not compared.
 */
export function specViolations(text: string, directoryName?: string): readonly Violation[] {
  const source = readSource(text);
  if ('failure' in source) return [{ message: failureText(source.failure), line: source.failure.line }];
  const { fields, lineOf } = source;
  const at = (field: string, messages: readonly string[]): readonly Violation[] =>
    messages.map((message) => ({ message, line: lineOf(field) }));
  const unknown = unknownFields(fields);
  return [
    ...at(unknown[0] ?? '', unknownFieldErrors(unknown)),
    ...at('name', nameErrors(fields.get('name'), directoryName)),
    ...at('description', descriptionErrors(fields.get('description'))),
    ...at('compatibility', compatibilityErrors(fields.get('compatibility'))),
    ...at('allowed-tools', allowedToolsErrors(fields.get('allowed-tools'))),
  ];
}

/**
 * What the reference implementation refuses, or reads otherwise, and `specViolations` takes, because every client does. Nothing
 * where `specViolations` finds no fields.
 */
export function referenceRefusals(text: string): readonly Violation[] {
  const source = readSource(text);
  if ('failure' in source) return [];
  const bracket = source.bracketLine();
  const hyphens = source.yaml.split('\n').findIndex((line) => line.includes('---'));
  const refused = (line: number, what: string): Violation => ({
    line,
    message: `${what} Clients read it all the same.`,
  });
  return [
    ...(text.startsWith('\ufeff') ? [refused(1, `${BOM} Save the file without it.`)] : []),
    ...(bracket === undefined ? [] : [refused(bracket, `${BRACKETS} Write one item a line.`)]),
    ...(hyphens === -1 ? [] : [refused(hyphens + 2, `${HYPHENS} Write it without them.`)]),
  ];
}

const BOM = 'The reference validator refuses a byte order mark.';
const BRACKETS = 'The reference validator refuses lists and mappings in brackets.';
const HYPHENS = 'The reference validator takes three hyphens in a value for the end of the frontmatter.';

/** What the reference implementation says when there are no fields to look at. */
export function failureText({ kind, detail }: SourceFailure): string {
  switch (kind) {
    case 'missing':
      return 'SKILL.md must start with YAML frontmatter (---)';
    case 'unclosed':
      return 'SKILL.md frontmatter not properly closed with ---';
    case 'invalid':
      return `Invalid YAML in frontmatter: ${detail}`;
    case 'not-mapping':
      return 'SKILL.md frontmatter must be a YAML mapping';
  }
}

/** Why a field that must be there cannot be used; undefined when it can. */
export function requiredFieldError(field: string, value: SourceValue | undefined): string | undefined {
  if (value === undefined) return `Missing required field in frontmatter: ${field}`;
  if (typeof value === 'string' && strip(value) !== '') return undefined;
  return `Field '${field}' must be a non-empty string`;
}

// --- internal ---

function unknownFields(fields: SourceFields): readonly string[] {
  return [...fields.keys()].filter((key) => !ALLOWED.includes(key)).sort(byCodePoint);
}

function unknownFieldErrors(unknown: readonly string[]): readonly string[] {
  if (unknown.length === 0) return [];
  const allowed = ALLOWED.map((field) => `'${field}'`).join(', ');
  return [`Unexpected fields in frontmatter: ${unknown.join(', ')}. Only [${allowed}] are allowed.`];
}

function nameErrors(value: SourceValue | undefined, directoryName: string | undefined): readonly string[] {
  const missing = requiredFieldError('name', value);
  if (missing) return [missing];
  const name = strip(value as string).normalize('NFKC');
  const length = codePoints(name);
  const errors: string[] = [];
  if (length > MAX_NAME) errors.push(`Skill name '${name}' exceeds ${MAX_NAME} character limit (${length} chars)`);
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

function descriptionErrors(value: SourceValue | undefined): readonly string[] {
  const missing = requiredFieldError('description', value);
  if (missing) return [missing];
  // White space at the ends counts, and so does the line feed that ends a literal block.
  const length = codePoints(value as string);
  return length > MAX_DESCRIPTION ? [`Description exceeds ${MAX_DESCRIPTION} character limit (${length} chars)`] : [];
}

function compatibilityErrors(value: SourceValue | undefined): readonly string[] {
  if (value === undefined) return [];
  if (typeof value !== 'string') return ["Field 'compatibility' must be a string"];
  const length = codePoints(value);
  return length > MAX_COMPATIBILITY
    ? [`Compatibility exceeds ${MAX_COMPATIBILITY} character limit (${length} chars)`]
    : [];
}

/** The reference takes whatever there is; the standard wants one text, such as `Read Bash(git add *)`. */
function allowedToolsErrors(value: SourceValue | undefined): readonly string[] {
  return value === undefined || typeof value === 'string' ? [] : ["Field 'allowed-tools' must be a string"];
}
