import type { Problem } from 'skill-registry/kernel';
import { foldLine, shorten } from '../../../lib/text/index.ts';

/** Codes of everything that can be wrong with one SKILL.md. */
export type SkillProblemCode =
  | 'DESCRIPTION_MISSING'
  | 'DESCRIPTION_TOO_LONG'
  | 'ENCODING_INVALID'
  | 'FIELD_INVALID'
  | 'FRONTMATTER_INVALID'
  | 'FRONTMATTER_MISSING'
  | 'FRONTMATTER_NOT_AT_START'
  | 'FRONTMATTER_REPAIRED'
  | 'FRONTMATTER_TOO_LARGE'
  | 'FRONTMATTER_UNCLOSED'
  | 'NAME_INVALID'
  | 'NAME_MISMATCH'
  | 'NAME_MISSING'
  | 'SKILL_EMPTY';

/** Makes a problem of one file; `message` says what was expected, what arrived and what to do. */
export type ProblemSink = (
  code: SkillProblemCode,
  severity: Problem['severity'],
  message: string,
  line?: number,
  details?: Readonly<Record<string, unknown>>,
) => void;

/** Collects the problems of `file`. */
export function problemSink(file: string): { readonly problems: readonly Problem[]; readonly add: ProblemSink } {
  const problems: Problem[] = [];
  return {
    problems,
    add: (code, severity, message, line, details) => {
      problems.push({ code, severity, file, message, ...(line ? { line } : {}), ...(details ? { details } : {}) });
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;
type LineOf = (key: string) => number;

/** A value as JSON on one line, at most 80 characters: what arrived, for a message. */
export function shown(value: unknown): string {
  return shorten(foldLine(JSON.stringify(value) ?? String(value)), 80);
}

/** What a value is, in the words of messages. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : 'text';
}

/** A scalar as text (numbers, booleans and dates as they read); undefined for nothing and for collections. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  // `argument-hint: [file]` is YAML for a list; people mean the text.
  if (Array.isArray(value)) return `[${value.map((item) => readText(item) ?? '').join(', ')}]`;
  return undefined;
}

/** A list, or a text with commas; entries are folded and empty ones dropped. FIELD_INVALID for anything else. */
export function readList(key: string, fields: Fields, add: ProblemSink, lineOf: LineOf): readonly string[] {
  const value = fields[key];
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return clean(value.split(','));
  if (Array.isArray(value) && value.every((item) => readText(item) !== undefined && !Array.isArray(item))) {
    return clean(value.map((item) => readText(item) as string));
  }
  const message = `"${key}" should be a list of texts, got ${shown(value)}; it was ignored. Write a list such as [a, b].`;
  add('FIELD_INVALID', 'warning', message, lineOf(key), { field: key });
  return [];
}

/** Those of `tags` and of `metadata.tags`. */
export function readTags(fields: Fields, { tags }: Fields, add: ProblemSink, lineOf: LineOf): readonly string[] {
  const inMetadata = readList('metadata.tags', { 'metadata.tags': tags }, add, () => lineOf('metadata'));
  return [...new Set([...readList('tags', fields, add, lineOf), ...inMetadata])];
}

/** As `readList`, but a text is split at white space as well. */
export function readWords(key: string, fields: Fields, add: ProblemSink, lineOf: LineOf): readonly string[] {
  const value = fields[key];
  return readList(key, typeof value === 'string' ? { [key]: value.split(/[\s,]+/) } : fields, add, lineOf);
}

const TRUE: ReadonlySet<unknown> = new Set<unknown>([true, 1, 'true', 'yes', 'on', '1']);
const FALSE: ReadonlySet<unknown> = new Set<unknown>([false, 0, 'false', 'no', 'off', '0']);

/** Also yes, on and 1, as text as well. */
export function isTrue(value: unknown): boolean {
  return TRUE.has(comparable(value));
}

/** Also yes/no, on/off and 1/0. FIELD_INVALID, and the default, for anything else. */
export function readBoolean(
  key: string,
  fields: Fields,
  byDefault: boolean,
  add: ProblemSink,
  lineOf: LineOf,
): boolean {
  const given = fields[key];
  if (given === undefined || given === null) return byDefault;
  if (isTrue(given)) return true;
  if (FALSE.has(comparable(given))) return false;
  const message = `"${key}" should be true or false, got ${shown(given)}; it was taken as ${byDefault}. Write true or false.`;
  add('FIELD_INVALID', 'warning', message, lineOf(key), { field: key });
  return byDefault;
}

/**
 * The tools a skill asks to be allowed, one entry each, as written: `Bash(git add *)`. A text is split at white space and commas,
 * but never inside parentheses; a list is taken entry by entry. FIELD_INVALID for anything else.
 */
export function readTools(key: string, fields: Fields, add: ProblemSink, lineOf: LineOf): readonly string[] {
  const value = fields[key];
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return splitOutsideParentheses(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return value.flatMap((item) => splitOutsideParentheses(item));
  }
  const message = `"${key}" should be text or a list of texts, got ${shown(value)}; it was ignored. Write text such as Read Bash(git add *).`;
  add('FIELD_INVALID', 'warning', message, lineOf(key), { field: key });
  return [];
}

export const NAME_RULE = '1-64 lowercase letters, digits and single hyphens, none at the ends';

export function isName(text: string): boolean {
  return NAME.test(text.normalize('NFKC'));
}

/** What to do about a missing name. A number, `null` and the like are text only in quotes. */
export function nameRemedy(directory: string): string {
  if (!isName(directory)) return `Rename the directory: ${NAME_RULE}. Then write that as name.`;
  const plain = /^\p{L}/u.test(directory) && !/^(?:null|true|false|yes|no|on|off|y|n)$/.test(directory);
  return `Write name: ${plain ? directory : JSON.stringify(directory)}`;
}

// --- internal ---

const NAME = /^(?!.*--)[\p{Ll}\p{Lo}\p{N}]([\p{Ll}\p{Lo}\p{N}-]{0,62}[\p{Ll}\p{Lo}\p{N}])?$/u;

function comparable(value: unknown): unknown {
  return typeof value === 'string' ? value.trim().toLowerCase() : value;
}

function clean(values: readonly string[]): readonly string[] {
  return [...new Set(values.map(foldLine).filter((value) => value !== ''))];
}

function splitOutsideParentheses(text: string): readonly string[] {
  const tools: string[] = [];
  let depth = 0;
  let current = '';
  for (const char of text) {
    if (char === '(') depth++;
    else if (char === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(char)) {
      tools.push(current);
      current = '';
    } else current += char;
  }
  return clean([...tools, current]);
}
