import { nearestIds, oneLine } from '../../../../../lib/text/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';

/**
 * Ignores the kind of line ends, because models write LF; the new text gets those of the replaced part.
 * @throws INVALID_ARGUMENT unless `old` occurs once (with `all`: at least once) and differs from `next`.
 */
export function replaceText(present: string, old: string, next: string, path: string, all = false): string {
  const [text, search, replacement] = [present, old, next].map((value) => value.replaceAll('\r\n', '\n')) as [
    string,
    string,
    string,
  ];
  if (search === '')
    throw invalidArgument(
      'The text to replace (old_string) is empty; give a text that occurs in the file, or the whole content.',
    );
  if (search === replacement)
    throw invalidArgument(
      'The text to replace (old_string) and its replacement are the same; there is nothing to change.',
    );
  const found: number[] = [];
  for (let at = text.indexOf(search); at !== -1; at = text.indexOf(search, at + (all ? search.length : 1)))
    found.push(at);
  if (found.length === 0) throw invalidArgument(`String not found in ${path}. ${nearestLine(text, search)}`);
  if (found.length > 1 && !all) {
    throw invalidArgument(
      `The text to replace (old_string) occurs ${found.length} times in ${path}. Add lines around the one that you mean, until the text occurs once.`,
    );
  }
  const offset = offsetsIn(present);
  let [result, from] = ['', 0];
  for (const at of found) {
    const [start, end] = [offset(at), offset(at + search.length)];
    const lineEnd = /\r?\n/.exec(present.slice(start))?.[0] ?? (present.includes('\r\n') ? '\r\n' : '\n');
    result += present.slice(from, start) + replacement.replaceAll('\n', lineEnd);
    from = end;
  }
  return result + present.slice(from);
}

// --- internal ---

/** Maps an offset in the text with LF line ends to the original. Offsets must ascend. */
function offsetsIn(text: string): (offset: number) => number {
  let [at, passed] = [0, 0];
  return (offset) => {
    for (; passed < offset; passed++) at += text.startsWith('\r\n', at) ? 2 : 1;
    return at;
  };
}

function nearestLine(text: string, search: string): string {
  const cut = (line: string): string => line.trim().slice(0, 64);
  const lines = text.split('\n');
  const present = new Set(lines);
  const missing = search.split('\n').find((line) => line.trim() !== '' && !present.has(line));
  if (missing === undefined)
    return 'Its lines occur, but not directly after each other. Read the file again and copy the text exactly.';
  const [near] = nearestIds(new Set(lines.map(cut).filter(Boolean)), cut(missing), 1);
  const at = lines.findIndex((line) => near !== undefined && cut(line).toLowerCase() === near.toLowerCase());
  const shown = JSON.stringify(oneLine(missing, 60));
  const hint =
    at === -1
      ? `No line is similar to ${shown}.`
      : `Nearest to ${shown} is line ${at + 1}: ${JSON.stringify(oneLine(lines[at] ?? '', 80))}.`;
  return `${hint} Read the file again and copy the text exactly.`;
}
