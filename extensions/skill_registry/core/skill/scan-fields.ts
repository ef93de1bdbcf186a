import { withFallback } from '../../../../lib/errors/index.ts';

export interface ScannedFields {
  readonly data: Readonly<Record<string, unknown>>;
  /** 1-based line of each top-level key. */
  readonly lines: ReadonlyMap<string, number>;
  /** Top-level keys whose value needs quotes, because it has a colon and a blank: `description: Note: this`. */
  readonly repaired: readonly string[];
}

/**
 * Reads simple frontmatter (with line feeds only) line by line: text on one line, blocks of text, lists and mappings of
 * these. Gives what the `yaml` package gives, in 1 % of the time. Undefined when that could differ: anchors, tags,
 * comments after a value, most flow collections, plain text over several lines, unusual escapes, repeated keys, tabs,
 * unusual characters at the start of a value.
 */
export function scanFields(yaml: string): ScannedFields | undefined {
  if (!ASCII.test(yaml) && ODD.test(yaml)) return undefined;
  const rows = yaml.split('\n');
  if (rows.at(-1) === '') rows.pop();
  const top: TopLevel = { lines: new Map(), repaired: [] };
  const read = mappingAt(rows, 0, 0, top);
  if (!read || top.lines.size === 0 || top.repaired.length > MAX_REPAIRS) return undefined;
  if (top.repaired.length > 0 && yaml.length > MAX_REPAIRED_CHARS) return undefined;
  return { data: read.value as ScannedFields['data'], ...top };
}

/** More than frontmatter by hand needs. The package parses the whole text again for each repair. */
export const MAX_REPAIRS = 20;
export const MAX_REPAIRED_CHARS: number = 16 * 1024;

// --- internal ---

/** YAML has special rules for control characters, surrogates, and white space except blank and line feed. */
const ODD = /[^\P{Cc}\n]|[^\S \n]|\p{Surrogate}/u;
/** A fast test first: most frontmatter has nothing else. */
const ASCII = /^[\n -~]*$/;
/** YAML allows many more characters in a key. */
const FIELD = /^ {0,32}([A-Za-z_][A-Za-z0-9_-]*):(?: +(\S(?:.*\S)?))? *$/;
const ITEM = /^ {0,32}- +(\S(?:.*\S)?) *$/;
/** YAML does not read these keys as text; `__proto__` would set the prototype. */
const NO_KEYS: ReadonlySet<string> = new Set('null Null NULL true True TRUE false False FALSE __proto__'.split(' '));
const UNSUPPORTED: unique symbol = Symbol('left to the yaml package');
const [SPACE, DASH, HASH] = [0x20, 0x2d, 0x23];

interface TopLevel {
  readonly lines: Map<string, number>;
  readonly repaired: string[];
}

interface Read {
  readonly value: unknown;
  readonly end: number;
}

function mappingAt(rows: string[], from: number, indent: number, top?: TopLevel): Read | undefined {
  const mapping: Record<string, unknown> = {};
  let at = nextRow(rows, from);
  while (at < rows.length) {
    const row = rows[at] as string;
    const own = indentOf(row);
    if (own < indent) break;
    // By index: V8 compiles a destructured match longer than it reads a thousand rows.
    const match = FIELD.exec(row);
    const key = match?.[1];
    const text = match?.[2];
    if (own > indent || key === undefined || NO_KEYS.has(key) || Object.hasOwn(mapping, key)) return undefined;
    const read = valueAt(text, rows, at + 1, indent);
    if (!read) return undefined;
    mapping[key] = read.value;
    if (read.value === UNSUPPORTED) {
      // An indented comment would become a part of the value.
      if (!top || text === undefined || !isRepairable(text) || rows[at + 1]?.startsWith(' ')) return undefined;
      mapping[key] = text;
      top.repaired.push(key);
    }
    top?.lines.set(key, at + 1);
    at = nextRow(rows, read.end);
  }
  return { value: mapping, end: at };
}

function valueAt(
  text: string | undefined,
  rows: string[],
  from: number,
  indent: number,
  inList = false,
): Read | undefined {
  if (text !== undefined && BLOCK.test(text)) return blockAt(text, rows, from, indent);
  const next = nextRow(rows, from);
  const row = rows[next] ?? '';
  const own = indentOf(row);
  // A list may have the indentation of its key.
  const isList = !inList && own === indent && row.charCodeAt(own) === DASH;
  const isNested = row !== '' && (own > indent || isList);
  if (text === undefined && isNested)
    return row.charCodeAt(own) === DASH ? listAt(rows, next, own) : mappingAt(rows, next, own);
  if (isNested) return undefined;
  return { value: text === undefined ? null : scalarOf(text), end: next };
}

function listAt(rows: string[], from: number, indent: number): Read | undefined {
  const list: unknown[] = [];
  let at = from;
  while (at < rows.length) {
    const row = rows[at] as string;
    const own = indentOf(row);
    if (own < indent || (own === indent && row.charCodeAt(own) !== DASH)) break;
    const text = ITEM.exec(row)?.[1];
    if (own > indent || text === undefined) return undefined;
    const read = FIELD.test(text) ? mappingInItem(rows, at, own) : valueAt(text, rows, at + 1, own, true);
    if (!read || read.value === UNSUPPORTED) return undefined;
    list.push(read.value);
    at = nextRow(rows, read.end);
  }
  return { value: list, end: at };
}

function mappingInItem(rows: string[], at: number, dash: number): Read | undefined {
  const row = rows[at] as string;
  rows[at] = `${row.slice(0, dash)} ${row.slice(dash + 1)}`;
  return mappingAt(rows, at, indentOf(rows[at]));
}

