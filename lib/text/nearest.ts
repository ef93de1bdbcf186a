import { distance } from 'fastest-levenshtein';

/** The most similar first; at least half of the letters are equal. */
export function nearestIds(ids: Iterable<string>, requested: string, count = 3): readonly string[] {
  const target = requested.slice(0, 64).toLowerCase();
  const near: { id: string; edits: number }[] = [];
  for (const id of ids) {
    const candidate = id.toLowerCase();
    const contains = target.length > 2 && (candidate.includes(target) || target.includes(candidate));
    const longest = Math.max(candidate.length, target.length);
    // The length alone excludes most ids.
    if (!contains && Math.abs(candidate.length - target.length) > longest / 2) continue;
    const edits = contains ? Math.abs(candidate.length - target.length) / 10 : distance(candidate, target);
    if (contains || edits <= longest / 2) near.push({ id, edits });
  }
  return near
    .sort((a, b) => a.edits - b.edits || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id);
}

/**
 * ` Did you mean "watch"?`, or empty. Names a known word of which `word` is a part (`mode`, `integration_mode`), else
 * one that differs in at most a third of the letters, or has them all in another order. `more` follows the known word.
 */
export function didYouMean(word: unknown, known: Iterable<string>, more: (known: string) => string = () => ''): string {
  if (typeof word !== 'string') return '';
  const wanted = word.slice(0, 64).toLowerCase();
  const all = [...known];
  const whole = all.filter((one) => one.toLowerCase().split('_').includes(wanted));
  const near = whole.length > 0 ? whole : all.filter((one) => isNearly(wanted, one.toLowerCase()));
  const [nearest] = near.sort((a, b) => distance(a, word) - distance(b, word));
  return nearest === undefined ? '' : ` Did you mean "${nearest}"${more(nearest)}?`;
}

// --- internal ---

function isNearly(word: string, known: string): boolean {
  const most = Math.max(1, Math.floor(Math.max(word.length, known.length) / 3));
  return distance(word, known) <= most || sorted(word) === sorted(known);
}

function sorted(word: string): string {
  return [...word].sort().join('');
}
