/** All white space is one character here, written as a blank. */
export interface Start {
  readonly text: string;
  /** Whether no letter, digit or `_` is before it. */
  readonly atWord: boolean;
}

/** Each match begins with one of these. Undefined: unknown, as for a class of many characters. */
export function startsOf(source: string): readonly Start[] | undefined {
  let at = 0;
  const take = (sticky: RegExp): string => {
    sticky.lastIndex = at;
    const [found = ''] = sticky.exec(source) ?? [];
    at += found.length;
    return found;
  };

  function alternatives(): readonly Prefix[] {
    const starts = [...sequence()];
    while (take(/\|/y) !== '') starts.push(...sequence());
    return starts;
  }

  function sequence(): readonly Prefix[] {
    let starts: readonly Prefix[] = [EMPTY];
    let atWord = false;
    while (at < source.length && !'|)'.includes(source.charAt(at))) {
      if (!starts.some(({ isOpen }) => isOpen)) {
        skipTo('|)');
        break;
      }
      const look = take(LOOKS);
      const from = at;
      if (look !== '') {
        skipTo(')');
        // A negative lookbehind for letters: no letter is before it.
        atWord ||= look === '(?<!' && /^\[[^\]^]*\\w[^\]]*\]$/.test(source.slice(from, at));
        take(/\)/y);
      } else if (take(/\\[bB]|[\^$]/y) !== '') atWord ||= source.startsWith('\\b', from);
      else {
        const part = partHere();
        const isAtWord = atWord && starts.includes(EMPTY);
        const ofWord = isAtWord ? part.map((one) => (/^\w/.test(one.text) ? { ...one, atWord } : one)) : part;
        starts = followedBy(starts, ofWord, take(QUANTIFIER));
      }
    }
    return starts;
  }

  function skipTo(ends: string): void {
    for (let depth = 0; at < source.length; at++) {
      take(NO_GROUP);
      const next = source.charAt(at);
      if (depth === 0 && ends.includes(next)) return;
      depth += next === '(' ? 1 : next === ')' ? -1 : 0;
    }
  }

  function partHere(): readonly Prefix[] {
    if (take(/\((?:\?:|\?<\w+>)?/y) !== '') {
      const part = alternatives();
      take(/\)/y);
      return part;
    }
    const written = take(CHARACTERS);
    if (written !== '') return [prefix(unescaped(written))];
    const inner = take(CLASS).slice(1, -1) || take(/\\?[\s\S]/y);
    const plain = inner.replace(/\\[sn]/g, ' ').replace(/\\d/g, '0123456789');
    const isPlain = !/^[\^.]|\\[a-z0-9]|.-./i.test(plain);
    return isPlain && plain.length <= MAX_IN_CLASS ? [...new Set(unescaped(plain))].map(prefix) : [ANY];
  }

  const starts = alternatives();
  return starts.some(({ text }) => text.trim() === '') ? undefined : starts;
}

// --- internal ---

interface Prefix extends Start {
  /** Whether what follows in the expression follows it. */
  readonly isOpen: boolean;
}

/** The part may be empty, or it may begin with anything. */
const EMPTY: Prefix = { text: '', atWord: false, isOpen: true };
const ANY: Prefix = { text: '', atWord: false, isOpen: false };
const MAX_IN_CLASS = 12;
/** Of one sequence, and of their characters. */
const MOST = 20;
const LONGEST = 6;

const LOOKS = /\(\?<?[=!]/y;
/** Characters without special meaning. A quantifier belongs to the last one alone. */
const CHARACTERS = /(?:[^()[\]|^$.*+?{\\]|\\[^a-zA-Z0-9])+(?![*+?{])|[^()[\]|^$.*+?{\\]|\\[^a-zA-Z0-9]/y;
const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const NO_GROUP = /(?:[^()|[\\]|\\.|\[(?:\\.|[^\]\\])*\])*/y;
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;

function followedBy(starts: readonly Prefix[], part: readonly Prefix[], quantifier: string): readonly Prefix[] {
  const once = quantifier === '' || quantifier.startsWith('?') ? part : part.map(closed);
  const next = /^(?:[*?]|\{0)/.test(quantifier) ? [EMPTY, ...once] : once;
  if (starts.length === 1 && starts[0] === EMPTY) return next;
  const mostOpen = starts.length * next.length > MOST ? 0 : LONGEST;
  return starts.flatMap((start) => {
    if (start === EMPTY) return next;
    if (!start.isOpen || start.text.length >= mostOpen) return closed(start);
    return next.map(({ text, isOpen }) => ({ text: start.text + text, atWord: start.atWord, isOpen }));
  });
}

function closed({ text, atWord }: Prefix): Prefix {
  return { text, atWord, isOpen: false };
}

function prefix(text: string): Prefix {
  return { text, atWord: false, isOpen: true };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
