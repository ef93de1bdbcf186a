import { diff3MergeRegions } from 'node-diff3';
import { endOf, joinLines, type LinedText, type LineEdit, lineEdits, splitLines, textOf, usualEnd } from './lines.ts';

/** What came of a merge. */
export type MergeOutcome =
  | { readonly clean: true; readonly text: string }
  | {
      readonly clean: false;
      /**
       * The regions both sides changed in different ways, each between `<<<<<<< current`, `||||||| base`, `=======` and
       * `>>>>>>> proposed`, with 3 lines of context and, above it, the line of the current text where it begins.
       */
      readonly conflict: string;
      /** The whole text, with such regions in it. */
      readonly text: string;
    };

/**
 * Three-way merge by line. What only one side changed is taken from it; what both changed alike is clean. Changes next to each
 * other, without an unchanged line between, are a conflict.
 *
 * Line ends and the byte order mark are merged each for itself: where only the proposal changed one, its own is taken, otherwise
 * that of `current`. Lines the proposal adds with the usual end of `base` get the usual end of `current`.
 */
export function mergeTexts(base: string, current: string, proposed: string): MergeOutcome {
  const [o, a, b] = [base, current, proposed].map(splitLines) as [LinedText, LinedText, LinedText];
  const sides = cutAlike(o.lines.map(textOf), a.lines.map(textOf), b.lines.map(textOf));
  const usual = usualEnd(a.lines) ?? '\n';
  const usualInBase = usualEnd(o.lines) ?? '\n';
  const added = (line: string): string => (endOf(line) === usualInBase ? textOf(line) + usual : line);
  const pieces = mergeRegions(sides).map((region): Piece => {
    if (!region.stable) {
      const [ours, theirs] = [linesOf(a, sides.a, region.a), linesOf(b, sides.b, region.b)];
      if (isSameText(ours, theirs)) return { lines: ours };
      const at = (sides.a[region.a.start] ?? { from: a.lines.length }).from;
      return { conflict: { at, ours, base: linesOf(o, sides.o, region.o), theirs } };
    }
    if (region.buffer === 'a') return { lines: linesOf(a, sides.a, region) };
    if (region.buffer === 'b') return { lines: linesOf(b, sides.b, region).map(added) };
    return { lines: unchanged(o, a, b, sides, region) };
  });
  const lines = pieces.flatMap((piece) =>
    'lines' in piece ? piece.lines : markedLines(piece.conflict).map((line) => textOf(line) + usual),
  );
  const closed = lines.map((line, at) => (at < lines.length - 1 && endOf(line) === '' ? line + usual : line));
  const text = joinLines(a.bom === o.bom ? b.bom : a.bom, closed);
  const isClean = pieces.every((piece) => 'lines' in piece);
  return isClean ? { clean: true, text } : { clean: false, conflict: showConflicts(pieces), text };
}

// --- internal ---

const CONTEXT = 3;

/** Lines that stay or go together: a number for those of the base, a name for those of one side alone. */
interface Block {
  readonly id: number | string;
  readonly from: number;
  readonly to: number;
}

interface Sides {
  readonly o: readonly Block[];
  readonly a: readonly Block[];
  readonly b: readonly Block[];
}

/** Some of the blocks of a text. */
interface Span {
  readonly start: number;
  readonly length: number;
}

type Region =
  | ({ readonly stable: true; readonly buffer: 'o' | 'a' | 'b' } & Span)
  | { readonly stable: false; readonly o: Span; readonly a: Span; readonly b: Span };

interface Conflict {
  readonly at: number;
  readonly ours: readonly string[];
  readonly base: readonly string[];
  readonly theirs: readonly string[];
}

type Piece = { readonly lines: readonly string[] } | { readonly conflict: Conflict };

/**
 * The three texts in blocks, cut wherever one side begins or ends to differ. node-diff3 takes quadratic time where lines repeat;
 * with blocks instead of lines none does, and there are as many as edits.
 */
