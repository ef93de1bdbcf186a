import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describeError, isCodedError, type Problem, readContained } from 'skill-registry/kernel';
import type { ValidationProfile } from '../config.ts';
import { type ParsedSkill, parseSkill } from '../skill/parse-skill.ts';
import { specViolations, type Violation } from '../skill/spec-rules.ts';
import { strictVerdict } from '../skill/strict-rules.ts';
import { declaredFileErrors } from '../validation/declared-files.ts';
import { findSkillMd } from '../validation/find-skill-md.ts';
import { NOT_UTF8 } from '../validation/read-skill-md.ts';
import type { FoundSkillFile } from './find-skill-files.ts';

/** One SKILL.md as it was read last. */
export interface ReadSkillFile extends ParsedSkill {
  readonly digest: string;
  readonly bytes: number;
}

/**
 * Reads SKILL.md files and remembers what it read: a file whose stat is unchanged is not opened again.
 *
 * A file that was modified within two seconds before it was read may change once more without a trace in its stat (same
 * size, same tick of the clock), so it is read again until it has been quiet for that long.
 */
export interface SkillFileReader {
  /** @param name - What the id is taken from. Default: the directory's name. */
  read(found: FoundSkillFile, maxBytes: number, name?: string): ReadSkillFile;
  /** Forgets files that were not read since the last call. */
  sweep(): void;
}

const QUIET_MS = 2_000;

/** @param profile - How strictly; under `spec` and `strict` a file with any error has no header. */
export function createSkillFileReader(profile: ValidationProfile = 'lenient'): SkillFileReader {
  let known = new Map<string, Entry>();
  let current = new Map<string, Entry>();
  return {
    read(found, maxBytes, given) {
      const name = given ?? basename(found.dir);
      const key = `${found.dir}/${found.fileName}`;
      const before = current.get(key) ?? known.get(key);
      const entry = readEntry(found, before, maxBytes, { profile, name, bare: given !== undefined });
      current.set(key, entry);
      return entry.file;
    },
    sweep() {
      known = current;
      current = new Map();
    },
  };
}

// --- internal ---

interface Entry {
  readonly stamp: string;
  readonly settled: boolean;
  readonly file: ReadSkillFile;
}

function readEntry(found: FoundSkillFile, before: Entry | undefined, maxBytes: number, as: ParseAs): Entry {
  const path = `${found.dir}/${found.fileName}`;
  try {
    const readAt = Date.now();
    const stats = statSync(found.realFile);
    const stamp = stampOf(found, stats);
    if (before?.settled && before.stamp === stamp) return before;
    const bytes = readContained(dirname(found.realFile), basename(found.realFile), maxBytes);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const settled = Math.max(stats.mtimeMs, stats.ctimeMs) < readAt - QUIET_MS;
    if (before?.file.digest === digest && before.stamp === stamp) return { ...before, settled };
    return { stamp, settled, file: { ...parse(bytes, path, found, as), digest, bytes: bytes.length } };
  } catch (error) {
    const message = `SKILL.md was not loaded. ${describeError(error)} ${remedyOf(error)}`;
    const problem: Problem = { code: 'SKILL_FILE_UNREADABLE', severity: 'error', file: path, message };
    return { stamp: '', settled: false, file: { problems: [problem], digest: '', bytes: 0 } };
  }
}

interface ParseAs {
  readonly profile: ValidationProfile;
  readonly name: string;
  /** A file of any name that is a skill by itself. */
  readonly bare: boolean;
}

function remedyOf(error: unknown): string {
  if (isCodedError(error, 'RESOURCE_TOO_LARGE')) {
    return 'Move detail into files beside it, or raise limits.file_bytes.';
  }
  return 'Make it a regular file that may be read, or remove its folder.';
}

/** What the validator of the profile holds against it; nothing under `lenient`. */
function violationsOf(
  { text, odd }: SkillText,
  found: FoundSkillFile,
  { profile, name, bare }: ParseAs,
): readonly Violation[] {
  if (profile === 'lenient') return [];
  if (!bare && findSkillMd(found.dir) === undefined) return [{ message: 'Missing required file: SKILL.md', line: 1 }];
  if (odd) return [{ message: NOT_UTF8, line: lineOfFirstOdd(text) }];
  return profile === 'spec' ? specViolations(text, name) : strictViolations(text, found.realDir, name);
}

function strictViolations(text: string, realDir: string, name: string): readonly Violation[] {
  const { violations, lineOf, declared } = strictVerdict(text, name);
  const absent = declared.flatMap((file) =>
    declaredFileErrors(realDir, [file]).map((message) => ({ message, line: lineOf(file.bucket) })),
  );
  return [...violations, ...absent];
}

/** Of the first U+FFFD: where text that is no UTF-8 begins, unless the author wrote one before. */
function lineOfFirstOdd(text: string): number {
  return text.slice(0, text.indexOf('\ufffd')).split(/\r\n|\n|\r/).length;
}

function stampOf({ realFile }: FoundSkillFile, { size, mtimeMs, ctimeMs, ino }: Stats): string {
  return `${realFile}\0${size}\0${mtimeMs}\0${ctimeMs}\0${ino}`;
}

interface SkillText {
  readonly text: string;
  /** The bytes are not UTF-8 throughout; `text` shows the odd ones as U+FFFD. */
  readonly odd: boolean;
}

function parse(bytes: Buffer, path: string, found: FoundSkillFile, as: ParseAs): ParsedSkill {
  const text = bytes.toString('utf8');
  // An encoded U+FFFD is rare enough to look twice only then.
  const odd = text.includes('\ufffd') && !Buffer.from(text).equals(bytes);
  const violations = violationsOf({ text, odd }, found, as);
  if (violations.length > 0) return { problems: violations.map((violation) => refusal(violation, path, as.profile)) };
  const parsed = parseSkill(text, path, as.name);
  if (!odd) return parsed;
  const message = 'The file is not UTF-8 text throughout; the odd bytes are shown as U+FFFD. Save it as UTF-8.';
  const line = lineOfFirstOdd(text);
  return {
    ...parsed,
    problems: [...parsed.problems, { code: 'ENCODING_INVALID', severity: 'warning', file: path, line, message }],
  };
}

function refusal({ message, line }: Violation, file: string, profile: ValidationProfile): Problem {
  const code = profile === 'spec' ? 'SPEC_VIOLATION' : 'STRICT_VIOLATION';
  return { code, severity: 'error', file, line, message, details: { profile } };
}
