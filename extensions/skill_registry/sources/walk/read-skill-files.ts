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
import { type FileStamp, type FoundSkillFile, fileStamp } from './find-skill-files.ts';
import type { CacheKey, KnownFiles, ParsedSkillFile, SkillFileCache, SkillFileEntry } from './skill-file-cache.ts';

/**
 * Reads SKILL.md files and keeps the results. A file with unchanged stats is not opened again; with a cache this is also true for
 * the next process.
 *
 * A file that was changed less than two seconds before it was read could change again with the same size and time. It is read
 * again each time, until it has not been changed for two seconds.
 */
export interface SkillFileReader {
  /**
   * @param name - Used as the name when the file gives none. Default: the name of the directory.
   * @returns the same object as long as the file does not change.
   */
  read(found: FoundSkillFile, maxBytes: number, name?: string): ParsedSkillFile;
  /** Forgets files that were not read since the last call, and writes new results to the cache. */
  sweep(): void;
}

export interface SkillFileReaderOptions {
  /** Under `spec` and `strict` a file with an error has no header. Default: `lenient`. */
  readonly profile?: ValidationProfile | undefined;
  /** Keeps the results for the next process, under `cachePath`. Default: nothing is kept. */
  readonly cache?: SkillFileCache | undefined;
  /** The folder or file of the source, absolute. */
  readonly cachePath?: string;
  /** Other settings that decide which files are found there. Sources of one folder with different settings have separate rows. */
  readonly setting?: string;
  /** The files are the registry's own (`OpenOptions.own`). Default: false. */
  readonly own?: boolean;
}

export function createSkillFileReader(options: SkillFileReaderOptions = {}): SkillFileReader {
  const { profile = 'lenient', cache, cachePath = '', setting = '', own = false } = options;
  const cacheKey: CacheKey = { path: cachePath, readAs: `${profile} ${setting}` };
  let previous: KnownFiles | undefined;
  let current = new Map<string, SkillFileEntry>();
  let changed = new Map<string, SkillFileEntry | undefined>();
  return {
    read(found, maxBytes, given) {
      previous ??= cache?.load(cacheKey, maxBytes) ?? new Map();
      const before = current.get(found.file) ?? previous.get(found.file);
      const entry = readEntry(found, before, maxBytes, { profile, given, own });
      current.set(found.file, entry);
      if (entry !== before) changed.set(found.file, entry);
      return entry.file;
    },
    sweep() {
      if (previous && current.size < previous.size + changed.size) {
        for (const path of previous.keys()) if (!current.has(path)) changed.set(path, undefined);
      }
      previous = current;
      if (changed.size > 0) cache?.keep(cacheKey, changed);
      changed = new Map();
      current = new Map();
    },
  };
}

// --- internal ---

function readEntry(
  found: FoundSkillFile,
  before: SkillFileEntry | undefined,
  maxBytes: number,
  as: ParseAs,
): SkillFileEntry {
  const path = found.file;
  const whole = before?.whole ?? before?.file.header;
  try {
    const { stamp: fileOnly, settled } = found.stamp ?? readStamp(found.realFile);
    // The target of a link is part of the stamp.
    const stamp = found.realFile === path ? fileOnly : `${fileOnly} ${found.realFile}`;
    if (before?.settled && before.stamp === stamp) return before;
    const bytes = readContained(dirname(found.realFile), basename(found.realFile), maxBytes, {
      own: as.own,
      into: BUFFER,
    });
    const digest = `sha256:${hash('sha256', bytes, 'hex')}`;
    if (before?.file.digest === digest && before.stamp === stamp && !before.dependsOnOtherFiles) {
      return before.settled === settled ? before : { ...before, settled };
    }
    const { dependsOnFileOnly, ...parsed } = parse(bytes, found, as);
    const kept = whole && keptHeader(whole, parsed, bytes.length);
    const file = { ...(kept ?? parsed), digest, bytes: bytes.length };
    const read = parsed.header && !kept ? { file } : { file, whole };
    return dependsOnFileOnly
      ? { stamp, settled, ...read }
      : { stamp, settled: false, dependsOnOtherFiles: true, ...read };
  } catch (error) {
    const message = `SKILL.md was not loaded. ${describeError(error)} ${remedyOf(error)}`;
    const problem: Problem = { code: 'SKILL_FILE_UNREADABLE', severity: 'error', file: path, message };
    return { stamp: '', settled: false, file: { problems: [problem], digest: '', bytes: 0 }, whole };
  }
}

/**
 * A file without the end of its frontmatter may be only partly saved. Then the header of its last complete version is used, so that
 * for example a hidden skill stays hidden. Undefined for any other file.
 */
function keptHeader(whole: SkillHeader, { header, problems }: ParsedSkill, bytes: number): ParsedSkill | undefined {
  const isHalf = ({ code }: Problem): boolean =>
    code === 'FRONTMATTER_UNCLOSED' || (code === 'FRONTMATTER_MISSING' && bytes > 0 && bytes < OPENING_FENCE.length);
  const half = problems.find(isHalf);
  if (!half) return undefined;
  const modelInvocable = whole.modelInvocable && header?.modelInvocable !== false;
  const message = `${half.message} Until then its last name, description and settings are used.`;
  return { header: { ...whole, modelInvocable }, problems: [{ ...half, message }] };
}

