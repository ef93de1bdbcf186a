import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describeError, type Problem, readContained } from 'skill-registry/kernel';
import type { ValidationProfile } from '../config.ts';
import { type ParsedSkill, parseSkill } from '../skill/parse-skill.ts';
import { specErrors } from '../skill/spec-rules.ts';
import { strictVerdict } from '../skill/strict-rules.ts';
import { declaredFileErrors } from '../validation/declared-files.ts';
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
    read(found, maxBytes, name = basename(found.dir)) {
      const key = `${found.dir}/${found.fileName}`;
      const before = current.get(key) ?? known.get(key);
      const entry = readEntry(found, before, maxBytes, { profile, name });
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
    return { stamp, settled, file: { ...parse(bytes, path, found.realDir, as), digest, bytes: bytes.length } };
  } catch (error) {
    const message = `SKILL.md was not loaded. ${describeError(error)}`;
    const problem: Problem = { code: 'SKILL_FILE_UNREADABLE', severity: 'error', file: path, message };
    return { stamp: '', settled: false, file: { problems: [problem], digest: '', bytes: 0 } };
  }
}

interface ParseAs {
  readonly profile: ValidationProfile;
  readonly name: string;
}

function parseUnder({ profile, name }: ParseAs, text: string, path: string, realDir: string): ParsedSkill {
  if (profile === 'lenient') return parseSkill(text, path, name);
  const errors = profile === 'spec' ? specErrors(text, name) : strictErrors(text, realDir, name);
  if (errors.length === 0) return parseSkill(text, path, name);
  const code = profile === 'spec' ? 'SPEC_VIOLATION' : 'STRICT_VIOLATION';
  return { problems: errors.map((message) => ({ code, severity: 'error', file: path, message })) };
}

function strictErrors(text: string, realDir: string, name: string): readonly string[] {
  const { errors, declared } = strictVerdict(text, name);
  return [...errors, ...declaredFileErrors(realDir, declared)];
}

function stampOf({ realFile }: FoundSkillFile, { size, mtimeMs, ctimeMs, ino }: Stats): string {
  return `${realFile}\0${size}\0${mtimeMs}\0${ctimeMs}\0${ino}`;
}

function parse(bytes: Buffer, path: string, realDir: string, as: ParseAs): ParsedSkill {
  const text = bytes.toString('utf8');
  const parsed = parseUnder(as, text, path, realDir);
  // An encoded U+FFFD is rare enough to look twice only then.
  if (!text.includes('\ufffd') || Buffer.from(text).equals(bytes)) return parsed;
  const message = 'The file is not UTF-8 text throughout; the odd bytes are shown as U+FFFD. Save it as UTF-8.';
  return {
    ...parsed,
    problems: [...parsed.problems, { code: 'ENCODING_INVALID', severity: 'warning', file: path, message }],
  };
}
