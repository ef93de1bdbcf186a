import { anyCharacter, fc } from '../../helpers/properties.ts';

/** Lines a diff could mistake for its own, and lines that repeat. */
const LINES = [
  '',
  ' ',
  'a',
  'b',
  'a ',
  ' a',
  '\ta',
  '-',
  '--',
  '---',
  '----',
  '--- x',
  '--- a/SKILL.md',
  '+++',
  '+++ y',
  '+++ b/SKILL.md',
  '@@',
  '@@ -1,2 +1,2 @@',
  '@@@ -1 -1 +1 @@@',
  '\\ No newline at end of file',
  '\\ Line ends with CRLF',
  'byte order mark added',
  'added lines end with CRLF',
  'diff --git a/x b/x',
  '*** Begin Patch',
  '*** Update File: SKILL.md',
  '@@ # One',
  '-a',
  '+b',
  '*** End of File',
  '```',
  '```diff',
  '~~~',
  '<<<<<<< current',
  '=======',
  '\u2028',
  '\ufeff',
  '\0',
  '\ud800',
  '__proto__',
];
const line = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...LINES) },
  fc.string({ unit: anyCharacter, maxLength: 6 }),
);
const end = fc.oneof({ weight: 4, arbitrary: fc.constant('\n') }, fc.constantFrom('\r\n', '\r', ''));

/** Any text: all line ends, mixed or not, with or without BOM and last line end. */
export const oddText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '', '', '\ufeff'),
    fc.array(fc.tuple(line, end), { maxLength: 14 }),
    fc.constantFrom('mixed', 'mixed', '\n', '\r\n', '\r'),
  )
  .map(([bom, lines, one]) => bom + lines.map(([text, own]) => text + (one === 'mixed' ? own : one)).join(''));

/** A text and what came of it: some lines gone, changed or new, or another text altogether. */
export const oddChange: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.tuple(oddText, oddText),
  fc
    .tuple(oddText, fc.array(fc.tuple(fc.nat(), fc.nat(3), line, end), { maxLength: 4 }))
    .map(([text, edits]) => [text, edits.reduce((changed, edit) => changeLine(changed, edit), text)] as const),
);

/** The same texts in every run; a failure prints the shrunk one. */
export function runs(numRuns: number): { readonly seed: number; readonly numRuns: number } {
  return { seed: 20_270_102, numRuns };
}

// --- internal ---

function changeLine(text: string, [at, count, added, lineEnd]: [number, number, string, string]): string {
  const lines = text.split(/(?<=\n)/);
  lines.splice(at % (lines.length + 1), count % 3, ...(count > 0 ? [added + lineEnd] : []));
  return lines.join('');
}
