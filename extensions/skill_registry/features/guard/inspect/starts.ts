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

  function alternatives(): readonly Start[] {
    const starts = [...sequence()];
    while (take(/\|/y) !== '') starts.push(...sequence());
    return starts;
  }

  function sequence(): readonly Start[] {
    let starts: readonly Start[] = [EMPTY];
    let atWord = false;
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
        const part = partHere().map((start) => (atWord && /^\w/.test(start.text) ? { ...start, atWord } : start));
        const isOptional = /^(?:[*?]|\{0)/.test(take(QUANTIFIER));
        if (!starts.includes(EMPTY)) continue;
        starts = [...starts.filter((start) => start !== EMPTY), ...part, ...(isOptional ? [EMPTY] : [])];
      }
    }
    return starts;
  }

  function partHere(): readonly Start[] {
    if (take(/\((?:\?:|\?<\w+>)?/y) !== '') {
      const part = alternatives();
      take(/\)/y);
      return part;
    }
    const written = take(CHARACTERS);
    if (written !== '') return [{ text: unescaped(written), atWord: false }];
    const inner = take(CLASS).slice(1, -1);
    if (inner === '') take(/\\?[\s\S]/y);
    const isPlain = !inner.startsWith('^') && !/\\[a-z0-9]|.-./i.test(inner);
    const characters = isPlain ? [...unescaped(inner)] : [];
    if (characters.length === 0 || characters.length > MAX_IN_CLASS) return [ANY];
    return characters.map((text) => ({ text, atWord: false }));
  }

  const starts = alternatives();
  return starts.includes(EMPTY) || starts.includes(ANY) ? undefined : starts;
}

// --- internal ---

/** The part may be empty, or it may begin with anything. */
const EMPTY: Start = { text: '', atWord: false };
const ANY: Start = { text: '', atWord: false };
const MAX_IN_CLASS = 12;

const LOOKS = /\(\?<?[=!]/y;
/** Characters without special meaning. A quantifier belongs to the last one alone. */
const CHARACTERS = /(?:[^()[\]|^$.*+?{\\]|\\[^a-zA-Z0-9])+(?![*+?{])|[^()[\]|^$.*+?{\\]|\\[^a-zA-Z0-9]/y;
const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
