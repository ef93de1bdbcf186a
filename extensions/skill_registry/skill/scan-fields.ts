/** The fields of a simple frontmatter, equal to what the `yaml` package reads. */
export interface ScannedFields {
  readonly data: Readonly<Record<string, unknown>>;
  /** 1-based line of each top-level key. */
  readonly lines: ReadonlyMap<string, number>;
}

/**
 * Reads simple frontmatter line by line: `key: value` with plain or quoted text on one line, and lists and mappings of such
 * values. The result equals that of the `yaml` package, in a hundredth of the time. Returns undefined when the result
 * could differ, so that package must read it: anchors, tags, comments, most block and flow collections, most text over
 * several lines, escapes, repeated keys, tabs, unusual characters at the start of a value.
 *
 * @param yaml - With line feeds only.
 */
export function scanFields(yaml: string): ScannedFields | undefined {
  if (ODD.test(yaml)) return undefined;
  const data: Record<string, unknown> = {};
  const lines = new Map<string, number>();
  const rows = yaml.split('\n');
  if (rows.at(-1) === '') rows.pop();
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as string;
    const field = FIELD.exec(row);
    if (!field || NO_KEYS.has(field[1] as string)) return undefined;
    const [, key, text] = field as unknown as [string, string, string | undefined];
    if (lines.has(key)) return undefined;
    lines.set(key, at + 1);
    at += 1;
    while (rows[at] === '') at += 1;
    const isNested = at < rows.length && startsNested(rows[at] as string);
    if (text !== undefined && isNested && rows[at - 1] !== '') {
      const block = blockAt(text, rows, at);
      if (!block) return undefined;
      data[key] = block.value;
      at = block.end;
    } else if (text !== undefined) {
      // An indented line continues the value.
      if (isNested) return undefined;
      const value = scalarOf(text);
      if (value === UNSUPPORTED) return undefined;
      data[key] = value;
    } else if (isNested) {
      const nested = nestedAt(rows, at);
      if (!nested) return undefined;
      data[key] = nested.value;
      at = nested.end;
      // Another indented line: an indentation that this scan does not support.
      while (rows[at] === '') at += 1;
      if (at < rows.length && startsNested(rows[at] as string)) return undefined;
    } else data[key] = null;
  }
  return lines.size > 0 ? { data, lines } : undefined;
}

// --- internal ---

/** Control characters, white space other than blank and line feed, and surrogates: YAML has special rules for each. */
const ODD = /[^\P{Cc}\n]|[^\S \n]|\p{Surrogate}/u;
/** YAML allows many more characters in a key. */
const FIELD = /^([A-Za-z_][A-Za-z0-9_-]*):(?: +(\S(?:.*\S)?))?$/;
const NESTED_FIELD = /^( {1,32})([A-Za-z_][A-Za-z0-9_-]*):(?: +(\S(?:.*\S)?))?$/;
const NESTED_ITEM = /^( {0,32})- +(\S(?:.*\S)?)$/;
/** YAML does not read these keys as text; `__proto__` would set the prototype. */
const NO_KEYS: ReadonlySet<string> = new Set('null Null NULL true True TRUE false False FALSE __proto__'.split(' '));
const UNSUPPORTED: unique symbol = Symbol('left to the yaml package');

function startsNested(row: string): boolean {
  const first = row.charCodeAt(0);
  return first === 0x20 || first === 0x2d;
}

/** Reads a list or a mapping, up to the first line that is indented less. */
function nestedAt(rows: readonly string[], from: number): { value: unknown; end: number } | undefined {
  const indent = indentOf(rows[from] as string);
  return rows[from]?.[indent] === '-' ? listAt(rows, from, indent) : mappingAt(rows, from, indent);
}

function listAt(rows: readonly string[], from: number, indent: number): { value: unknown; end: number } | undefined {
  const list: unknown[] = [];
  let at = from;
  for (; at < rows.length && rows[at] !== ''; at++) {
    const row = rows[at] as string;
    const [, spaces = '', text] = NESTED_ITEM.exec(row) ?? [];
    if (text === undefined) {
      // A list may have the indentation of its key, and then the next key ends it.
      if (indentOf(row) < indent || (indentOf(row) === indent && row[indent] !== '-')) break;
      return undefined;
    }
    if (spaces.length < indent) break;
    if (spaces.length > indent) return undefined;
    const value = scalarOf(text);
    if (value === UNSUPPORTED) return undefined;
    list.push(value);
  }
  return { value: list, end: at };
}

