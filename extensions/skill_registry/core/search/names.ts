import { onceFor } from '../../../../lib/recent-map/index.ts';
import { foldLine } from '../../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';

/** Above every score by rank. */
const NAME_SCORES = { equal: 1, prefix: 0.95, trigger: 0.85 } as const;

/** Lower case, one blank between words: `Code Review` and `code-review` are equal. */
export function normalizedName(text: string): string {
  if (/^[a-z0-9]+(?:[-:/][a-z0-9]+)*$/.test(text)) return text.replace(/[-:/]/g, ' ');
  return foldLine(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}+#]+/gu, ' ')
    .trim();
}

/** The names of skills in one text: searching it is a hundred times faster than searching each name. */
export interface NameTable {
  /** Ids and names by `normalizedName`, with line ends around each. */
  readonly names: string;
  readonly nameStarts: Uint32Array;
  readonly qualified: string;
  readonly qualifiedStarts: Uint32Array;
  /** Positions by `normalizedName` of the trigger keyword. */
  readonly triggers: ReadonlyMap<string, readonly number[]>;
}

/** Made when it is asked for: after most changes nobody searches. */
export const namesOf: (skills: readonly Skill[]) => NameTable = onceFor(makeNameTable);

export function scoresByName(table: NameTable, query: string): ReadonlyMap<number, number> {
  const scores = new Map<number, number>();
  if (query === '') return scores;
  for (const position of table.triggers.get(query) ?? []) scores.set(position, NAME_SCORES.trigger);
  const { names, nameStarts, qualified, qualifiedStarts } = table;
  for (const at of offsetsOf(names, `\n${query}`)) {
    const position = lastUpTo(nameStarts, at);
    const isEqual = names[at + query.length + 1] === '\n' || scores.get(position) === NAME_SCORES.equal;
    scores.set(position, isEqual ? NAME_SCORES.equal : NAME_SCORES.prefix);
  }
  for (const at of offsetsOf(qualified, `\n${query}\n`)) scores.set(lastUpTo(qualifiedStarts, at), NAME_SCORES.equal);
  return scores;
}

export function skillsWithNamePart({ names, nameStarts }: NameTable, part: string): ReadonlySet<number> {
  return new Set([...(part === '' ? [] : offsetsOf(names, part))].map((at) => lastUpTo(nameStarts, at)));
}

/** Index of the last number that is not above `most`. @param numbers - Sorted. */
export function lastUpTo(numbers: Uint32Array, most: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] as number) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}

// --- internal ---

function makeNameTable(skills: readonly Skill[]): NameTable {
  const triggers = new Map<string, number[]>();
  const names: string[] = [];
  const qualified: string[] = [];
  for (const [position, { id, name, qualifiedId, triggerKeywords }] of skills.entries()) {
    for (const keyword of triggerKeywords.map(normalizedName)) {
      const positions = triggers.get(keyword);
      if (positions) positions.push(position);
      else triggers.set(keyword, [position]);
    }
    names.push(`\n${normalizedName(id)}\n${normalizedName(name)}\n`);
    qualified.push(`\n${normalizedName(qualifiedId)}\n`);
  }
  return {
    names: names.join(''),
    nameStarts: startsOf(names),
    qualified: qualified.join(''),
    qualifiedStarts: startsOf(qualified),
    triggers,
  };
}

function startsOf(texts: readonly string[]): Uint32Array {
  const starts = new Uint32Array(texts.length);
  let at = 0;
  for (const [position, text] of texts.entries()) {
    starts[position] = at;
    at += text.length;
  }
  return starts;
}

function* offsetsOf(text: string, part: string): Generator<number> {
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) yield at;
}
