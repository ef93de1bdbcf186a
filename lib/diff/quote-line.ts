const SHOWN = 80;
const BEFORE_DIFFERENCE = 40;

/** A line in quotes, at most 80 characters of it; whatever is invisible, the blank excepted, as an escape. */
export function quoteLine(text: string): string {
  return quotePart(text, 0);
}

/** Two lines in quotes, cut so that the first difference shows. */
export function quoteDifferent(one: string, other: string): readonly [string, string] {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const longest = Math.max(one.length, other.length);
  const from = longest <= SHOWN ? 0 : Math.max(0, same - BEFORE_DIFFERENCE);
  return [quotePart(one, from), quotePart(other, from)];
}

// --- internal ---

function quotePart(text: string, from: number): string {
  const part = text.slice(from, from + SHOWN);
  const escaped = JSON.stringify(part).replace(/[\p{C}\p{Z}]/gu, (char) =>
    char === ' ' ? char : `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
  return `${from > 0 ? '…' : ''}${escaped}${from + SHOWN < text.length ? '…' : ''}`;
}
