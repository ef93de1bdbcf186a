import { bodyOf } from '../../../core/skill/frontmatter.ts';
import { rawLines } from '../../guard/inspect/lines.ts';
import { type Check, type CheckInput, type Fact, listChecks, notIn } from './checks.ts';

export function sizeChecks({ before, after, isSkillFile }: CheckInput): readonly Check[] {
  const old = linesOf(before ?? '');
  if (after === null) return listChecks('size', [{ level: 'warn', what: `Removes the file: ${old.length} lines` }]);
  const now = linesOf(after);
  return listChecks('size', [
    before === null
      ? { what: `A new file of ${now.length} lines, ${Buffer.byteLength(after)} bytes` }
      : summary(old, now, `bytes: ${Buffer.byteLength(before)} -> ${Buffer.byteLength(after)}`),
    ...(isSkillFile ? shortened(bodyOf(before ?? ''), bodyOf(after)) : []),
    ...easilyMissed(old, now),
  ]);
}

// --- internal ---

/** A correction does not remove this part of a text. */
const LARGE_LOSS = 0.25;
/** Characters; wider than any screen. */
const LONG_LINE = 2000;
/** Blanks, and empty lines, in a row; ordinary text has fewer. */
const WIDE_GAP = 200;
const HIGH_GAP = 40;

function summary(old: readonly string[], now: readonly string[], bytes: string): Fact {
  const lineItself = (line: string): string => line;
  const removed = notIn(old, now, lineItself).length;
  const what = `Lines: +${notIn(now, old, lineItself).length} -${removed}; ${bytes}`;
  // A small correction keeps most of the text.
  return { level: removed >= 10 && removed > old.length / 2 ? 'warn' : 'info', what };
}

/** Without blanks, so that other line ends or indents do not count. */
function shortened(before: string, after: string): readonly Fact[] {
  const [old, now] = [before, after].map((text) => text.replace(/\s+/g, '').length) as [number, number];
  if (now >= old * (1 - LARGE_LOSS)) return [];
  return [{ level: 'warn', what: `The body gets shorter: ${old} -> ${now} characters without blanks` }];
}

function* easilyMissed(before: readonly string[], after: readonly string[]): Generator<Fact> {
  const level = 'warn';
  const old = new Set(before);
  const usual = emptyRuns(before).reduce((most, run) => Math.max(most, run), HIGH_GAP - 1);
  const runs = emptyRuns(after);
  for (const [index, raw] of after.entries()) {
    const line = index + 1;
    const empty = runs[index - 1] ?? 0;
    if (runs[index] === 0 && empty > usual) yield { level, what: `Text after ${empty} empty lines`, quoted: raw, line };
    if (raw.length < WIDE_GAP || old.has(raw)) continue;
    const gap = /\S[ \t\u00a0\u3000]{200}/.exec(raw);
    const quoted = gap ? raw.slice(gap.index + 1).trimStart() : '';
    if (quoted !== '') yield { level, what: 'Text after a gap in its line', quoted, line };
    if (raw.length > LONG_LINE) yield { level, what: `A line of ${raw.length} characters; read it to its end`, line };
  }
}

/** For each line, how many lines up to it are empty without another one between them. */
function emptyRuns(lines: readonly string[]): readonly number[] {
  let run = 0;
  return lines.map((line) => {
    run = line.trim() === '' ? run + 1 : 0;
    return run;
  });
}

function linesOf(text: string): readonly string[] {
  return [...rawLines(text)].map(({ raw }) => raw);
}
