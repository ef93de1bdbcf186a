import { distance } from 'fastest-levenshtein';

/** Up to `count` ids that look like `wanted`, nearest first; none that share less than half of their letters. */
export function nearestIds(ids: Iterable<string>, wanted: string, count = 3): readonly string[] {
  const target = wanted.slice(0, 64).toLowerCase();
  const near: { id: string; far: number }[] = [];
  for (const id of ids) {
    const candidate = id.toLowerCase();
    const contains = target.length > 2 && (candidate.includes(target) || target.includes(candidate));
    const longest = Math.max(candidate.length, target.length);
    // Most are told by their length.
    if (!contains && Math.abs(candidate.length - target.length) > longest / 2) continue;
    const far = contains ? Math.abs(candidate.length - target.length) / 10 : distance(candidate, target);
    if (contains || far <= longest / 2) near.push({ id, far });
  }
  return near
    .sort((a, b) => a.far - b.far || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id);
}
