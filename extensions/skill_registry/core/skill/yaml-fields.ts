import type { Document } from 'yaml';
import { yamlPackage } from '../../../../kernel/host.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { kindOf } from './field-values.ts';
import { MAX_REPAIRED_CHARS, MAX_REPAIRS, scanFields } from './scan-fields.ts';

export interface YamlFailure {
  readonly message: string;
  /** 1-based. */
  readonly line: number;
  /** It is valid YAML, but not a mapping. */
  readonly notMapping?: true;
}

export interface YamlFields {
  readonly data: Readonly<Record<string, unknown>>;
  /** 1-based line within the frontmatter of each top-level key. */
  readonly lineOf: (key: string) => number;
  /** Keys whose value had to be quoted before it could be read. */
  readonly repaired: readonly string[];
  /** Why it is no YAML; `data` then has the values of single lines. */
  readonly error?: YamlFailure;
}

/** Read from single lines when the text is no YAML: what the skill is, and who must not load it. */
const SCANNED = new Set(['name', 'description', 'disable-model-invocation', 'user-invocable']);

/**
 * Reads YAML 1.2; never throws. A value that YAML refuses (an unquoted `: `, a leading backtick, brackets in prose) is
 * read as plain text, with its key in `repaired`. If that does not help, the SCANNED fields are read from their lines,
 * and `error` says why.
 */
export function readYamlFields(yaml: string): YamlFields {
  // The yaml package does not accept a single CR as a line end.
  const scanned = scanFields(yaml.includes('\r') ? yaml.replace(/\r\n?/g, '\n') : yaml);
  if (scanned) return { ...scanned, lineOf: (key) => scanned.lines.get(key) ?? 1 };
  return readWithPackage(yaml);
}

/** With the lines of `---` and a blank line behind them. */
export function newFrontmatter(name: string, description: string): string {
  return `---\n${yamlPackage().stringify({ name, description }, { lineWidth: 0 })}---\n\n`;
}

/** Always uses the `yaml` package. `scanFields` must give the same result. */
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
  return { ...readFieldsByLine(yaml), repaired: [], error: first ?? { message: 'not readable', line: 1 } };
}

export type Parsed = Pick<YamlFields, 'data' | 'lineOf'> | YamlFailure;

export function parseMapping(text: string): Parsed {
  if (isTooDeep(text)) return { message: 'nested too deeply', line: 1 };
  const { isMap, LineCounter, parseDocument } = yamlPackage();
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { ...OPTIONS, lineCounter: lines });
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
    const isCircular = text.includes('*') && withFallback(() => JSON.stringify(data)) === undefined;
    if (isCircular) return { message: 'an alias is inside its own anchor', line: 1 };
    return { data, lineOf: (key) => keys.get(key) ?? 1 };
  } catch (error) {
    // Too many aliases (ReferenceError).
    return { message: error instanceof Error ? error.message : String(error), line: 1 };
  }
}

/** The SCANNED fields, without YAML. */
export function readFieldsByLine(yaml: string): Pick<YamlFields, 'data' | 'lineOf'> {
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

/** Levels of nesting: more than people write, far fewer than overflow the stack. */
export const MAX_DEPTH = 200;

/** Checks text from strangers before parsing: the parser is recursive, and V8 can abort the process on a full stack. */
export function isTooDeep(yaml: string): boolean {
  // Each level needs one of these characters, so most texts are not checked further.
  if ((yaml.match(/[[{?:-]/g)?.length ?? 0) <= MAX_DEPTH) return false;
  const { Lexer, Parser } = yamlPackage();
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(yaml)) {
    for (const _token of parser.next(lexeme)) {
    }
    if (parser.stack.length > MAX_DEPTH) return true;
  }
  return false;
}

/** A top-level field with its indented lines as one line, without the block indicator. */
export interface Field {
  readonly key: string;
  readonly value: string;
  /** 0-based lines: from `at` to before `end`. */
  readonly at: number;
  readonly end: number;
}

/** `at` is 0-based. */
export function fieldAt(lines: readonly string[], at: number): Field | undefined {
  const [, key, first = ''] = KEY_LINE.exec(lines[at] ?? '') ?? [];
  if (key === undefined) return undefined;
  let end = at + 1;
  while (end < lines.length && /^[ \t]+\S/.test(lines[end] ?? '')) end++;
  const more = lines.slice(at + 1, end).map((line) => line.trim());
  const value = [first.replace(/^[|>][+\-\d]*[ \t]*$/, ''), ...more].join(' ').trim();
  return { key, value: value.replace(/^(["'])(.*)\1$/, '$2'), at, end };
}

// --- internal ---

/** The package looks for repeated keys in quadratic time, and makes bytes of `!!binary`. */
const OPTIONS = { prettyErrors: false, logLevel: 'silent', uniqueKeys: false, resolveKnownTags: false } as const;

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

const KEY_LINE = /^([A-Za-z_][\w-]*):(?:[ \t]+(\S.*)|[ \t]*)$/;

/** Takes the nearest invalid field at or above `line`: YAML reports an unclosed quote or bracket later. */
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
