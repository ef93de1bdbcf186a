/**
 * Words that are one edit away (a letter more, less, another one, or two that changed places).
 *
 * @param word - Lower case.
 */
export function oneEditAway(word: string, words: readonly string[]): readonly string[] {
  return words.filter((candidate) => isOneEdit(word, candidate));
}

// --- internal ---

function isOneEdit(a: string, b: string): boolean {
  const more = b.length - a.length;
  if (more < -1 || more > 1) return false;
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (more === 1) return a.slice(at) === b.slice(at + 1);
  if (more === -1) return a.slice(at + 1) === b.slice(at);
  if (at === shorter) return false;
  const swapped = a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
  return swapped || a.slice(at + 1) === b.slice(at + 1);
}
