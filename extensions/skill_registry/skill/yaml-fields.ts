import type { Document } from 'yaml';
import { yamlPackage } from '../../../kernel/host.ts';
import { kindOf } from './field-values.ts';
import { scanFields } from './scan-fields.ts';

/** Why YAML gives no mapping. */
export interface YamlFailure {
  readonly message: string;
  /** 1-based. */
  readonly line: number;
  /** It is YAML, only no mapping. */
  readonly notMapping?: true;
}

/** What was read between the fences. */
export interface YamlFields {
  readonly data: Readonly<Record<string, unknown>>;
  /** 1-based line within the frontmatter of each top-level key. */
  readonly lineOf: (key: string) => number;
  /** Keys whose value had to be quoted before it could be read. */
  readonly repaired: readonly string[];
  /** Why it could not be read as a whole; `data` then holds what single lines say. */
  readonly error?: YamlFailure;
}

/** More repairs, or more text, than this is no frontmatter that somebody wrote by hand; each repair reads it all again. */
const MAX_REPAIRS = 20;
const MAX_REPAIRED_CHARS = 16 * 1024;
/** Fields that are taken line by line where nothing else helps: what it is, and who may not load it. */
const SCANNED = new Set(['name', 'description', 'disable-model-invocation', 'user-invocable']);

/**
 * Reads YAML 1.2 and never throws.
 *
 * Where a value is what people write and YAML refuses (an unquoted `: `, a leading backtick, brackets in prose), that
 * value is taken as plain text and named in `repaired`. Where nothing helps, the lines of SCANNED fields are taken as they
 * stand and `error` says why.
 */
export function readYamlFields(yaml: string): YamlFields {
  // The yaml package takes a CR alone for a character of the line.
  const text = yaml.replace(/\r\n?/g, '\n');
  const scanned = scanFields(text);
  if (scanned) return { data: scanned.data, lineOf: (key) => scanned.lines.get(key) ?? 1, repaired: [] };
  return readWithPackage(yaml);
}

/** As `readYamlFields`, always by the `yaml` package: what a scan has to equal. */
export function readWithPackage(yaml: string): YamlFields {
  const repaired: string[] = [];
  let text = yaml.replace(/\r\n?/g, '\n');
  let first: YamlFailure | undefined;
  for (let attempt = 0; attempt <= MAX_REPAIRS; attempt++) {
    const parsed = parseMapping(text);
    if ('data' in parsed) return { ...parsed, repaired };
    first ??= parsed;
    const repair = text.length <= MAX_REPAIRED_CHARS && quoteValueAt(text, parsed.line, repaired);
    if (!repair) break;
    text = repair.text;
    repaired.push(repair.key);
  }
  return { ...scanLines(yaml), repaired: [], error: first ?? { message: 'not readable', line: 1 } };
}

export type Parsed = Pick<YamlFields, 'data' | 'lineOf'> | YamlFailure;

/** Reads one YAML mapping as it stands, with nothing repaired. Never throws, however deep it nests. */
export function parseMapping(text: string): Parsed {
  if (isTooDeep(text)) return { message: 'nested too deeply', line: 1 };
  const { isMap, LineCounter, parseDocument } = yamlPackage();
  const lines = new LineCounter();
  try {
    // Its own check for repeated keys compares every key with every other.
    const options = { lineCounter: lines, prettyErrors: false, logLevel: 'silent', uniqueKeys: false } as const;
    const document = parseDocument(text, options);
    const [error] = document.errors;
    if (error) return { message: error.message, line: lines.linePos(error.pos[0]).line };
    const repeated = repeatedKeyAt(document);
    if (repeated !== undefined) return { message: 'Map keys must be unique', line: lines.linePos(repeated).line };
    if (!isMap(document.contents)) {
      const message = `expected a mapping of fields, got ${kindOf(document.toJS({ maxAliasCount: 100 }))}`;
      return { message, line: 1, notMapping: true };
    }
    const keys = new Map(
      document.contents.items.map((item) => {
        const key = item.key as { value?: unknown; range?: readonly number[] };
        return [String(key.value), lines.linePos(key.range?.[0] ?? 0).line];
      }),
    );
    const data = document.toJS({ maxAliasCount: 100 }) as Record<string, unknown>;
    if (text.includes('*') && isCircular(data)) return { message: 'an alias stands inside its own anchor', line: 1 };
    return { data, lineOf: (key) => keys.get(key) ?? 1 };
  } catch (error) {
    // Alias bombs (ReferenceError).
    return { message: error instanceof Error ? error.message : String(error), line: 1 };
  }
}

