import { matchLines } from './line-edits.ts';

export type LineEnd = '\n' | '\r\n' | '\r';

/** A text in lines; `bom + lines.join('')` is the text again. */
export interface LinedText {
  readonly bom: '' | '\ufeff';
  /** Each with its own line end; the last may have none. Empty for an empty text. */
  readonly lines: readonly string[];
}

/** Lines end with LF, CRLF or CR. */
export function splitLines(text: string): LinedText {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const lines: string[] = [];
  let start = bom.length;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 10 && code !== 13) continue;
    if (code === 13 && text.charCodeAt(at + 1) === 10) at++;
    lines.push(text.slice(start, at + 1));
    start = at + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return { bom, lines };
}

/** A text of lines. A blank line after one that ends with CR ends so, too: its LF would become part of the line before. */
export function joinLines(bom: string, lines: readonly string[]): string {
  const joins = (line: string, at: number): boolean => line === '\n' && lines[at - 1]?.endsWith('\r') === true;
  return bom + lines.map((line, at) => (joins(line, at) ? '\r' : line)).join('');
}

/** A line without its end. */
export function textOf(line: string): string {
  return line.slice(0, line.length - endOf(line).length);
}

export function endOf(line: string): LineEnd | '' {
  if (line.endsWith('\r\n')) return '\r\n';
  if (line.endsWith('\n')) return '\n';
  return line.endsWith('\r') ? '\r' : '';
}

/** The end most lines have; undefined when none has one. Of equally many LF wins, then CRLF. */
export function usualEnd(lines: readonly string[]): LineEnd | undefined {
  const counts = { '\n': 0, '\r\n': 0, '\r': 0 };
  for (const line of lines) {
    const end = endOf(line);
    if (end !== '') counts[end]++;
  }
  const most = Math.max(...Object.values(counts));
  return most === 0 ? undefined : (['\n', '\r\n', '\r'] as const).find((end) => counts[end] === most);
}

/**
 * The proposed whole text with BOM and line endings of `current`: an unchanged line keeps its bytes, a new one takes the
 * ending most lines have, or its own where `current` has no line end at all.
 *
 * The final newline is there when either text has one. Whoever writes a whole text loses it by accident, because reading
 * tools trim; nobody leaves it out on purpose. A diff can say it, with `\ No newline at end of file`.
 */
export function adoptLineEndings(current: string, proposed: string): string {
  const now = splitLines(current);
  const next = splitLines(proposed);
  const usual = usualEnd(now.lines);
  const keptFrom = matchLines(now.lines.map(textOf), next.lines.map(textOf));
  const adopted = next.lines.map((line, at) => {
    const own = endOf(line);
    const isLast = at === next.lines.length - 1;
    if (isLast && own === '' && endOf(now.lines.at(-1) ?? '') === '') return line;
    const kept = endOf(now.lines[keptFrom.get(at) ?? -1] ?? '');
    return textOf(line) + (kept || usual || own);
  });
  return joinLines(now.bom, adopted);
}
