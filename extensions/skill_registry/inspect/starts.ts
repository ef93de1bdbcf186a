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

  function alternatives(): Part {
    const parts = [sequence()];
    while (take(/\|/y) !== '') parts.push(sequence());
    return {
      starts: parts.some(({ starts }) => !starts) ? undefined : parts.flatMap(({ starts }) => starts ?? []),
      mayBeEmpty: parts.some(({ mayBeEmpty }) => mayBeEmpty),
    };
  }

  function sequence(): Part {
    const starts: Start[] = [];
    let [isKnown, mayBeEmpty, atWord] = [true, true, false];
    while (at < source.length && !'|)'.includes(source.charAt(at))) {
      const look = take(LOOKS);
      const from = at;
      if (look !== '') {
        alternatives();
        // A negative lookbehind for letters: no letter is before it.
        atWord ||= look === '(?<!' && /^\[[^\]^]*\\w[^\]]*\]$/.test(source.slice(from, at));
        take(/\)/y);
      } else if (take(/\\[bB]|[\^$]/y) !== '') atWord ||= source.startsWith('\\b', from);
      else {
        const part = partHere();
        const isOptional = /^(?:[*?]|\{0)/.test(take(QUANTIFIER));
        if (mayBeEmpty) {
          isKnown &&= part.starts !== undefined;
          for (const start of part.starts ?? [])
            starts.push({ text: start.text, atWord: start.atWord || (atWord && /^\w/.test(start.text)) });
        }
        mayBeEmpty &&= isOptional || part.mayBeEmpty;
      }
    }
    return { starts: isKnown ? starts : undefined, mayBeEmpty };
  }

  function partHere(): Part {
    if (take(/\((?:\?:|\?<\w+>)?/y) !== '') {
      const part = alternatives();
      take(/\)/y);
      return part;
    }
    const written = take(CHARACTERS);
    if (written !== '') return startingWith([unescaped(written)]);
    const inner = take(CLASS).slice(1, -1);
    if (inner === '') take(/\\?[\s\S]/y);
    const isPlain = !inner.startsWith('^') && !/\\[a-z0-9]|.-./i.test(inner);
    return startingWith(isPlain ? [...unescaped(inner)] : []);
  }

  const { starts, mayBeEmpty } = alternatives();
  return mayBeEmpty ? undefined : starts;
}

// --- internal ---

interface Part {
  /** Undefined: anything. */
  readonly starts: readonly Start[] | undefined;
  readonly mayBeEmpty: boolean;
}

const MAX_IN_CLASS = 12;

const LOOKS = /\(\?<?[=!]/y;
/** Characters without special meaning. A quantifier belongs to the last one alone. */
const CHARACTERS = /(?:[^()[\]|^$.*+?{\\]|\\[^a-zA-Z0-9])+(?![*+?{])|[^()[\]|^$.*+?{\\]|\\[^a-zA-Z0-9]/y;
const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;

function startingWith(texts: readonly string[]): Part {
  const isKnown = texts.length > 0 && texts.length <= MAX_IN_CLASS;
  return { starts: isKnown ? texts.map((text) => ({ text, atWord: false })) : undefined, mayBeEmpty: false };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
