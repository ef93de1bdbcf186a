import type { Problem } from 'skill-registry/kernel';
import { foldLine, shorten } from '../../../../lib/text/index.ts';

/** `message`: what was expected, what arrived and what to do. */
export type ProblemSink = (
  code: string,
  severity: Problem['severity'],
  message: string,
  line?: number,
  details?: Readonly<Record<string, unknown>>,
) => void;

export type Fields = Readonly<Record<string, unknown>>;

export interface FieldSource {
  readonly data: Fields;
  readonly add: ProblemSink;
  readonly lineOf: (key: string) => number;
}

/** JSON on one line, at most 80 characters. */
export function shown(value: unknown): string {
  return shorten(foldLine(JSON.stringify(value) ?? String(value)), 80);
}

export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

/** Letters exclude the blanks of hieroglyphs, which are invisible. */
export function hasLetterOrEmoji(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  return /^[A-Za-z]/.test(value) || /(?![\u{13441}\u{13442}])[\p{L}\p{Extended_Pictographic}]/u.test(foldLine(value));
}

export function whyNoText(key: string, data: Fields): string {
  if (!Object.hasOwn(data, key)) return `There is no ${key}`;
  const value = data[key];
  if (typeof value === 'string' && foldLine(value) !== '') return `The ${key} has no letter in it`;
  return typeof value === 'string' || value === null
    ? `The ${key} is empty`
    : `The ${key} is ${kindOf(value)}, expected text`;
}

/** Text, number or boolean as text, a list as `[a, b]`; undefined for anything else. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  // YAML reads `argument-hint: [file]` as a list, but its author means text.
  if (Array.isArray(value)) return `[${value.map((item) => readText(item) ?? '').join(', ')}]`;
  return undefined;
}

/** Frozen and shared: most fields of most skills are empty, and there may be tens of thousands of skills. */
export const EMPTY_LIST: readonly string[] = Object.freeze([]);
export const EMPTY_RECORD: Readonly<Record<string, unknown>> = Object.freeze({});

/** A list, or text with commas. Without empty and repeated entries. FIELD_INVALID for anything else. */
export function readList(key: string, from: FieldSource, split: Split = atCommas): readonly string[] {
  const value = from.data[key];
  if (value === undefined || value === null) return EMPTY_LIST;
  if (typeof value === 'string') return clean(split(value));
  if (Array.isArray(value) && value.every((item) => readText(item) !== undefined && !Array.isArray(item))) {
    return clean(value.map((item) => readText(item) as string));
  }
  report(key, from, 'a list of texts', 'it was ignored. Write a list such as [a, b].');
  return [];
}

/** Also of `metadata`, where agentskills.io allows fields that it does not know. */
export function readListAnywhere(key: string, from: FieldSource, metadata: Fields, split?: Split): readonly string[] {
  const own = readList(key, from, split);
  if (metadata[key] === undefined || metadata[key] === null) return own;
  const data = { [`metadata.${key}`]: metadata[key] };
  const inMetadata = readList(`metadata.${key}`, { ...from, data, lineOf: () => from.lineOf('metadata') }, split);
  return [...new Set([...own, ...inMetadata])];
}

const TRUE: ReadonlySet<unknown> = new Set<unknown>([true, 1, 'true', 'yes', 'on', '1']);
const FALSE: ReadonlySet<unknown> = new Set<unknown>([false, 0, 'false', 'no', 'off', '0']);

export function isTrue(value: unknown): boolean {
  return TRUE.has(comparable(value));
}

/** true or false, yes or no, on or off, 1 or 0. Anything else is FIELD_INVALID and gives the default. */
export function readBoolean(key: string, from: FieldSource, byDefault: boolean): boolean {
  const value = from.data[key];
  if (value === undefined || value === null) return byDefault;
  if (isTrue(value)) return true;
  if (FALSE.has(comparable(value))) return false;
  report(key, from, 'true or false', `it was taken as ${byDefault}. Write true or false.`);
  return byDefault;
}

/** As written: `Bash(git add *)`. Splits at white space and commas outside parentheses. FIELD_INVALID if no text. */
export function readTools(key: string, from: FieldSource): readonly string[] {
  const value = from.data[key];
  if (value === undefined || value === null) return EMPTY_LIST;
  const split = (text: string): readonly string[] => splitOutside('()', /[\s,]/, text);
  if (typeof value === 'string') return clean(split(value));
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return clean(value.flatMap(split));
  report(key, from, 'text or a list of texts', 'it was ignored. Write text such as Read Bash(git add *).');
  return [];
}

/** @param brackets - An opening and a closing character. */
export function splitOutside(brackets: string, separator: RegExp, text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let current = '';
  for (const char of text) {
    if (char === brackets[0]) depth++;
    else if (char === brackets[1]) depth = Math.max(0, depth - 1);
    if (depth === 0 && separator.test(char)) {
      parts.push(current);
      current = '';
    } else current += char;
  }
  return [...parts, current];
}

export function report(key: string, { data, add, lineOf }: FieldSource, expected: string, effect: string): void {
  const message = `"${key}" should be ${expected}, got ${shown(data[key])}; ${effect}`;
  add('FIELD_INVALID', 'warning', message, lineOf(key), { field: key });
}

export const NAME_RULE = '1-64 lowercase letters, digits and single hyphens, none at the ends';

/** Without letters of other scripts: as new skills are called. */
export function isPlainName(text: string): boolean {
  return ASCII_NAME.test(text);
}

export function isName(text: string): boolean {
  return isPlainName(text) || NAME.test(text.normalize('NFKC'));
}

export function nameRemedy(directory: string): string {
  if (!isName(directory)) return `Rename the directory: ${NAME_RULE}. Then write that as name.`;
  return `Write name: ${nameValue(directory)}`;
}

/** YAML reads a number, `null` and the like as text only in quotes. */
export function nameValue(name: string): string {
  const plain = /^\p{L}/u.test(name) && !/^(?:null|true|false|yes|no|on|off|y|n)$/.test(name);
  return plain ? name : JSON.stringify(name);
}

// --- internal ---

type Split = (text: string) => readonly string[];
const atCommas: Split = (text) => text.split(',');

/** A fast test first: most names pass it. */
const ASCII_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME = /^(?!.*--)[\p{Ll}\p{Lo}\p{N}]([\p{Ll}\p{Lo}\p{N}-]{0,62}[\p{Ll}\p{Lo}\p{N}])?$/u;

function comparable(value: unknown): unknown {
  return typeof value === 'string' ? value.trim().toLowerCase() : value;
}

function clean(values: readonly string[]): readonly string[] {
  return [...new Set(values.map(foldLine).filter((value) => value !== ''))];
}
