import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { readContained } from '../../../../../lib/files/index.ts';
import { splitFrontmatter } from '../../skill/frontmatter.ts';
import { type ParsedSkill, parseSkill, type SkillHeader } from '../../skill/parse-skill.ts';
import type { Profile } from '../../skill/profile.ts';
import { isUsableId, type Skill, unusableIdText } from '../../skill/skill.ts';
import { makeSkill } from '../make-skill.ts';
import type { SourceScan } from '../source.ts';
import { encodingFault } from './encoding-fault.ts';
import { type FoundSkillFile, fileStamp } from './find-skill-files.ts';
import type { CacheKey, KnownFiles, SkillFileCache, SkillFileEntry } from './skill-file-cache.ts';

export interface SkillFileReaderOptions {
  /** A file that breaks its rules has no header. Default: none, every file that can be loaded has one. */
  readonly profile?: Profile | undefined;
  readonly cache?: SkillFileCache | undefined;
  readonly cachePath?: string;
  /** Other settings that affect which files are found; they separate the rows of sources of one folder. */
  readonly setting?: string;
  /** The files are the registry's own (`OpenOptions.own`). Default: false. */
  readonly own?: boolean;
}

type IdentityOf = (found: FoundSkillFile) => Pick<Skill, 'id' | 'source' | 'qualifiedId'>;

/** Reading a file takes about 0.05 ms, so a step takes about 0.8 ms. */
export const FILES_A_STEP = 16;
const LARGE_FILE = 128 * 1024;

/** Does not read a file with unchanged stats again, unless it was so new that it could change with equal stats. */
export class SkillFileReader {
  readonly #options: SkillFileReaderOptions;
  readonly #identityOf: IdentityOf;
  readonly #cacheKey: CacheKey;
  #previous: KnownFiles | undefined;
  #current = new Map<string, SkillFileEntry>();
  #changed = new Map<string, SkillFileEntry | undefined>();

  constructor(options: SkillFileReaderOptions, identityOf: IdentityOf) {
    const { profile, cachePath = '', setting = '' } = options;
    this.#options = options;
    this.#identityOf = identityOf;
    this.#cacheKey = { path: cachePath, readAs: `${profile?.name ?? 'lenient'} ${setting}` };
  }

