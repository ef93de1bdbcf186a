import { oneLine } from '../../../../lib/text/index.ts';
import type { Reached } from './inspect/rule.ts';

export const REACH_KINDS = ['reads', 'sends', 'runs', 'writes', 'persists', 'pays'] as const;

/** "sends now to api.example.com; runs now scripts/sync.sh"; empty when nothing is new. */
export function furtherReach(before: readonly Reached[], after: readonly Reached[]): string {
  const known = new Set(before.map(keyOf));
  const further = after.filter((one) => !known.has(keyOf(one)));
  return linesOf(further, ({ what }) => what, 5)
    .map((line) => line.replace(' ', ' now '))
    .join('; ');
}

/** One for each kind: "sends to api.example.com (scripts/sync.sh:3)". */
export function reachLines(reach: readonly Reached[]): readonly string[] {
  return linesOf(reach, ({ what, file, line }) => `${what} (${oneLine(file, 200)}:${line})`, 20);
}

// --- internal ---

const SAID: Partial<Record<Reached['kind'], string>> = { sends: 'sends to', writes: 'writes to', persists: 'stays in' };

function linesOf(reach: readonly Reached[], shown: (one: Reached) => string, most: number): readonly string[] {
  return REACH_KINDS.flatMap((kind) => {
    const all = reach.filter((one) => one.kind === kind).map(shown);
    const more = all.length > most ? `, and ${all.length - most} more` : '';
    return all.length === 0 ? [] : [`${SAID[kind] ?? kind} ${all.slice(0, most).join(', ')}${more}`];
  });
}

const keyOf = ({ kind, what }: Reached): string => `${kind} ${what}`;
