import { endOf, joinLines, lineEdits, splitLines, usualEnd, withoutLineEnd } from './lines.ts';

export type MergeOutcome =
  | { readonly clean: true; readonly text: string }
  | {
      readonly clean: false;
      /**
       * Regions that both sides changed differently, between `<<<<<<< current`, `||||||| base`, `=======` and
       * `>>>>>>> proposed`, with 3 lines of context, each below its line number in the current text.
       */
      readonly conflict: string;
      /** The whole text with these regions in it. */
      readonly text: string;
    };

/**
 * Three-way merge by line. Equal changes of both sides are clean. Other changes of both sides without an unchanged line
 * between them are a conflict.
 *
 * Line ends and the byte order mark are merged separately: the proposal's when only the proposal changed them, else
 * those of `current`. Lines that the proposal adds with the usual line end of `base` get the usual one of `current`.
 */
export function mergeTexts(base: string, current: string, proposed: string): MergeOutcome {
  const [o, a, b] = [splitLines(base), splitLines(current), splitLines(proposed)];
  const usual = usualEnd(a.lines) ?? '\n';
  const usualInBase = usualEnd(o.lines) ?? '\n';
  const texts = o.lines.map(withoutLineEnd);
  const edits = [
    ...lineEdits(texts, a.lines.map(withoutLineEnd)).map((edit) => ({ ...edit, side: 'a' as const })),
    ...lineEdits(texts, b.lines.map(withoutLineEnd)).map((edit) => ({ ...edit, side: 'b' as const })),
  ].sort((a, b) => a.oldStart - b.oldStart);
  const pieces: Piece[] = [];
  // End of the merged part in the base, and the offset of each side from there, in lines.
  let to = 0;
  let shift = { a: 0, b: 0 };
  for (let next = 0; next <= edits.length; ) {
    const from = edits[next]?.oldStart ?? o.lines.length;
    const [kept, own] = [o.lines.slice(to, from), a.lines.slice(to + shift.a, from + shift.a)];
    const other = b.lines.slice(to + shift.b, from + shift.b);
    const isEndOurs = (at: number): boolean => endOf(own[at] as string) !== endOf(kept[at] as string);
    pieces.push({ lines: kept.map((_, at) => (isEndOurs(at) ? own : other)[at] as string) });
    if (next === edits.length) break;
    const before = shift;
    const sides = new Set<'a' | 'b'>();
    to = from;
    for (let edit = edits[next]; edit && edit.oldStart <= to; edit = edits[++next]) {
      to = Math.max(to, edit.oldEnd);
      shift = { ...shift, [edit.side]: edit.newEnd - edit.oldEnd };
      sides.add(edit.side);
    }
    const ours = a.lines.slice(from + before.a, to + shift.a);
    const theirs = b.lines.slice(from + before.b, to + shift.b);
    const isEqual =
      ours.length === theirs.length &&
      ours.every((line, at) => withoutLineEnd(line) === withoutLineEnd(theirs[at] as string));
    if (!sides.has('b') || isEqual) pieces.push({ lines: ours });
    else if (sides.has('a')) pieces.push({ at: from + before.a, ours, base: o.lines.slice(from, to), theirs });
    else
      pieces.push({ lines: theirs.map((line) => (endOf(line) === usualInBase ? withoutLineEnd(line) + usual : line)) });
  }
  const lines = pieces.flatMap((piece) =>
    'lines' in piece ? piece.lines : markedLines(piece).map((line) => withoutLineEnd(line) + usual),
  );
  const closed = lines.map((line, at) => (at < lines.length - 1 && endOf(line) === '' ? line + usual : line));
  const text = joinLines(a.bom === o.bom ? b.bom : a.bom, closed);
  const isClean = pieces.every((piece) => 'lines' in piece);
  return isClean ? { clean: true, text } : { clean: false, conflict: showConflicts(pieces), text };
}

// --- internal ---

const CONTEXT = 3;

/** `at`: 0-based line of the current text. */
interface Conflict {
  readonly at: number;
  readonly ours: readonly string[];
  readonly base: readonly string[];
  readonly theirs: readonly string[];
}

type Piece = { readonly lines: readonly string[] } | Conflict;

function showConflicts(pieces: readonly Piece[]): string {
  const rows: (readonly string[])[] = [];
  let context: string[] = [];
  for (const piece of pieces) {
    if ('lines' in piece) {
      context = context.concat(piece.lines.map(withoutLineEnd));
      continue;
    }
    const { at } = piece;
    const isFirst = rows.length === 0;
    if (!isFirst && context.length <= 2 * CONTEXT) rows.push(context);
    else rows.push(isFirst ? [] : context.slice(0, CONTEXT), [`@@ line ${at + 1} @@`], context.slice(-CONTEXT));
    rows.push(markedLines(piece).map(withoutLineEnd));
    context = [];
  }
  rows.push(context.slice(0, CONTEXT));
  return `${rows.flat().join('\n')}\n`;
}

function markedLines({ ours, base, theirs }: Conflict): readonly string[] {
  return ['<<<<<<< current', ...ours, '||||||| base', ...base, '=======', ...theirs, '>>>>>>> proposed'];
}