  /** Forgets all other files. Problems: SKILL_ID_INVALID, and those of the files. */
  async readAll(files: readonly FoundSkillFile[], maxBytes: number): Promise<SourceScan> {
    const skills: Skill[] = [];
    const problems: Problem[] = [];
    let count = 0;
    for (const found of files) {
      const { file, skill } = this.read(found, maxBytes);
      if (count++ % FILES_A_STEP === 0 || file.bytes > LARGE_FILE)
        await takeBreak(count, files.length, 'Reading skills');
      if (file.problems.length > 0) problems.push(...file.problems);
      if (skill) skills.push(skill);
      else if (file.header) {
        const message = unusableIdText(found.bare ? 'file' : 'directory', this.#identityOf(found).id);
        problems.push({ code: 'SKILL_ID_INVALID', severity: 'error', file: found.file, message });
      }
    }
    this.sweep();
    return { skills, problems };
  }

  /** The same objects while the file does not change; no skill when it is invalid, or its id cannot be used. */
  read(found: FoundSkillFile, maxBytes: number): SkillFileEntry {
    this.#previous ??= this.#options.cache?.load(this.#cacheKey, maxBytes) ?? new Map();
    const before = this.#current.get(found.file) ?? this.#previous.get(found.file);
    const entry = readEntry(found, before, maxBytes, this.#options);
    this.#current.set(found.file, entry);
    if (entry !== before) this.#changed.set(found.file, entry);
    const { file, skill } = entry;
    const dir = found.bare ? null : found.realDir;
    if (!file.header || (skill && skill.dir === dir && skill.realFile === found.realFile)) return entry;
    const { id, source, qualifiedId } = this.#identityOf(found);
    const identity = { id, source, qualifiedId, file: found.file, dir, realFile: found.realFile };
    entry.skill = isUsableId(id) ? makeSkill(file.header, identity, file.digest, file.bytes) : undefined;
    return entry;
  }

  /** Reads a skill of the last run again. @returns undefined when its file has a problem, or is a link. */
  again(skill: Skill, maxBytes: number): Skill | undefined {
    const { file, realFile, dir: realDir } = skill;
    if (realDir === null || realFile !== join(realDir, basename(file))) return undefined;
    const entry = this.read({ dir: dirname(file), file, realDir, realFile }, maxBytes);
    if (!entry.file.header || entry.file.problems.length > 0) return undefined;
    if (entry.file.digest === skill.digest) entry.skill = skill;
    return entry.skill;
  }

  /** Forgets files not read since the last call, and writes new results to the cache. */
  sweep(): void {
    const [previous, current, changed] = [this.#previous, this.#current, this.#changed];
    if (previous && current.size < previous.size + changed.size) {
      for (const path of previous.keys()) if (!current.has(path)) changed.set(path, undefined);
    }
    if (changed.size > 0) this.#options.cache?.keep(this.#cacheKey, changed);
    this.#previous = current;
    this.#changed = new Map();
    this.#current = new Map();
  }
}

// --- internal ---

function readEntry(
  found: FoundSkillFile,
  before: SkillFileEntry | undefined,
  maxBytes: number,
  options: SkillFileReaderOptions,
): SkillFileEntry {
  const whole = before?.whole ?? before?.file.header;
  try {
    const { stamp: fileOnly, settled } = found.stamp ?? fileStamp(statSync(found.realFile), Date.now());
    const stamp = found.realFile === found.file ? fileOnly : `${fileOnly} ${found.realFile}`;
    if (before?.settled && before.stamp === stamp) return before;
    const given = { own: options.own === true, into: BUFFER };
    const bytes = readContained(dirname(found.realFile), basename(found.realFile), maxBytes, given);
    const digest = `sha256:${hash('sha256', bytes, 'hex')}`;
    if (before?.file.digest === digest && before.stamp === stamp)
      return before.settled === settled ? before : { ...before, settled };
    const { dependsOnOtherFiles, ...parsed } = parse(bytes, found, options.profile);
    const kept = whole && keptHeader(whole, parsed, bytes.length);
    const file = { ...(kept ?? parsed), digest, bytes: bytes.length };
    const read = { skill: undefined, file, whole: parsed.header && !kept ? undefined : whole };
    // Without a stamp, it is read each time.
    return dependsOnOtherFiles ? { stamp: '', settled: false, ...read } : { stamp, settled, ...read };
  } catch (error) {
    const remedy = isCodedError(error, 'RESOURCE_TOO_LARGE')
      ? 'Move detail into files beside it, or raise limits.file_bytes.'
      : 'Make it a regular file that may be read, or remove its folder.';
    const message = `SKILL.md was not loaded. ${describeError(error)} ${remedy}`;
    const problem: Problem = { code: 'SKILL_FILE_UNREADABLE', severity: 'error', file: found.file, message };
    const file = { problems: [problem], digest: '', bytes: 0 };
    return { stamp: '', settled: false, skill: undefined, file, whole };
  }
}

/** A file without the end of its frontmatter may be half saved: its last header stays, so hidden skills stay hidden. */
function keptHeader(whole: SkillHeader, { header, problems }: ParsedSkill, bytes: number): ParsedSkill | undefined {
  const isHalf = ({ code }: Problem): boolean =>
    code === 'FRONTMATTER_UNCLOSED' || (code === 'FRONTMATTER_MISSING' && bytes > 0 && bytes < OPENING_FENCE.length);
  const half = problems.find(isHalf);
  if (!half) return undefined;
  const modelInvocable = whole.modelInvocable && header?.modelInvocable !== false;
  const message = `${half.message} Until then its last name, description and settings are used.`;
  return { header: { ...whole, modelInvocable, isKept: true }, problems: [{ ...half, message }] };
}

/** Shared: files are read one after the other, and their bytes are not kept. */
const BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

const OPENING_FENCE = '---\n';
const LINE_FEED = 0x0a;

const BEGINNING_BYTES = 8_192;

type Parsed = ParsedSkill & { readonly dependsOnOtherFiles: boolean };

function parse(bytes: Buffer, found: FoundSkillFile, profile: Profile | undefined): Parsed {
  const { dir, file, realDir } = found;
  const name = found.bare ? basename(file).replace(/\.md$/i, '') : basename(dir);
  const fault = encodingFault(bytes);
  const beginning = fault || profile ? undefined : beginningOf(bytes);
  if (beginning !== undefined)
    return { ...parseSkill(beginning, file, name, () => bytes.toString('utf8')), dependsOnOtherFiles: false };
  const text = bytes.toString('utf8');
  const invalidLine = fault ? text.slice(0, Math.max(0, text.indexOf('\ufffd'))).split(/\r\n|\n|\r/).length : 1;
  const onDisk = { refusal: fault?.refusal, invalidLine, dir: found.bare ? undefined : dir, realDir };
  const { violations = [], declaresFiles: dependsOnOtherFiles = false } = profile?.check(text, name, onDisk) ?? {};
  if (profile && violations.length > 0) {
    const details = { profile: profile.name };
    const problems = violations.map(({ line, message }): Problem => {
      return { code: profile.code, severity: 'error', file, line, message, details };
    });
    return { problems, dependsOnOtherFiles };
  }
  const invalid = (severity: Problem['severity'], message: string): Problem => {
    return { code: 'ENCODING_INVALID', severity, file, line: invalidLine, message };
  };
  if (fault && !fault.isText) return { problems: [invalid('error', fault.message)], dependsOnOtherFiles };
  const parsed = parseSkill(text, file, name);
  const problems = fault ? [...parsed.problems, invalid('warning', fault.message)] : parsed.problems;
  return { ...parsed, problems, dependsOnOtherFiles };
}

/** The file up to the line after its frontmatter. Decoding the rest would take longer than anything else here. */
function beginningOf(bytes: Buffer): string | undefined {
  const fence = bytes.subarray(0, BEGINNING_BYTES).indexOf('\n---');
  const lineEnd = fence === -1 ? -1 : bytes.indexOf(LINE_FEED, fence + 1);
  if (lineEnd === -1) return undefined;
  // One more byte shows whether the fence line ends there; then to the end of a character.
  let end = lineEnd + 2;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1;
  const text = bytes.toString('utf8', 0, end);
  const { yaml, oddity, bodyOffset } = splitFrontmatter(text);
  return yaml !== undefined && oddity === undefined && bodyOffset < text.length ? text : undefined;
}