function cutAlike(o: readonly string[], a: readonly string[], b: readonly string[]): Sides {
  const edits = { a: lineEdits(o, a), b: lineEdits(o, b) };
  const cuts = new Set([0, o.length]);
  for (const { oldStart, oldEnd } of [...edits.a, ...edits.b]) cuts.add(oldStart).add(oldEnd);
  const sorted = [...cuts].sort((one, other) => one - other);
  const base = sorted.slice(1).map((to, id) => ({ id, from: sorted[id] as number, to }));
  return { o: base, a: blocksOf('a', base, edits.a), b: blocksOf('b', base, edits.b) };
}

function blocksOf(side: 'a' | 'b', base: readonly Block[], edits: readonly LineEdit[]): readonly Block[] {
  const blocks: Block[] = [];
  let next = 0;
  let shift = 0;
  const addBefore = (line: number): void => {
    for (let edit = edits[next]; edit && edit.oldStart <= line; edit = edits[++next]) {
      const { newStart, newEnd } = edit;
      if (newEnd > newStart) blocks.push({ id: `${side}${next}`, from: newStart, to: newEnd });
      shift = newEnd - edit.oldEnd;
    }
  };
  let gone = 0;
  for (const { id, from, to } of base) {
    addBefore(from);
    gone = Math.max(gone, edits[next - 1]?.oldEnd ?? 0);
    if (from >= gone) blocks.push({ id, from: from + shift, to: to + shift });
  }
  addBefore(Number.POSITIVE_INFINITY);
  return blocks;
}

function mergeRegions({ o, a, b }: Sides): readonly Region[] {
  const ids = ({ id }: Block): number | string => id;
  return diff3MergeRegions(a.map(ids), o.map(ids), b.map(ids)).map((region) =>
    region.stable
      ? {
          stable: true,
          buffer: region.buffer as 'o' | 'a' | 'b',
          start: region.bufferStart as number,
          length: region.bufferLength as number,
        }
      : {
          stable: false,
          o: { start: region.oStart as number, length: region.oLength as number },
          a: { start: region.aStart as number, length: region.aLength as number },
          b: { start: region.bStart as number, length: region.bLength as number },
        },
  );
}

function linesOf({ lines }: LinedText, blocks: readonly Block[], { start, length }: Span): readonly string[] {
  if (length === 0) return [];
  return lines.slice((blocks[start] as Block).from, (blocks[start + length - 1] as Block).to);
}

/** Lines all three have, each with the end that changed, if one did. */
function unchanged(o: LinedText, a: LinedText, b: LinedText, sides: Sides, span: Span): readonly string[] {
  const first = (sides.o[span.start] as Block).id;
  const start = (blocks: readonly Block[]): number => blocks.findIndex(({ id }) => id === first);
  const ours = linesOf(a, sides.a, { start: start(sides.a), length: span.length });
  const theirs = linesOf(b, sides.b, { start: start(sides.b), length: span.length });
  return linesOf(o, sides.o, span).map((line, at) => {
    const own = ours[at] as string;
    return endOf(own) === endOf(line) ? (theirs[at] as string) : own;
  });
}

function isSameText(ours: readonly string[], theirs: readonly string[]): boolean {
  return ours.length === theirs.length && ours.every((line, at) => textOf(line) === textOf(theirs[at] as string));
}

function showConflicts(pieces: readonly Piece[]): string {
  const rows: (readonly string[])[] = [];
  let context: string[] = [];
  for (const piece of pieces) {
    if ('lines' in piece) {
      context = context.concat(piece.lines.map(textOf));
      continue;
    }
    const { at } = piece.conflict;
    const isFirst = rows.length === 0;
    if (!isFirst && context.length <= 2 * CONTEXT) rows.push(context);
    else rows.push(isFirst ? [] : context.slice(0, CONTEXT), [`@@ line ${at + 1} @@`], context.slice(-CONTEXT));
    rows.push(markedLines(piece.conflict).map(textOf));
    context = [];
  }
  rows.push(context.slice(0, CONTEXT));
  return `${rows.flat().join('\n')}\n`;
}

function markedLines({ ours, base, theirs }: Conflict): readonly string[] {
  return ['<<<<<<< current', ...ours, '||||||| base', ...base, '=======', ...theirs, '>>>>>>> proposed'];
}
