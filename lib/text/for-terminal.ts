import { type Colour, hasColour, inColour } from './colours.ts';
import { wrapWords } from './terminal-text.ts';

/** A window, and the environment that says whether it has colours. */
export interface TerminalWindow {
  /** Characters of a line; absent: unknown, and nothing is wrapped. */
  readonly columns?: number | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Text as a terminal shows it: differences, errors and warnings in colour unless NO_COLOR is set, words wrapped at the width of the
 * window. Lines of a difference are never wrapped. It has to be safe for a terminal already.
 *
 * @param isTerminal - Whether what it is written to is a terminal; otherwise it stays as it is.
 */
export function forTerminal(text: string, { columns, environment }: TerminalWindow, isTerminal: boolean): string {
  if (!isTerminal) return text;
  const isColoured = hasColour(environment);
  let part: Part = 'words';
  const shown = text.split('\n').map((line) => {
    // What an author wrote is indented wherever it is no line of a difference, so it begins no part.
    if (line.startsWith('--- ')) part = 'difference';
    else if (CHECKS.test(line)) part = 'checks';
    else if (line === '') part = 'words';
    const colour = isColoured ? COLOUR_OF[part].find(([begins]) => begins.test(line))?.[1] : undefined;
    const lines = part === 'difference' ? line : wrapWords(line, columns);
    return colour === undefined ? lines : inColour(colour, lines);
  });
  return shown.join('\n');
}

// --- internal ---

type Part = 'difference' | 'checks' | 'words';

/** The heading of what an inspection found; what its signs mean may follow. */
const CHECKS = /^Checks(?: \(|$)/;

const COLOUR_OF: Readonly<Record<Part, readonly (readonly [RegExp, Colour])[]>> = {
  difference: [
    [/^(?:---|\+\+\+) /, 'file'],
    [/^\+/, 'added'],
    [/^-/, 'removed'],
    [/^@@/, 'position'],
  ],
  checks: [
    [/^ {2}!! /, 'error'],
    [/^ {2}! /, 'warning'],
    [/^Checks/, 'heading'],
  ],
  words: [
    [/^(?:error\b|skill-registry: )/, 'error'],
    [/^(?:warning\b|Agents do not see )/, 'warning'],
    [/^[A-Z]\S*$/, 'heading'],
  ],
};
