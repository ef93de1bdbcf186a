import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { readContained } from '../../../../lib/files/index.ts';
import type { ValidationProfile } from '../../config/config.ts';
import { splitFrontmatter } from '../../skill/frontmatter.ts';
import { type ParsedSkill, parseSkill, type SkillHeader } from '../../skill/parse-skill.ts';
import { specViolations, type Violation } from '../../skill/spec-rules.ts';
import { type EncodingFault, encodingFault, findSkillMd } from '../../validate/read-skill-md.ts';
import { strictViolations } from '../../validate/validate-skill.ts';
import { type FoundSkillFile, type SeenFile, seenFile } from './find-skill-files.ts';
import type { CachePlace, ReadSkillFile, SkillFileCache, SkillFileEntry } from './skill-file-cache.ts';

/**
 * Reads SKILL.md files and remembers what it read: a file whose stat is unchanged is not opened again, also by the next
 * process where there is a cache.
 *
 * A file that was modified within two seconds before it was read may change once more without a trace in its stat (same
 * size, same tick of the clock), so it is read again until it has been quiet for that long.
 */
export interface SkillFileReader {
  /**
   * @param name - What the id is taken from. Default: the directory's name.
   * @returns the same object as long as the file is the same.
   */
  read(found: FoundSkillFile, maxBytes: number, name?: string): ReadSkillFile;
  /** Forgets files that were not read since the last call, and hands what is new to the cache. */
  sweep(): void;
}

export interface SkillFileReaderOptions {
  /** How strictly; under `spec` and `strict` a file with any error has no header. Default: `lenient`. */
  readonly profile?: ValidationProfile | undefined;
  /** Where what was read is kept, and as of which folder or file. Default: it is not. */
  readonly cache?: SkillFileCache | undefined;
  readonly place?: string;
  /** What else decides which files are found there, so that several sources of one place do not take turns. */
  readonly setting?: string;
}

export function createSkillFileReader(options: SkillFileReaderOptions = {}): SkillFileReader {
  const { profile = 'lenient', cache, place = '', setting = '' } = options;
  const at: CachePlace = { path: place, readAs: `${profile} ${setting}` };
  let known: Map<string, SkillFileEntry> | undefined;
  let current = new Map<string, SkillFileEntry>();
  let changed = new Map<string, SkillFileEntry | undefined>();
  return {
    read(found, maxBytes, given) {
      const name = given ?? basename(found.dir);
      const path = `${found.dir}/${found.fileName}`;
      known ??= cache?.load(at, maxBytes) ?? new Map();
      const before = current.get(path) ?? known.get(path);
      const entry = readEntry(found, path, before, maxBytes, { profile, name, bare: given !== undefined });
      current.set(path, entry);
      if (entry !== before) changed.set(path, entry);
      return entry.file;
    },
    sweep() {
      if (known && current.size < known.size + changed.size) {
        for (const path of known.keys()) if (!current.has(path)) changed.set(path, undefined);
      }
      known = current;
      if (changed.size > 0) cache?.keep(at, changed);
      changed = new Map();
      current = new Map();
    },
  };
}

// --- internal ---

function readEntry(
  found: FoundSkillFile,
  path: string,
  before: SkillFileEntry | undefined,
  maxBytes: number,
  as: ParseAs,
): SkillFileEntry {
  const whole = before?.whole ?? before?.file.header;
  try {
    const { stamp: looks, settled } = found.seen ?? look(found.realFile);
    // Where it leads to is part of it.
    const stamp = found.realFile === path ? looks : `${looks} ${found.realFile}`;
    if (before?.settled && before.stamp === stamp) return before;
    const bytes = readContained(dirname(found.realFile), basename(found.realFile), maxBytes);
    const digest = `sha256:${hash('sha256', bytes, 'hex')}`;
    if (before?.file.digest === digest && before.stamp === stamp && !before.fleeting) {
      return before.settled === settled ? before : { ...before, settled };
    }
    const { lasts, ...parsed } = parse(bytes, path, found, as);
    const kept = whole && keptHeader(whole, parsed, bytes.length);
    const file = { ...(kept ?? parsed), digest, bytes: bytes.length };
    const read = parsed.header && !kept ? { file } : { file, whole };
    return lasts ? { stamp, settled, ...read } : { stamp, settled: false, fleeting: true, ...read };
  } catch (error) {
    const message = `SKILL.md was not loaded. ${describeError(error)} ${remedyOf(error)}`;
    const problem: Problem = { code: 'SKILL_FILE_UNREADABLE', severity: 'error', file: path, message };
    return { stamp: '', settled: false, file: { problems: [problem], digest: '', bytes: 0 }, whole };
  }
}

