import { distance } from 'fastest-levenshtein';
import { foldLine } from '../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';

/** What a query is when it is a skill's name: no ranking puts another skill before it. */
export const NAME_SCORES = { equal: 1, prefix: 0.95, trigger: 0.85 } as const;

/** Lower case, one blank between words, so that `Code Review` and `code-review` are one name. */
export function asName(text: string): string {
  // Most ids are like this, and there are thousands.
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text)) return text.replaceAll('-', ' ');
  return foldLine(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}+#]+/gu, ' ')
    .trim();
}

/** The names of all skills of a pool in one text each: looking through it is a hundred times faster than through each. */
export interface NameTable {
  /** Line ends around each id and name, by `asName`. */
  readonly names: string;
  readonly nameStarts: Uint32Array;
  /** The same of qualified ids. */
  readonly qualified: string;
  readonly qualifiedStarts: Uint32Array;
  /** By trigger keyword, by `asName`. */
  readonly triggers: ReadonlyMap<string, readonly number[]>;
}

export function makeNameTable(skills: readonly Skill[]): NameTable {
  const triggers = new Map<string, number[]>();
  for (const [position, { triggerKeywords }] of skills.entries()) {
    for (const keyword of triggerKeywords)
      triggers.set(asName(keyword), [...(triggers.get(asName(keyword)) ?? []), position]);
  }
  const [names, nameStarts] = joined(skills.map(({ id, name }) => `\n${asName(id)}\n${asName(name)}\n`));
  const [qualified, qualifiedStarts] = joined(skills.map(({ qualifiedId }) => `\n${asName(qualifiedId)}\n`));
  return { names, nameStarts, qualified, qualifiedStarts, triggers };
}

/** Scores of the skills whose name the query is, or begins, by position. @param wanted - The query, by `asName`. */
export function namedBy(table: NameTable, wanted: string): ReadonlyMap<number, number> {
  const scores = new Map<number, number>();
  if (wanted === '') return scores;
  for (const position of table.triggers.get(wanted) ?? []) scores.set(position, NAME_SCORES.trigger);
  const { names, nameStarts, qualified, qualifiedStarts } = table;
  for (const position of having(names, nameStarts, `\n${wanted}`)) scores.set(position, NAME_SCORES.prefix);
  for (const position of having(names, nameStarts, `\n${wanted}\n`)) scores.set(position, NAME_SCORES.equal);
  for (const position of having(qualified, qualifiedStarts, `\n${wanted}\n`)) scores.set(position, NAME_SCORES.equal);
  return scores;
}

/** Positions of the skills in whose id or name the text stands. @param part - By `asName`. */
export function namesWith({ names, nameStarts }: NameTable, part: string): ReadonlySet<number> {
  return part === '' ? new Set() : having(names, nameStarts, part);
}

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

// --- internal ---

function joined(texts: readonly string[]): readonly [string, Uint32Array] {
  const starts = new Uint32Array(texts.length);
  let at = 0;
  for (const [position, text] of texts.entries()) {
    starts[position] = at;
    at += text.length;
  }
  return [texts.join(''), starts];
}

function having(text: string, starts: Uint32Array, part: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found.add(ownerOf(starts, at));
  return found;
}

/** The last position that starts at or before `at`. */
function ownerOf(starts: Uint32Array, at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] as number) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
