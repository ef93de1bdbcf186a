/** What the reference implementation of the format gets from Python, where JavaScript does it differently. */

/** Nested text of a frontmatter: see `source-view.ts`. */
export type SourceValue = string | readonly SourceValue[] | SourceFields;
export type SourceFields = ReadonlyMap<string, SourceValue>;

const BLANK = new Set(
  [...'\t\n\v\f\r \u1680\u2028\u2029\u202f\u205f\u3000'].concat(
    [0x1c, 0x1d, 0x1e, 0x1f, 0x85, 0xa0].map((code) => String.fromCharCode(code)),
    Array.from({ length: 11 }, (_, index) => String.fromCharCode(0x2000 + index)),
  ),
);

/** `str.strip()`: unlike `trim` it takes U+001C to U+001F and U+0085, and leaves U+FEFF. */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && BLANK.has(text[start] as string)) start++;
  while (end > start && BLANK.has(text[end - 1] as string)) end--;
  return text.slice(start, end);
}

/** `str(value)`: a text is itself, a list or a mapping what Python would print of it, such as `{'e': 'x'}`. */
export function pythonText(value: SourceValue): string {
  return typeof value === 'string' ? value : repr(value);
}

/** For `sort`: by code point, where JavaScript compares UTF-16 units. */
export function byCodePoint(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const at = left.findIndex((char, index) => char !== right[index]);
  if (at === -1) return left.length - right.length;
  return (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? -1);
}

// --- internal ---

function repr(value: SourceValue): string {
  if (typeof value === 'string') return reprText(value);
  if (value instanceof Map) {
    return `{${[...value].map(([key, inner]) => `${reprText(key)}: ${repr(inner)}`).join(', ')}}`;
  }
  return `[${[...(value as readonly SourceValue[])].map(repr).join(', ')}]`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function reprText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/[\\'"\p{C}\p{Z}]/gu, (char) => {
    if (char === quote) return `\\${char}`;
    if (char === ' ' || char === '"' || char === "'") return char;
    return ESCAPES[char] ?? escapeCode(char.codePointAt(0) ?? 0);
  });
  return quote + inner + quote;
}

function escapeCode(code: number): string {
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}
