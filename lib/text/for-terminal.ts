import { type Colour, hasColour, inColour } from './colours.ts';
import { wrapWords } from './terminal-text.ts';

export interface TerminalWindow {
  /** Characters of a line; absent: nothing is wrapped. */
  readonly columns?: number | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Colours differences, errors and warnings; wraps lines, except those of a difference. `text` must be safe already. */
export function forTerminal(text: string, { columns, environment }: TerminalWindow, isTerminal: boolean): string {
  if (!isTerminal) return text;
  const isColoured = hasColour(environment);
  let part: Part = 'words';
  const shown = text.split('\n').map((line) => {
    // Lines that an author wrote are indented, except those of a difference: they begin no part.
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

/** An explanation of signs may follow. */
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
