import { isMap, LineCounter, parseDocument } from 'yaml';

/** What was read between the fences. */
export interface YamlFields {
  readonly data: Readonly<Record<string, unknown>>;
  /** 1-based line within the frontmatter of each top-level key. */
  readonly lineOf: (key: string) => number;
  /** Keys whose value had to be quoted before it could be read. */
  readonly repaired: readonly string[];
  /** Why it could not be read as a whole; `data` then holds what single lines say. */
  readonly error?: { readonly message: string; readonly line: number };
}

/** More repairs than this, and the text is no frontmatter that somebody wrote by hand. */
const MAX_REPAIRS = 20;

/**
 * Reads YAML 1.2 and never throws.
 *
 * Where a value is what people write and YAML refuses (an unquoted `: `, a leading backtick, brackets in prose), that
 * value is taken as plain text and named in `repaired`. Where nothing helps, `name:` and `description:` lines are taken
 * as they stand and `error` says why.
 */
export function readYamlFields(yaml: string): YamlFields {
  const repaired: string[] = [];
  let text = yaml;
  let first: { message: string; line: number } | undefined;
  for (let attempt = 0; attempt <= MAX_REPAIRS; attempt++) {
    const parsed = parseOnce(text);
    if ('data' in parsed) return { ...parsed, repaired };
    first ??= parsed;
    const repair = quoteValueAt(text, parsed.line, repaired);
    if (!repair) break;
    text = repair.text;
    repaired.push(repair.key);
  }
  return { ...scanLines(yaml), repaired: [], error: first ?? { message: 'not readable', line: 1 } };
}

// --- internal ---

type Parsed = Pick<YamlFields, 'data' | 'lineOf'> | { readonly message: string; readonly line: number };

function parseOnce(text: string): Parsed {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
    const [error] = document.errors;
    if (error) return { message: error.message, line: lines.linePos(error.pos[0]).line };
    if (!isMap(document.contents)) return { message: 'expected a mapping of fields', line: 1 };
    const keys = new Map(
      document.contents.items.map((item) => {
        const key = item.key as { value?: unknown; range?: readonly number[] };
        return [String(key.value), lines.linePos(key.range?.[0] ?? 0).line];
      }),
    );
    return {
      data: document.toJS({ maxAliasCount: 100 }) as Record<string, unknown>,
      lineOf: (key) => keys.get(key) ?? 1,
    };
  } catch (error) {
    // Alias bombs (ReferenceError) and nesting deeper than the stack (RangeError).
    return { message: error instanceof Error ? error.message : String(error), line: 1 };
  }
}

const KEY_LINE = /^([A-Za-z_][\w-]*):[ \t]+(\S.*)$/;

/** Quotes the single-key value that the error at `line` belongs to, continuation lines included. */
function quoteValueAt(text: string, line: number, done: readonly string[]): { text: string; key: string } | undefined {
  const lines = text.split(/\r\n|\n|\r/);
  for (let at = Math.min(line, lines.length) - 1; at >= 0; at--) {
    const [, key, value] = KEY_LINE.exec(lines[at] ?? '') ?? [];
    if (key === undefined || value === undefined) continue;
    if (done.includes(key)) return undefined;
    let end = at + 1;
    while (end < lines.length && /^[ \t]+\S/.test(lines[end] ?? '')) end++;
    const whole = [value, ...lines.slice(at + 1, end).map((more) => more.trim())].join(' ').trim();
    lines.splice(at, end - at, `${key}: ${JSON.stringify(unquote(whole))}`, ...Array(end - at - 1).fill(''));
    return { text: lines.join('\n'), key };
  }
  return undefined;
}

/** A value that was quoted, only badly, keeps what is inside its quotes. */
function unquote(value: string): string {
  const [, quote, inner] = /^(["'])(.*)\1$/.exec(value) ?? [];
  return quote && inner !== undefined ? inner : value;
}

function scanLines(yaml: string): Pick<YamlFields, 'data' | 'lineOf'> {
  const data: Record<string, string> = {};
  const lineOf = new Map<string, number>();
  for (const [index, line] of yaml.split(/\r\n|\n|\r/).entries()) {
    const [, key, value] = KEY_LINE.exec(line) ?? [];
    if ((key === 'name' || key === 'description') && value !== undefined && data[key] === undefined) {
      data[key] = unquote(value.trim());
      lineOf.set(key, index + 1);
    }
  }
  return { data, lineOf: (key) => lineOf.get(key) ?? 1 };
}