/** One file is read after the other, and its bytes are not kept. */
const BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

const OPENING_FENCE = '---\n';
const LINE_FEED = 0x0a;

/** Bytes in which the end of the frontmatter is looked for; most have a few hundred. */
const BEGINNING_BYTES = 8_192;

interface ParseAs {
  readonly profile: ValidationProfile;
  /** The name of a Markdown file with any name that is a skill; undefined for a directory. */
  readonly given: string | undefined;
  readonly own: boolean;
}

function nameOf({ dir }: FoundSkillFile, given: string | undefined): string {
  return given ?? basename(dir);
}

function remedyOf(error: unknown): string {
  if (isCodedError(error, 'RESOURCE_TOO_LARGE')) {
    return 'Move detail into files beside it, or raise limits.file_bytes.';
  }
  return 'Make it a regular file that may be read, or remove its folder.';
}

interface Verdict {
  readonly violations: readonly Violation[];
  /** False: the verdict also depends on other files. */
  readonly dependsOnFileOnly: boolean;
}

/** The rules of the profile that a file breaks; none under `lenient`. */
function violationsOf({ text, fault }: SkillText, found: FoundSkillFile, { profile, given }: ParseAs): Verdict {
  const lasting = (...violations: readonly Violation[]): Verdict => ({ violations, dependsOnFileOnly: true });
  if (profile === 'lenient') return lasting();
  if (given === undefined && findSkillMd(found.dir) === undefined) {
    return lasting({ message: 'Missing required file: SKILL.md', line: 1 });
  }
  if (fault?.refusal) return lasting({ message: fault.refusal, line: lineOfFirstInvalid(text) });
  const name = nameOf(found, given);
  if (profile === 'spec') return lasting(...specViolations(text, name));
  const { violations, declaresFiles } = strictViolations(text, found.realDir, name);
  // The files that the frontmatter declares are checked, so the verdict can change without SKILL.md.
  return { violations, dependsOnFileOnly: !declaresFiles };
}

/** 1-based line of the first U+FFFD, which is the first invalid character unless the author wrote one before; else 1. */
function lineOfFirstInvalid(text: string): number {
  return text.slice(0, Math.max(0, text.indexOf('\ufffd'))).split(/\r\n|\n|\r/).length;
}

function readStamp(file: string): FileStamp {
  const at = Date.now();
  return fileStamp(statSync(file), at);
}

interface SkillText {
  readonly text: string;
  /** Present when not all bytes are UTF-8 text; `text` has U+FFFD for invalid bytes. */
  readonly fault: EncodingFault | undefined;
}

function parse(bytes: Buffer, found: FoundSkillFile, as: ParseAs): ParsedSkill & Pick<Verdict, 'dependsOnFileOnly'> {
  const path = found.file;
  const fault = encodingFault(bytes);
  const beginning = fault || as.profile !== 'lenient' ? undefined : beginningOf(bytes);
  if (beginning !== undefined) {
    return {
      ...parseSkill(beginning, path, nameOf(found, as.given), () => bytes.toString('utf8')),
      dependsOnFileOnly: true,
    };
  }
  const text = bytes.toString('utf8');
  const { violations, dependsOnFileOnly } = violationsOf({ text, fault }, found, as);
  if (violations.length > 0) {
    return { problems: violations.map((violation) => refusal(violation, path, as.profile)), dependsOnFileOnly };
  }
  const invalid = (severity: Problem['severity'], message: string): Problem => {
    return { code: 'ENCODING_INVALID', severity, file: path, line: lineOfFirstInvalid(text), message };
  };
  if (fault && !fault.isText) return { problems: [invalid('error', fault.message)], dependsOnFileOnly };
  const parsed = { ...parseSkill(text, path, nameOf(found, as.given)), dependsOnFileOnly };
  return fault ? { ...parsed, problems: [...parsed.problems, invalid('warning', fault.message)] } : parsed;
}

/** A file up to the line after its frontmatter; the rest is not decoded, which would take longer than anything else here. */
function beginningOf(bytes: Buffer): string | undefined {
  const fence = bytes.subarray(0, BEGINNING_BYTES).indexOf('\n---');
  const lineEnd = fence === -1 ? -1 : bytes.indexOf(LINE_FEED, fence + 1);
  if (lineEnd === -1) return undefined;
  // One byte more, as what ends with the fence could go on; a character is not cut.
  let end = lineEnd + 2;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1;
  const text = bytes.toString('utf8', 0, end);
  const { yaml, oddity, bodyOffset } = splitFrontmatter(text);
  return yaml !== undefined && oddity === undefined && bodyOffset < text.length ? text : undefined;
}

function refusal({ message, line }: Violation, file: string, profile: ValidationProfile): Problem {
  const code = profile === 'spec' ? 'SPEC_VIOLATION' : 'STRICT_VIOLATION';
  return { code, severity: 'error', file, line, message, details: { profile } };
}
