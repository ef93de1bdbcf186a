import { bodyOf } from '../skill/frontmatter.ts';
import type { Check, CheckInput } from './findings.ts';
import { type Fact, listChecks } from './findings.ts';
import { rawLines } from './scanned-line.ts';

export function sizeChecks({ before, after, isSkillFile }: CheckInput): readonly Check[] {
  if (after === null) {
    const what = `Removes the file: ${linesOf(before ?? '').length} lines`;
    return listChecks('size', [{ key: 'removed', level: 'warn', what }]);
  }
  return listChecks('size', [
    summary(before, after),
    ...(isSkillFile ? shortened(bodyOf(before ?? ''), bodyOf(after)) : []),
    ...easilyMissed(before ?? '', after),
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

function summary(before: string | null, after: string): Fact {
  const now = linesOf(after);
  if (before === null)
    return { key: 'size', level: 'info', what: `A new file of ${now.length} lines, ${Buffer.byteLength(after)} bytes` };
  const old = linesOf(before);
  const kept = countShared(old, now);
  const removed = old.length - kept;
  const what = `Lines: +${now.length - kept} -${removed}; bytes: ${Buffer.byteLength(before)} -> ${Buffer.byteLength(after)}`;
  // A small correction keeps most of the text.
  return { key: 'size', level: removed >= 10 && removed > old.length / 2 ? 'warn' : 'info', what };
}

/** Without blanks, so that other line ends or indents do not count. */
function* shortened(before: string, after: string): Generator<Fact> {
  const [old, now] = [before, after].map((text) => text.replace(/\s+/g, '').length) as [number, number];
  if (now >= old * (1 - LARGE_LOSS)) return;
  yield {
    key: 'shortened',
    level: 'warn',
    what: `The body gets shorter: ${old} -> ${now} characters without blanks`,
  };
}

function* easilyMissed(before: string, after: string): Generator<Fact> {
  const old = new Set(linesOf(before));
  let empty = 0;
  let longestRun = 0;
  for (const raw of linesOf(before)) {
    empty = raw.trim() === '' ? empty + 1 : 0;
    longestRun = Math.max(longestRun, empty);
  }
  empty = 0;
  for (const { raw, line } of rawLines(after)) {
    const blank = raw.trim() === '';
    if (!blank && empty >= HIGH_GAP && empty > longestRun) {
      yield { key: `high ${line}`, level: 'warn', what: `Text after ${empty} empty lines`, quoted: raw, line };
    }
    empty = blank ? empty + 1 : 0;
    if (raw.length < WIDE_GAP || old.has(raw)) continue;
    const gap = /\S[ \t\u00a0\u3000]{200}/.exec(raw);
    if (gap) {
      const quoted = raw.slice(gap.index + 1).trimStart();
      if (quoted !== '')
        yield { key: `wide ${line}`, level: 'warn', what: 'Text after a gap in its line', quoted, line };
    }
    if (raw.length > LONG_LINE) {
      yield {
        key: `long ${line}`,
        level: 'warn',
        what: `A line of ${raw.length} characters; read it to its end`,
        line,
      };
    }
  }
}

function linesOf(text: string): readonly string[] {
  return [...rawLines(text)].map(({ raw }) => raw);
}

function countShared(left: readonly string[], right: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of left) counts.set(line, (counts.get(line) ?? 0) + 1);
  let shared = 0;
  for (const line of right) {
    const count = counts.get(line) ?? 0;
    if (count === 0) continue;
    counts.set(line, count - 1);
    shared++;
  }
  return shared;
}
