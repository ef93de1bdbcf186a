/**
 * All matches of a global pattern that matches nothing empty. `matchAll` copies the pattern at every call, which is most of
 * the time where the texts are single lines and the pattern knows classes of Unicode.
 */
export function matchesOf(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) matches.push(match);
  return matches;
}