function mappingAt(rows: readonly string[], from: number, indent: number): { value: unknown; end: number } | undefined {
  const mapping: Record<string, unknown> = {};
  let at = from;
  while (at < rows.length && rows[at] !== '') {
    const row = rows[at] as string;
    const own = indentOf(row);
    if (own < indent) break;
    const [, , key, text] = NESTED_FIELD.exec(row) ?? [];
    if (own > indent || key === undefined || NO_KEYS.has(key) || Object.hasOwn(mapping, key)) return undefined;
    at += 1;
    const next = rows[at] ?? '';
    const isDeeper = next !== '' && (indentOf(next) > indent || (indentOf(next) === indent && next[indent] === '-'));
    if (text !== undefined) {
      const value = isDeeper ? UNSUPPORTED : scalarOf(text);
      if (value === UNSUPPORTED) return undefined;
      mapping[key] = value;
    } else if (isDeeper) {
      const nested = nestedAt(rows, at);
      if (!nested) return undefined;
      mapping[key] = nested.value;
      at = nested.end;
    } else mapping[key] = null;
  }
  return { value: mapping, end: at };
}

function indentOf(row: string): number {
  let indent = 0;
  while (row[indent] === ' ') indent += 1;
  return indent;
}

/** Reads a block (`>` or `|`, with or without `-`) of lines with equal indentation and no blank line, up to the next field. */
function blockAt(sign: string, rows: readonly string[], from: number): { value: string; end: number } | undefined {
  if (!/^[>|]-?$/.test(sign)) return undefined;
  const indent = (/^ +/.exec(rows[from] as string)?.[0] ?? '').length;
  const texts: string[] = [];
  let at = from;
  for (; at < rows.length && startsNested(rows[at] as string); at++) {
    const row = rows[at] as string;
    const text = row.slice(indent);
    if (indent === 0 || row.slice(0, indent).trim() !== '' || !/^\S(?:.*\S)?$/.test(text)) return undefined;
    texts.push(text);
  }
  // Whether the text of the block ends with a line feed depends on the lines after this one.
  if (rows[at] === '') return undefined;
  return { value: texts.join(sign[0] === '>' ? ' ' : '\n') + (sign[1] === '-' ? '' : '\n'), end: at };
}

/** In plain text, `: ` begins a mapping, and ` #` a comment. */
const NOT_PLAIN = /:(?: |$)| #/;
/** Letters, and characters without a meaning for YAML at the start of a value. */
const PLAIN_START = /^[\p{L}(/;$^_+.0-9~<=\\]/u;
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

/** Reads simple numbers, and text that is certainly not a number. */
function numberOf(text: string): unknown {
  if (/^(?:0|[1-9][0-9]{0,14})$|^(?:0|[1-9][0-9]{0,5})\.[0-9]{1,6}$/.test(text)) return Number(text);
  if (/^[0-9]+\.[0-9]+\.[0-9]+$/.test(text)) return text;
  // A number in YAML has only these characters, and those of `0x`, `0o`, exponents, `.inf` and `.nan`.
  return /[^-+.0-9eExXoOinfINFaA]/.test(text) && !/^[-+]?0[xob]/i.test(text) ? text : UNSUPPORTED;
}

/** Reads quoted text that contains neither its own quote character nor an escape. */
function quotedOf(text: string, quote: string): unknown {
  const inner = text.slice(1, -1);
  if (text.length < 2 || text.at(-1) !== quote || inner.includes(quote)) return UNSUPPORTED;
  if (quote === '"' && inner.includes('\\')) return UNSUPPORTED;
  return inner;
}

/** Reads JSON as `JSON.stringify` writes it: no repeated keys, no unusual numbers, no escapes. */
function jsonOf(text: string): unknown {
  if (text.includes('\\') || text.includes('__proto__') || text.length > MAX_JSON || /"[^"]{500,}"\s*:/.test(text)) {
    return UNSUPPORTED;
  }
  try {
    const value: unknown = JSON.parse(text);
    const dense = text.replace(/"[^"]*"| +/g, (part) => (part[0] === '"' ? part : ''));
    return JSON.stringify(value) === dense ? value : UNSUPPORTED;
  } catch {
    return UNSUPPORTED;
  }
}

/** Characters. A longer text may nest too deeply. */
const MAX_JSON = 2_000;

/** Reads `[a, b c, "d"]`: words and quoted texts without characters that have a meaning in a flow collection. */
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
