import type { YAMLError } from 'yaml';
import { yamlPackage } from '../../../../kernel/host.ts';
import { codePointText } from '../../../../lib/text/index.ts';
import { MAX_FRONTMATTER, splitFrontmatter } from '../../core/skill/frontmatter.ts';
import { isTooDeep, MAX_DEPTH } from '../../core/skill/yaml-fields.ts';

/** Every scalar is text, as it was written. */
export type RawValue = string | readonly RawValue[] | RawFields;
export type RawFields = ReadonlyMap<string, RawValue>;

export interface RawFailure {
  /** `missing`: no opening fence at the start; `unclosed`: no closing one; `invalid`: no YAML. */
  readonly kind: 'missing' | 'unclosed' | 'invalid' | 'not-mapping';
  /** `invalid`: the reason and its line in the file. `not-mapping`: the Python name of its type. Else empty. */
  readonly detail: string;
  readonly line: number;
}

export interface RawFrontmatter {
  /** All keys, in order. Every scalar is text: `1.0`, `true` and `~` stay as they are. */
  readonly fields: RawFields;
  /** The lines between the fences, with line feeds only. */
  readonly yaml: string;
  /** 1-based line in the file of a top-level key; 1 without such a key. */
  readonly lineOf: (key: string) => number;
  /** 1-based line in the file of the first list or mapping in brackets. */
  readonly bracketLine: number | undefined;
}

/**
 * Reads the frontmatter as the reference implementation does. Values in `metadata` become text; a nested value becomes
 * JSON (Python there). Refuses anchors, aliases, tags, duplicate keys, tabs as indentation and control characters.
 * Reads lists and mappings in brackets, which the reference refuses but all clients accept. Never throws.
 */
export function readRawFrontmatter(text: string): RawFrontmatter | { readonly failure: RawFailure } {
  const { yaml, yamlLine, oddity } = splitFrontmatter(text);
  // Blank lines before the opening fence count as a missing fence, also when the closing fence is missing.
  if (yaml === undefined || yamlLine > 2) return fail('missing');
  if (oddity === 'unclosed') return fail('unclosed');
  return parse(yaml.replace(/\r\n?/g, '\n'), yamlLine);
}

/** Python's `str.strip()`: unlike `trim` it removes U+001C to U+001F and U+0085, and keeps U+FEFF. */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && BLANK.has(text[start] as string)) start++;
  while (end > start && BLANK.has(text[end - 1] as string)) end--;
  return text.slice(start, end);
}

// --- internal ---

function fail(kind: RawFailure['kind'], detail = '', line = 1): { readonly failure: RawFailure } {
  return { failure: { kind, detail, line } };
}

class Refusal extends Error {
  readonly offset: number;

  constructor(reason: string, offset: number) {
    super(reason);
    this.offset = offset;
  }
}

function parse(yaml: string, firstLine: number): RawFrontmatter | { readonly failure: RawFailure } {
  if (yaml.length > MAX_FRONTMATTER) {
    return fail('invalid', `it has ${yaml.length} characters, more than ${MAX_FRONTMATTER}; move text below it`);
  }
  const { LineCounter, isMap, isScalar, parseDocument } = yamlPackage();
  const lines = new LineCounter();
  const lineAt = (offset: number): number => firstLine + lines.linePos(offset).line - 1;
  try {
    if (isTooDeep(yaml)) return fail('invalid', `it nests deeper than ${MAX_DEPTH} levels`);
    // The check of the package for repeated keys takes quadratic time; `convert` checks them instead.
    const options = { lineCounter: lines, prettyErrors: false, logLevel: 'error', uniqueKeys: false } as const;
    const document = parseDocument(yaml, { ...options, schema: 'failsafe' });
    const control = CONTROL.exec(yaml);
    if (control) throw new Refusal(`control character ${codePointText(control[0])} is not allowed`, control.index);
    const [error] = document.errors;
    // A line of `...` has ended the frontmatter, and the fence after it belongs to the body.
    if (error?.code === 'MULTIPLE_DOCS') return fail('unclosed');
    if (error) throw new Refusal(WORDS[error.code]?.(yaml[error.pos[0]] ?? '') ?? error.message, error.pos[0]);
    const brackets: number[] = [];
    const value = convert(document.contents, brackets);
    if (!(value instanceof Map) || !isMap(document.contents)) {
      return fail('not-mapping', document.contents === null ? 'NoneType' : typeof value === 'string' ? 'str' : 'list');
    }
    const { items } = document.contents;
    const lineOf = (name: string): number => {
      const item = items.find(({ key }) => isScalar(key) && key.value === name);
      return item === undefined ? 1 : lineAt(offsetOf(item.key));
    };
    const bracketLine = brackets[0] === undefined ? undefined : lineAt(brackets[0]);
    return { fields: withMetadataText(value), yaml, lineOf, bracketLine };
  } catch (error) {
    if (!(error instanceof Refusal)) return fail('invalid', error instanceof Error ? error.message : String(error));
    const line = lineAt(error.offset);
    return fail('invalid', `${error.message} (line ${line})`, line);
  }
}

const CONTROL = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

const IN_QUOTES = "put the value in single quotes, and write each ' in it twice";

/** The most frequent reasons, in words that a web search finds. */
const WORDS: Partial<Record<YAMLError['code'], (char: string) => string>> = {
  BLOCK_AS_IMPLICIT_KEY: () => `mapping values are not allowed here; ${IN_QUOTES}`,
  BAD_SCALAR_START: (char) => `found character '${char}' that cannot start any token; ${IN_QUOTES}`,
};

function offsetOf(node: unknown): number {
  return (yamlPackage().isNode(node) ? node.range?.[0] : undefined) ?? 0;
}

/** @param brackets - Gets the offsets of lists and mappings in brackets. @throws Refusal. */
function convert(node: unknown, brackets: number[]): RawValue {
  const { isAlias, isCollection, isMap, isNode, isScalar, isSeq } = yamlPackage();
  if (!isNode(node)) return '';
  const offset = offsetOf(node);
  if (isAlias(node)) throw new Refusal('aliases are not allowed', offset);
  if (node.anchor !== undefined) throw new Refusal('anchors are not allowed', offset);
  if (node.tag !== undefined) throw new Refusal('tags are not allowed', offset);
  if (isScalar(node)) return typeof node.value === 'string' ? node.value : '';
  if (isCollection(node) && node.flow) brackets.push(offset);
  if (isSeq(node)) return node.items.map((item) => convert(item, brackets));
  if (!isMap(node)) return '';
  const fields = new Map<string, RawValue>();
  for (const { key, value } of node.items) {
    const name = convert(key, brackets);
    const at = isNode(key) ? offsetOf(key) : offset;
    if (typeof name !== 'string') throw new Refusal('a key must be text', at);
    if (fields.has(name)) throw new Refusal(`Duplicate key '${name}' found`, at);
    fields.set(name, convert(value, brackets));
  }
  return fields;
}

function withMetadataText(fields: RawFields): RawFields {
  const metadata = fields.get('metadata');
  if (!(metadata instanceof Map)) return fields;
  const plain = (_: string, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value);
  const textOf = (value: RawValue): string => (typeof value === 'string' ? value : JSON.stringify(value, plain));
  const texts = [...(metadata as RawFields)].map(([key, value]) => [key, textOf(value)] as const);
  return new Map(fields).set('metadata', new Map(texts));
}

const BLANK = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);
