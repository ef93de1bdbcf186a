/** A text with which a match of an expression can begin. */
export interface MatchPrefix {
  readonly text: string;
  /** Whether no letter, digit or `_` stands before it. */
  readonly atWord: boolean;
  /** Whether no letter, digit or `_` comes after it. */
  readonly endsWord: boolean;
}

/**
 * What each match of an expression begins with; undefined where that cannot be told, as for a class of many characters. So an
 * expression need only be tried where one of these stands, which takes a tenth of the time of trying it everywhere.
 */
export function matchPrefixesOf(source: string): readonly MatchPrefix[] | undefined {
  const { prefixes, mayBeEmpty, end } = alternatives(source, 0);
  return prefixes === undefined || mayBeEmpty || end < source.length ? undefined : prefixes;
}

// --- internal ---

interface Part {
  /** Undefined: anything. */
  readonly prefixes: readonly PartPrefix[] | undefined;
  readonly mayBeEmpty: boolean;
  /** Offset behind the part. */
  readonly end: number;
}

/** @property isWhole - Whether the text is all that the part matches. */
interface PartPrefix extends MatchPrefix {
  readonly isWhole: boolean;
}

const UNKNOWN = { prefixes: undefined, mayBeEmpty: true } as const;
const MAX_IN_CLASS = 12;

function alternatives(source: string, from: number): Part {
  const parts = [sequence(source, from)];
  let end = parts[0]?.end ?? from;
  while (source[end] === '|') {
    const next = sequence(source, end + 1);
    parts.push(next);
    end = next.end;
  }
  const isKnown = parts.every(({ prefixes }) => prefixes !== undefined);
  return {
    prefixes: isKnown ? parts.flatMap(({ prefixes }) => prefixes ?? []) : undefined,
    mayBeEmpty: parts.some(({ mayBeEmpty }) => mayBeEmpty),
    end,
  };
}

/** Until a `|` or `)` that is not its own. */
function sequence(source: string, from: number): Part {
  const found: PartPrefix[] = [];
  let [at, isKnown, atWord] = [from, true, false];
  while (at < source.length && source[at] !== '|' && source[at] !== ')') {
    const assertion = assertionAt(source, at);
    if (assertion) {
      atWord ||= assertion.isWordBegin;
      at = assertion.end;
      continue;
    }
    const part = partAt(source, at);
    const { min, end } = quantifierAt(source, part.end);
    isKnown &&= part.prefixes !== undefined;
    const isAlone = found.length === 0 && end === part.end && endsAt(source, end);
    const endsWord = end === part.end && source.startsWith('\\b', end);
    for (const prefix of part.prefixes ?? [])
      found.push({
        text: prefix.text,
        atWord: prefix.atWord || (atWord && WORD.test(prefix.text)),
        endsWord: prefix.endsWord || (endsWord && prefix.isWhole && ENDS_WITH_WORD.test(prefix.text)),
        isWhole: isAlone && prefix.isWhole,
      });
    if (min > 0 && !part.mayBeEmpty)
      return { prefixes: isKnown ? found : undefined, mayBeEmpty: false, end: endOf(source, end, '|)') };
    at = end;
  }
  return { prefixes: isKnown ? found : undefined, mayBeEmpty: true, end: at };
}

/** The offset of the next of `stops` that stands in no group and no class; the end of the source where there is none. */
function endOf(source: string, from: number, stops: string): number {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    at += readAt(PLAIN, source, at)?.[0].length ?? 0;
    const char = source.charAt(at);
    if (depth === 0 && stops.includes(char)) return at;
    if (char === '[') at += (readAt(CLASS, source, at)?.[0].length ?? 1) - 1;
    else if (char === '(') depth++;
    else if (char === ')') depth--;
  }
  return source.length;
}

const WORD = /^\w/;
const ENDS_WITH_WORD = /\w$/;

/** Characters that have no special meaning. */
const CHARACTERS = /(?:[^()[\]|^$.*+?{\\]|\\[^a-zA-Z0-9])+/y;
const PLAIN = /(?:[^()[|\\]|\\.)+/sy;
const LOOKS = /\(\?<?[=!]/y;
const GROUP = /\((?:\?:|\?<\w+>)?/y;
const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:,\d*)?\})\??/y;

function readAt(sticky: RegExp, source: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(source);
}

function endsAt(source: string, at: number): boolean {
  return at >= source.length || source[at] === '|' || source[at] === ')';
}

/** Parts that match no characters. */
function assertionAt(source: string, at: number): { readonly isWordBegin: boolean; readonly end: number } | undefined {
  if (source.startsWith('\\b', at)) return { isWordBegin: true, end: at + 2 };
  if (source.startsWith('\\B', at)) return { isWordBegin: false, end: at + 2 };
  if (source[at] === '^' || source[at] === '$') return { isWordBegin: false, end: at + 1 };
  const opening = source[at] === '(' ? readAt(LOOKS, source, at)?.[0] : undefined;
  if (opening === undefined) return undefined;
  const end = endOf(source, at + opening.length, ')');
  // A negative one with letters in its class: no letter stands before.
  const isWordBegin = opening === '(?<!' && /^\[[^\]^]*\\w[^\]]*\]$/.test(source.slice(at + opening.length, end));
  return { isWordBegin, end: end + 1 };
}

/** Characters as they are written, a class, or a group. */
function partAt(source: string, at: number): Part {
  if (source[at] === '(') {
    const [opening = '('] = readAt(GROUP, source, at) ?? [];
    const inner = alternatives(source, at + opening.length);
    return { ...inner, end: inner.end + 1 };
  }
  if (source[at] === '[') return classAt(source, at);
  const [written = ''] = readAt(CHARACTERS, source, at) ?? [];
  if (written === '') return { ...UNKNOWN, end: source[at] === '\\' ? at + 2 : at + 1 };
  // A quantifier is of the last character alone.
  const last = /\\?.$/s.exec(written)?.index ?? 0;
  const isQuantified = last > 0 && quantifierAt(source, at + written.length).end > at + written.length;
  const kept = isQuantified ? written.slice(0, last) : written;
  const text = kept.replace(/\\(.)/gs, '$1');
  return {
    prefixes: [{ text, atWord: false, endsWord: false, isWhole: true }],
    mayBeEmpty: false,
    end: at + kept.length,
  };
}

function classAt(source: string, at: number): Part {
  const end = at + (readAt(CLASS, source, at)?.[0].length ?? 1);
  const inner = source.slice(at + 1, end - 1);
  const isPlain = !inner.startsWith('^') && !/\\[a-z0-9]|.-./i.test(inner);
  const chars = isPlain ? [...inner.replace(/\\(.)/g, '$1')] : [];
  if (chars.length === 0 || chars.length > MAX_IN_CLASS) return { prefixes: undefined, mayBeEmpty: false, end };
  return {
    prefixes: chars.map((text) => ({ text, atWord: false, endsWord: false, isWhole: true })),
    mayBeEmpty: false,
    end,
  };
}

function quantifierAt(source: string, at: number): { readonly min: number; readonly end: number } {
  const isOne = at < source.length && '*+?{'.includes(source.charAt(at));
  const [all, sign, least] = (isOne && readAt(QUANTIFIER, source, at)) || [];
  if (all === undefined) return { min: 1, end: at };
  return { min: sign === undefined ? Number(least) : sign === '+' ? 1 : 0, end: at + all.length };
}