/**
 * A file without the end of its frontmatter may have been saved half. Then what it said when it was whole holds on, that models
 * must not see it for example. Undefined for any other file.
 */
function keptHeader(whole: SkillHeader, { header, problems }: ParsedSkill, bytes: number): ParsedSkill | undefined {
  const isHalf = ({ code }: Problem): boolean =>
    code === 'FRONTMATTER_UNCLOSED' || (code === 'FRONTMATTER_MISSING' && bytes > 0 && bytes < OPENING_FENCE.length);
  const half = problems.find(isHalf);
  if (!half) return undefined;
  const modelInvocable = whole.modelInvocable && header?.modelInvocable !== false;
  const message = `${half.message} Until then its name, description and settings stay as they were.`;
  return { header: { ...whole, modelInvocable }, problems: [{ ...half, message }] };
}

const OPENING_FENCE = '---\n';

/** Most frontmatters have a few hundred. */
const BEGINNING_BYTES = 3_072;

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

interface Verdict {
  readonly violations: readonly Violation[];
  /** It depends on nothing but the file. */
  readonly lasts: boolean;
}

/** What the validator of the profile holds against it; nothing under `lenient`. */
function violationsOf({ text, fault }: SkillText, found: FoundSkillFile, { profile, name, bare }: ParseAs): Verdict {
  const lasting = (...violations: readonly Violation[]): Verdict => ({ violations, lasts: true });
  if (profile === 'lenient') return lasting();
  if (!bare && findSkillMd(found.dir) === undefined) {
    return lasting({ message: 'Missing required file: SKILL.md', line: 1 });
  }
  if (fault?.refusal) return lasting({ message: fault.refusal, line: lineOfFirstOdd(text) });
  if (profile === 'spec') return lasting(...specViolations(text, name));
  const { violations, declaresFiles } = strictViolations(text, found.realDir, name);
  // Files that the frontmatter promises are looked for, so the verdict can change though SKILL.md does not.
  return { violations, lasts: !declaresFiles };
}

/** Of the first U+FFFD: where text that is no UTF-8 begins, unless the author wrote one before. Without any it is 1. */
function lineOfFirstOdd(text: string): number {
  return text.slice(0, Math.max(0, text.indexOf('\ufffd'))).split(/\r\n|\n|\r/).length;
}

function look(file: string): SeenFile {
  const at = Date.now();
  return seenFile(statSync(file), at);
}

interface SkillText {
  readonly text: string;
  /** The bytes are not all UTF-8 text; `text` shows the odd ones as U+FFFD. */
  readonly fault: EncodingFault | undefined;
}

function parse(bytes: Buffer, path: string, found: FoundSkillFile, as: ParseAs): ParsedSkill & Pick<Verdict, 'lasts'> {
  const fault = encodingFault(bytes);
  const beginning = fault || as.profile !== 'lenient' ? undefined : beginningOf(bytes);
  if (beginning !== undefined) {
    return { ...parseSkill(beginning, path, as.name, () => bytes.toString('utf8')), lasts: true };
  }
  const text = bytes.toString('utf8');
  const { violations, lasts } = violationsOf({ text, fault }, found, as);
  if (violations.length > 0) {
    return { problems: violations.map((violation) => refusal(violation, path, as.profile)), lasts };
  }
  const invalid = (severity: Problem['severity'], message: string): Problem => {
    return { code: 'ENCODING_INVALID', severity, file: path, line: lineOfFirstOdd(text), message };
  };
  if (fault && !fault.isText) return { problems: [invalid('error', fault.message)], lasts };
  const parsed = { ...parseSkill(text, path, as.name), lasts };
  return fault ? { ...parsed, problems: [...parsed.problems, invalid('warning', fault.message)] } : parsed;
}

/** The first part of a longer file, if the frontmatter ends in it: the rest need not become text. */
function beginningOf(bytes: Buffer): string | undefined {
  if (bytes.length <= BEGINNING_BYTES) return undefined;
  let end = BEGINNING_BYTES;
  // Not in the middle of a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const text = bytes.toString('utf8', 0, end);
  const { yaml, oddity, bodyOffset } = splitFrontmatter(text);
  return yaml !== undefined && oddity === undefined && bodyOffset < text.length ? text : undefined;
}

function refusal({ message, line }: Violation, file: string, profile: ValidationProfile): Problem {
  const code = profile === 'spec' ? 'SPEC_VIOLATION' : 'STRICT_VIOLATION';
  return { code, severity: 'error', file, line, message, details: { profile } };
}
