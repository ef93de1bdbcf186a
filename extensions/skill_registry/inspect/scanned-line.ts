import { foldLine } from '../../../lib/text/index.ts';

/** One line as a reader takes it in, or one whole block of shell commands. */
export interface ScannedLine {
  /** 1-based. */
  readonly line: number;
  /** Without invisible characters, white space folded; lines that are continued are one. A block: as it is. */
  readonly text: string;
  /**
   * `shell`: commands. `code`: any other code. `block`: a whole block of `shell`, after its lines. `run`: as `block`, where the
   * client runs it before the model reads the text.
   */
  readonly place: 'prose' | 'code' | 'shell' | 'block' | 'run';
  /** What of it is code: all of it, or what stands between backticks. */
  readonly code: readonly string[];
}

/**
 * The lines of a text that say something, in order.
 *
 * Fenced blocks are found line by line, indented and quoted ones as well, and not by a Markdown parser: a text made to
 * confuse one must be read in linear time all the same, and what is missed as code is still read as prose.
 *
 * @param path - Its ending tells prose from code.
 */
export function* scanLines(text: string, path: string): Generator<ScannedLine> {
  const whole = placeOf(path, text);
  let fence: Fence | undefined;
  let held: { line: number; text: string; count: number } | undefined;
  for (const { raw, line, start } of rawLines(text)) {
    const marks = whole === 'prose' ? FENCE.exec(raw) : null;
    if (fence ? marks && closes(marks, fence) : marks) {
      const place = fence?.place ?? 'prose';
      if (held) yield scanned(held.line, held.text, place);
      held = undefined;
      if (fence) yield* blockOf(fence, text.slice(fence.start, start));
      fence = fence ? undefined : openFence(marks as RegExpExecArray, line, start + raw.length + 1);
      continue;
    }
    const place = placeIn(fence, whole, raw);
    const folded = foldLine(raw);
    if (folded === '' && !held) continue;
    const joined: string = held ? `${held.text} ${folded}` : folded;
    const from = held?.line ?? line;
    const count: number = (held?.count ?? 0) + 1;
    if (place !== 'prose' && CONTINUED.test(folded) && count < MAX_CONTINUED) {
      held = { line: from, text: joined.replace(/\\$/, '').trimEnd(), count };
      continue;
    }
    held = undefined;
    yield scanned(from, joined, place);
  }
  if (held) yield scanned(held.line, held.text, fence?.place ?? whole);
  if (fence) yield* blockOf(fence, text.slice(fence.start));
}

/** The lines of a text, whatever their ends. `start` counts UTF-16 units. */
export function* rawLines(
  text: string,
): Generator<{ readonly raw: string; readonly line: number; readonly start: number }> {
  let start = 0;
  let line = 1;
  for (const end of text.matchAll(/\r\n|\n|\r/g)) {
    yield { raw: text.slice(start, end.index), line, start };
    start = end.index + end[0].length;
    line++;
  }
  if (start < text.length) yield { raw: text.slice(start), line, start };
}

// --- internal ---

type Place = 'prose' | 'code' | 'shell';

interface Fence {
  readonly marks: string;
  readonly place: Place;
  /** Only lines after a prompt are commands. */
  readonly prompted: boolean;
  /** Run before the model reads the text. */
  readonly run: boolean;
  readonly line: number;
  /** Offset of its first line. */
  readonly start: number;
}

/** After the marks of quotations and list items. */
const FENCE = /^[\s>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?(`{3,}|~{3,})[ \t]*([^`]*)$/;
const SHELLS = /^(?:ba|z|da|k|fi|c|tc)?sh$|^(?:shell|shellscript|powershell|pwsh|ps1|bat|batch|cmd|dos|nu|nushell)$/;
const CONSOLES = /^(?:console|terminal|shell-?session|sh-?session|shellsession)$/;
const PROSE_FILE = /\.(?:md|mdx|markdown|txt|rst|adoc)$/i;
const SHELL_FILE = /\.(?:sh|bash|zsh|fish|ksh|ps1|psm1|bat|cmd|command)$/i;
const PROMPT = /^\s{0,40}(?:\$|%|PS [^>]{0,80}>|PS>|[\w.-]{1,40}@[\w.-]{1,40}[^$#]{0,80}[$#]) /;
/** A command goes on in the next line. */
const CONTINUED = /(?:\\|\||&&)$/;
/** More lines than one command has. */
const MAX_CONTINUED = 50;

function placeOf(path: string, text: string): Place {
  if (PROSE_FILE.test(path)) return 'prose';
  return SHELL_FILE.test(path) || /^#![^\r\n]{0,200}\b(?:ba|z|da|k|fi)?sh\b/.test(text) ? 'shell' : 'code';
}

function placeIn(fence: Fence | undefined, whole: Place, raw: string): Place {
  if (!fence) return whole;
  return fence.place !== 'prose' && PROMPT.test(raw) ? 'shell' : fence.prompted ? 'code' : fence.place;
}

function openFence(marks: RegExpExecArray, line: number, start: number): Fence {
  const language = /^[^\s{]*/.exec((marks[2] ?? '').trim().toLowerCase())?.[0] ?? '';
  const prompted = CONSOLES.test(language);
  const run = language.startsWith('!');
  const place = run || prompted || SHELLS.test(language.replace(/^\./, '')) ? 'shell' : 'code';
  return { marks: marks[1] ?? '', place, prompted, run, line, start };
}

function closes([, marks = '', rest]: RegExpExecArray, fence: Fence): boolean {
  return rest === '' && marks[0] === fence.marks[0] && marks.length >= fence.marks.length;
}

function* blockOf({ place, run, line }: Fence, content: string): Generator<ScannedLine> {
  if (place === 'shell' && content.trim() !== '') {
    yield { line, text: content.trim(), place: run ? 'run' : 'block', code: [] };
  }
}

function scanned(line: number, text: string, place: Place): ScannedLine {
  return { line, text, place, code: place === 'prose' ? codeSpans(text) : [text] };
}

/** What stands between runs of backticks. */
function codeSpans(text: string): readonly string[] {
  return text.includes('`') ? text.split(/`+/).filter((part, at) => at % 2 === 1 && part.trim() !== '') : [];
}