/** What the lines of SCANNED fields say, without parsing anything. */
export function scanLines(yaml: string): Pick<YamlFields, 'data' | 'lineOf'> {
  const data: Record<string, string> = {};
  const lineOf = new Map<string, number>();
  const lines = yaml.split(/\r\n|\n|\r/);
  for (const index of lines.keys()) {
    const field = fieldAt(lines, index);
    if (field?.value && SCANNED.has(field.key) && data[field.key] === undefined) {
      data[field.key] = field.value;
      lineOf.set(field.key, index + 1);
    }
  }
  return { data, lineOf: (key) => lineOf.get(key) ?? 1 };
}

/** More levels than anybody writes by hand, and far fewer than a stack holds. */
export const MAX_DEPTH = 200;

/**
 * True when YAML nests deeper than `MAX_DEPTH`, in brackets or in blocks. To be asked before text of strangers is parsed: the
 * parser recurses until the stack is full, and when V8 has to compile a regular expression there, all of Node aborts.
 */
export function isTooDeep(yaml: string): boolean {
  // Each level takes one of these: most texts need no second look.
  if ((yaml.match(/[[{?:-]/g)?.length ?? 0) <= MAX_DEPTH) return false;
  const { Lexer, Parser } = yamlPackage();
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(yaml)) {
    for (const _token of parser.next(lexeme)) {
      // Only the stack is of interest.
    }
    if (parser.stack.length > MAX_DEPTH) return true;
  }
  return false;
}

// --- internal ---

/** Where the first key stands that its mapping has already. */
function repeatedKeyAt(document: Document.Parsed): number | undefined {
  const { isScalar, visit } = yamlPackage();
  let repeated: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          repeated = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return repeated;
}

function isCircular(data: unknown): boolean {
  try {
    JSON.stringify(data);
    return false;
  } catch {
    return true;
  }
}

const KEY_LINE = /^([A-Za-z_][\w-]*):(?:[ \t]+(\S.*)|[ \t]*)$/;

/**
 * Quotes the value of a top-level field, its indented lines included: of the nearest one at or above `line` that is no YAML
 * when it stands alone. A quote or a bracket that is never closed is only noticed at a later field, which is not to blame.
 */
function quoteValueAt(text: string, line: number, done: readonly string[]): { text: string; key: string } | undefined {
  const lines = text.split('\n');
  const above: Field[] = [];
  for (let at = Math.min(line, lines.length) - 1; at >= 0; at--) {
    const field = fieldAt(lines, at);
    if (field?.value) above.push(field);
  }
  const field = above.find(({ at, end }) => 'message' in parseMapping(lines.slice(at, end).join('\n'))) ?? above[0];
  if (!field || done.includes(field.key)) return undefined;
  const { at, end, key, value } = field;
  lines.splice(at, end - at, `${key}: ${JSON.stringify(value)}`, ...Array(end - at - 1).fill(''));
  return { text: lines.join('\n'), key };
}

/** A top-level field and its indented lines as one line of text, without the sign of a block. */
interface Field {
  readonly key: string;
  readonly value: string;
  /** Its lines: from `at` to before `end`, 0-based. */
  readonly at: number;
  readonly end: number;
}

function fieldAt(lines: readonly string[], at: number): Field | undefined {
  const [, key, first = ''] = KEY_LINE.exec(lines[at] ?? '') ?? [];
  if (key === undefined) return undefined;
  let end = at + 1;
  while (end < lines.length && /^[ \t]+\S/.test(lines[end] ?? '')) end++;
  const more = lines.slice(at + 1, end).map((line) => line.trim());
  const value = [first.replace(/^[|>][+\-\d]*[ \t]*$/, ''), ...more].join(' ').trim();
  return { key, value: unquote(value), at, end };
}

/** A value that was quoted, only badly, keeps what is inside its quotes. */
function unquote(value: string): string {
  const [, quote, inner] = /^(["'])(.*)\1$/.exec(value) ?? [];
  return quote && inner !== undefined ? inner : value;
}