function nextRow(rows: readonly string[], at: number): number {
  let next = at;
  for (; next < rows.length; next++) {
    const row = rows[next] as string;
    if (row !== '' && row.charCodeAt(indentOf(row)) !== HASH) break;
  }
  return next;
}

function indentOf(row: string): number {
  let indent = 0;
  while (row.charCodeAt(indent) === SPACE) indent += 1;
  return indent;
}

const BLOCK = /^[>|]-?$/;

function blockAt(sign: string, rows: readonly string[], from: number, parent: number): Read | undefined {
  const indent = indentOf(rows[from] ?? '');
  // The first row says how far the block is indented.
  if (indent <= parent || rows[from]?.length === indent) return undefined;
  const texts: string[] = [];
  let at = from;
  for (; at < rows.length; at++) {
    const row = rows[at] as string;
    const own = indentOf(row);
    if (row.length === own) {
      if (own > indent) return undefined;
    } else if (own < indent) break;
    texts.push(row.slice(indent));
  }
  while (texts.at(-1) === '') texts.pop();
  // Lines that are indented deeper are not folded.
  if (sign[0] === '>' && texts.some((text) => text.startsWith(' '))) return undefined;
  const lines = texts.join('\n');
  const text = sign[0] === '|' ? lines : lines.replace(/\n+/g, (ends) => ends.slice(1) || ' ');
  return { value: sign[1] === '-' ? text : `${text}\n`, end: at };
}

/** In plain text, `: ` begins a mapping, and ` #` a comment. */
const NOT_PLAIN = /:(?: |$)| #/;
/** Characters that mean nothing to YAML at the start of a value. */
const PLAIN_START = /^[A-Za-z(/;$^_+.0-9~<=\\\u0080-\uffff]/;

/** The `yaml` package always refuses such a value, and `readYamlFields` then quotes it. */
function isRepairable(text: string): boolean {
  return PLAIN_START.test(text) && /:(?: |$)/.test(text) && !text.includes(' #');
}

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...(['null', 'Null', 'NULL', '~'].map((word) => [word, null]) as [string, unknown][]),
  ...(['true', 'True', 'TRUE'].map((word) => [word, true]) as [string, unknown][]),
  ...(['false', 'False', 'FALSE'].map((word) => [word, false]) as [string, unknown][]),
]);

function scalarOf(text: string): unknown {
  const first = text[0] as string;
  if (first === '"' || first === "'") return quotedOf(text, first);
  if (first === '{') return jsonOf(text);
  if (first === '[') return flowListOf(text);
  if (!PLAIN_START.test(text) || NOT_PLAIN.test(text)) return UNSUPPORTED;
  if (WORDS.has(text)) return WORDS.get(text);
  // Numbers have many forms, and dates and versions look like numbers.
  if (/^[-+.0-9]/.test(text)) return numberOf(text);
  return text;
}

function numberOf(text: string): unknown {
  if (/^(?:0|[1-9][0-9]{0,14})$|^(?:0|[1-9][0-9]{0,5})\.[0-9]{1,6}$/.test(text)) return Number(text);
  if (/^[0-9]+(?:\.[0-9]+\.[0-9]+|(?:-[0-9]+){1,2})$/.test(text)) return text;
  // A number in YAML has only these characters, and those of `0x`, `0o`, exponents, `.inf` and `.nan`.
  return /[^-+.0-9eExXoOinfINFaA]/.test(text) && !/^[-+]?0[xob]/i.test(text) ? text : UNSUPPORTED;
}

/** Escapes must be those of JSON. */
function quotedOf(text: string, quote: string): unknown {
  const inner = text.slice(1, -1);
  if (text.length < 2 || text.at(-1) !== quote) return UNSUPPORTED;
  if (!inner.includes(quote) && (quote === "'" || !inner.includes('\\'))) return inner;
  if (quote === "'") return /^(?:[^']|'')*$/.test(inner) ? inner.replaceAll("''", "'") : UNSUPPORTED;
  return /^(?:[^"\\]|\\["\\/bfnrt])*$/.test(inner) ? JSON.parse(text) : UNSUPPORTED;
}

/** JSON as `JSON.stringify` writes it: no repeated keys, no unusual numbers or escapes. */
function jsonOf(text: string): unknown {
  if (
    text.includes('__proto__') ||
    text.includes('\\u') ||
    text.length > MAX_JSON ||
    (text.length > 500 && LONG_KEY.test(text))
  ) {
    return UNSUPPORTED;
  }
  const value: unknown = withFallback(() => JSON.parse(text));
  const written = JSON.stringify(value);
  if (written === text) return value;
  const dense = text.replace(/"(?:[^"\\]|\\.)*"| +/g, (part) => (part[0] === '"' ? part : ''));
  return written === dense ? value : UNSUPPORTED;
}

/** YAML limits the length of a key. */
const LONG_KEY = /"(?:[^"\\]|\\.){500,}"\s*:/;
/** Characters. A longer text may nest too deeply. */
const MAX_JSON = 2_000;

/** `[a, b c, "d"]`: words and quoted texts without characters that have a meaning in a flow collection. */
function flowListOf(text: string): unknown {
  if (text.at(-1) !== ']') return UNSUPPORTED;
  const inner = text.slice(1, -1).trim();
  if (inner === '') return [];
  const items: unknown[] = [];
  for (const part of inner.split(',')) {
    const item = part.trim();
    if (/^"[^"\\]*"$/.test(item) || /^'[^']*'$/.test(item)) {
      items.push(item.slice(1, -1));
    } else if (/^[A-Za-z][A-Za-z0-9_./ -]*$/.test(item)) items.push(WORDS.has(item) ? WORDS.get(item) : item);
    else return UNSUPPORTED;
  }
  return items;
}
