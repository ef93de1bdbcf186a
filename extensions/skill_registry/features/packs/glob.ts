/** Limits the cost of hostile patterns: longer ones, or braces with more alternatives, match nothing. */
const MAX_LENGTH = 1024;
const MAX_ALTERNATIVES = 64;

export function isGlob(pattern: string): boolean {
  return /[*?[{]/.test(pattern);
}

/** Knows `**`, `[!a]`, `{a,b}`. Takes at most pattern times path length steps; a RegExp can take exponential time. */
export function matchesGlob(pattern: string, path: string): boolean {
  if (pattern.length > MAX_LENGTH) return false;
  const segments = path.split('/').map((segment) => [...segment]);
  return alternativesOf(pattern).some((one) => matchesSegments(one.split('/'), segments));
}

// --- internal ---

function alternativesOf(pattern: string): readonly string[] {
  let all = [pattern];
  for (;;) {
    const next = all.flatMap((one) => {
      const [whole, inner] = /\{([^{}]*)\}/.exec(one) ?? [];
      return whole === undefined ? [one] : (inner ?? '').split(',').map((choice) => one.replace(whole, () => choice));
    });
    if (next.length > MAX_ALTERNATIVES) return [];
    if (next.length === all.length && next.every((one, index) => one === all[index])) return all;
    all = next;
  }
}

function matchesSegments(patterns: readonly string[], segments: readonly (readonly string[])[]): boolean {
  // reached[n]: the patterns up to here match the first n segments.
  let reached = [true, ...segments.map(() => false)];
  for (const pattern of patterns) {
    const from = reached;
    const first = from.indexOf(true);
    if (first < 0) return false;
    const tokens = tokensOf(pattern);
    reached =
      pattern === '**'
        ? from.map((_, index) => index >= first)
        : [false, ...segments.map((segment, index) => from[index] === true && matchesOne(tokens, segment))];
  }
  return reached.at(-1) === true;
}

type Token = '*' | ((char: string) => boolean);

function tokensOf(pattern: string): readonly Token[] {
  const parts = pattern.match(/\*+|\[[!^]?\]?[^\]]*\]|[\s\S]/gu) ?? [];
  return parts.map((part): Token => {
    if (part.startsWith('*')) return '*';
    if (part === '?') return () => true;
    if (part.length > 2 && part.startsWith('[')) return classOf(part.slice(1, -1));
    return (char) => char === part;
  });
}

function classOf(inner: string): (char: string) => boolean {
  const not = /^[!^]/.test(inner);
  const ranges = (not ? inner.slice(1) : inner).match(/[\s\S]-[\s\S]|[\s\S]/gu) ?? [];
  return (char) =>
    ranges.some((range) => {
      const [from = '', dash, to] = [...range];
      return dash === undefined ? char === from : char >= from && char <= (to ?? from);
    }) !== not;
}

/** Returns only to the last star, because it can match everything that an earlier star can. */
function matchesOne(tokens: readonly Token[], chars: readonly string[]): boolean {
  let [token, char] = [0, 0];
  let [star, resume] = [-1, 0];
  while (char < chars.length) {
    const expected = tokens[token];
    if (expected === '*') {
      star = token++;
      resume = char;
    } else if (expected?.(chars[char] as string)) {
      token++;
      char++;
    } else if (star < 0) return false;
    else {
      token = star + 1;
      char = ++resume;
    }
  }
  return tokens.slice(token).every((rest) => rest === '*');
}
