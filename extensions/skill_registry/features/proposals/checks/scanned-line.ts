import { foldLine } from '../../../../../lib/text/index.ts';
import { rawLines } from '../../guard/inspect/lines.ts';

/** One line of text, or one whole block of shell commands. */
export interface ScannedLine {
  /** 1-based. */
  readonly line: number;
  /** Without invisible characters, white space folded, continued lines joined. The text of a block is unchanged. */
  readonly text: string;
  /** `block`: a whole block of `shell`, after its lines. `run`: a block that clients run before a model reads it. */
  readonly kind: 'prose' | 'code' | 'shell' | 'block' | 'run';
  /** The whole line of code, or each part between backticks. */
  readonly code: readonly string[];
}

/**
 * The lines that are not empty; the ending of `path` decides between prose and code. Fences are found line by line: a
 * Markdown parser can take more than linear time on hostile text. Code that is not recognised is prose.
 */
export function* scanLines(text: string, path: string): Generator<ScannedLine> {
  const fileKind = kindOfFile(path, text);
  let fence: Fence | undefined;
  let continued: { line: number; text: string; count: number } | undefined;
  for (const { raw, line, start } of rawLines(text)) {
    const marks = fileKind === 'prose' ? FENCE.exec(raw) : null;
    if (fence ? marks && closes(marks, fence) : marks) {
      const kind = fence?.kind ?? 'prose';
      if (continued) yield scanned(continued.line, continued.text, kind);
      continued = undefined;
      if (fence) yield* blockOf(fence, text.slice(fence.start, start));
      fence = fence ? undefined : openFence(marks as RegExpExecArray, line, start + raw.length + 1);
      continue;
    }
    const kind = kindInFence(fence, fileKind, raw);
    const folded = foldLine(raw);
    if (folded === '' && !continued) continue;
    const joined: string = continued ? `${continued.text} ${folded}` : folded;
    const from = continued?.line ?? line;
    const count: number = (continued?.count ?? 0) + 1;
    if (kind !== 'prose' && CONTINUED.test(folded) && count < MAX_CONTINUED) {
      continued = { line: from, text: joined.replace(/\\$/, '').trimEnd(), count };
      continue;
    }
    continued = undefined;
    yield scanned(from, joined, kind);
  }
  if (continued) yield scanned(continued.line, continued.text, fence?.kind ?? fileKind);
  if (fence) yield* blockOf(fence, text.slice(fence.start));
}

/** Whether it is a whole block. Its lines came before it. */
export function isBlock({ kind }: ScannedLine): boolean {
  return kind === 'block' || kind === 'run';
}

// --- internal ---

type LineKind = 'prose' | 'code' | 'shell';

interface Fence {
  readonly marks: string;
  readonly kind: LineKind;
  /** Only lines with a prompt are commands. */
  readonly prompted: boolean;
  /** The client runs it before the model reads the text. */
  readonly run: boolean;
  readonly line: number;
  readonly start: number;
}

const FENCE = /^[\s>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?(`{3,}|~{3,})[ \t]*([^`]*)$/;
const SHELLS = /^(?:ba|z|da|k|fi|c|tc)?sh$|^(?:shell|shellscript|powershell|pwsh|ps1|bat|batch|cmd|dos|nu|nushell)$/;
const CONSOLES = /^(?:console|terminal|shell-?session|sh-?session|shellsession)$/;
const PROSE_FILE = /\.(?:md|mdx|markdown|txt|rst|adoc)$/i;
const SHELL_FILE = /\.(?:sh|bash|zsh|fish|ksh|ps1|psm1|bat|cmd|command)$/i;
const PROMPT = /^\s{0,40}(?:\$|%|PS [^>]{0,80}>|PS>|[\w.-]{1,40}@[\w.-]{1,40}[^$#]{0,80}[$#]) /;
const CONTINUED = /(?:\\|\||&&)$/;
const MAX_CONTINUED = 50;

function kindOfFile(path: string, text: string): LineKind {
  if (PROSE_FILE.test(path)) return 'prose';
  return SHELL_FILE.test(path) || /^#![^\r\n]{0,200}\b(?:ba|z|da|k|fi)?sh\b/.test(text) ? 'shell' : 'code';
}

function kindInFence(fence: Fence | undefined, fileKind: LineKind, raw: string): LineKind {
  if (!fence) return fileKind;
  return fence.kind !== 'prose' && PROMPT.test(raw) ? 'shell' : fence.prompted ? 'code' : fence.kind;
}

function openFence(marks: RegExpExecArray, line: number, start: number): Fence {
  const language = /^[^\s{]*/.exec((marks[2] ?? '').trim().toLowerCase())?.[0] ?? '';
  const prompted = CONSOLES.test(language);
  const run = language.startsWith('!');
  const kind = run || prompted || SHELLS.test(language.replace(/^\./, '')) ? 'shell' : 'code';
  return { marks: marks[1] ?? '', kind, prompted, run, line, start };
}

function closes([, marks = '', rest]: RegExpExecArray, fence: Fence): boolean {
  return rest === '' && marks[0] === fence.marks[0] && marks.length >= fence.marks.length;
}

function* blockOf({ kind, run, line }: Fence, content: string): Generator<ScannedLine> {
  if (kind === 'shell' && content.trim() !== '') {
    yield { line, text: content.trim(), kind: run ? 'run' : 'block', code: [] };
  }
}

function scanned(line: number, text: string, kind: LineKind): ScannedLine {
  const spans = text.split(/`+/).filter((part, at) => at % 2 === 1 && part.trim() !== '');
  return { line, text, kind, code: kind === 'prose' ? spans : [text] };
}
