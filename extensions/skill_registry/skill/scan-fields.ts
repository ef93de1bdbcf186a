/** What a scan of simple frontmatter gives: the same as the `yaml` package. */
export interface ScannedFields {
  readonly data: Readonly<Record<string, unknown>>;
  /** 1-based line of each top-level key. */
  readonly lines: ReadonlyMap<string, number>;
}

/**
 * Reads the frontmatter that most people write, line by line: `key: value` with plain or quoted text on one line, lists of
 * such values, and one level of `key: value` below a key. It may abstain (undefined), and otherwise gives exactly what the
 * `yaml` package would, a hundred times faster. Whatever is not certain is left to that package: anchors, tags, comments,
 * block and flow collections, text over several lines, escapes, repeated keys, tabs, anything odd at the start of a value.
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
      // A line that goes on from a value is part of it.
      if (isNested) return undefined;
      const value = scalarOf(text);
      if (value === ABSTAIN) return undefined;
      data[key] = value;
    } else if (isNested) {
      const nested = nestedAt(rows, at);
      if (!nested) return undefined;
      data[key] = nested.value;
      at = nested.end;
      // What is left of it is indented in a way that this does not know.
      while (rows[at] === '') at += 1;
      if (at < rows.length && startsNested(rows[at] as string)) return undefined;
    } else data[key] = null;
  }
  return lines.size > 0 ? { data, lines } : undefined;
}

// --- internal ---

/** Controls, white space that is neither a blank nor a line feed, halves of characters: seldom, and each with rules of its own. */
const ODD = /[^\P{Cc}\n]|[^\S \n]|\p{Surrogate}/u;
/** Much less than YAML allows in a key. */
const FIELD = /^([A-Za-z_][A-Za-z0-9_-]*):(?: +(\S(?:.*\S)?))?$/;
const NESTED_FIELD = /^( {1,32})([A-Za-z_][A-Za-z0-9_-]*):(?: +(\S(?:.*\S)?))?$/;
const NESTED_ITEM = /^( {0,32})- +(\S(?:.*\S)?)$/;
/** As keys they are no text, or set the prototype. */
const NO_KEYS: ReadonlySet<string> = new Set('null Null NULL true True TRUE false False FALSE __proto__'.split(' '));
const ABSTAIN: unique symbol = Symbol('left to the yaml package');

function startsNested(row: string): boolean {
  const first = row.charCodeAt(0);
  return first === 0x20 || first === 0x2d;
}

/** A list of values on one line each, or a mapping of such, of lists and of mappings, up to what is indented less. */
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
      // A list may stand at the column of its key, and then the next key ends it.
      if (indentOf(row) < indent || (indentOf(row) === indent && row[indent] !== '-')) break;
      return undefined;
    }
    if (spaces.length < indent) break;
    if (spaces.length > indent) return undefined;
    const value = scalarOf(text);
    if (value === ABSTAIN) return undefined;
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
      const value = isDeeper ? ABSTAIN : scalarOf(text);
      if (value === ABSTAIN) return undefined;
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

/** The lines of a block (`>` or `|`, with or without `-`), all indented alike, none blank, up to the next field. */
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
  // Whether it ends with a line feed depends on what follows.
  if (rows[at] === '') return undefined;
  return { value: texts.join(sign[0] === '>' ? ' ' : '\n') + (sign[1] === '-' ? '' : '\n'), end: at };
}

/** A mapping, or a comment, in the middle of a plain text. */
const NOT_PLAIN = /:(?: |$)| #/;
/** Letters, and what YAML gives no meaning to at the start of a value. */
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
  if (!PLAIN_START.test(text) || NOT_PLAIN.test(text)) return ABSTAIN;
  if (WORDS.has(text)) return WORDS.get(text);
  // Numbers have many forms, and dates, versions and the like only look like one.
  if (/^[-+.0-9]/.test(text)) return numberOf(text);
  return text;
}

/** Plain whole numbers, and texts that certainly are no number; other forms are left to the package. */
function numberOf(text: string): unknown {
  if (/^(?:0|[1-9][0-9]{0,14})$|^(?:0|[1-9][0-9]{0,5})\.[0-9]{1,6}$/.test(text)) return Number(text);
  if (/^[0-9]+\.[0-9]+\.[0-9]+$/.test(text)) return text;
  // Nothing that YAML takes for a number has one of these, but for `0x`, `0o`, exponents, `.inf` and `.nan`.
  return /[^-+.0-9eExXoOinfINFaA]/.test(text) && !/^[-+]?0[xob]/i.test(text) ? text : ABSTAIN;
}

/** Text in quotes that holds neither the quote nor an escape. */
function quotedOf(text: string, quote: string): unknown {
  const inner = text.slice(1, -1);
  if (text.length < 2 || text.at(-1) !== quote || inner.includes(quote)) return ABSTAIN;
  if (quote === '"' && inner.includes('\\')) return ABSTAIN;
  return inner;
}

/** What is JSON, and written as JSON is: no key twice, no odd numbers, no escapes. */
function jsonOf(text: string): unknown {
  if (text.includes('\\') || text.includes('__proto__') || text.length > MAX_JSON || /"[^"]{500,}"\s*:/.test(text)) {
    return ABSTAIN;
  }
  try {
    const value: unknown = JSON.parse(text);
    const dense = text.replace(/"[^"]*"| +/g, (part) => (part[0] === '"' ? part : ''));
    return JSON.stringify(value) === dense ? value : ABSTAIN;
  } catch {
    return ABSTAIN;
  }
}

/** Longer ones may nest deeper than is good for anybody. */
const MAX_JSON = 2_000;

/** `[a, b c, "d"]`: words and quoted texts, with nothing in them that means something in a flow collection. */
function flowListOf(text: string): unknown {
  if (text.at(-1) !== ']') return ABSTAIN;
  const inner = text.slice(1, -1).trim();
  if (inner === '') return [];
  const items: unknown[] = [];
  for (const part of inner.split(',')) {
    const item = part.trim();
    if (/^"[^"\\]*"$/.test(item) || /^'[^']*'$/.test(item)) {
      items.push(item.slice(1, -1));
    } else if (/^[A-Za-z][A-Za-z0-9_./ -]*$/.test(item)) items.push(WORDS.has(item) ? WORDS.get(item) : item);
    else return ABSTAIN;
  }
  return items;
}
