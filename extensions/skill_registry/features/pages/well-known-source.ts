import { basename } from 'node:path';
import { type CodedError, describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import type { OriginHeaders } from '../../../../lib/fetch/index.ts';
import {
  futureRealPath,
  isInside,
  readContained,
  relativeSegments,
  resourceNotFound,
} from '../../../../lib/files/index.ts';
import { userCacheDirectory } from '../../../../lib/trust/index.ts';
import { abortAfter, backOff } from '../../../../lib/waiting/index.ts';
import { parseSkill } from '../../core/skill/parse-skill.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { type DirectorySourceOptions, sameScan } from '../../core/sources/kinds/directory-source.ts';
import { makeSkill } from '../../core/sources/make-skill.ts';
import { NO_FILES, ownSkill, type SkillSource, type SourceScan, settledWithin } from '../../core/sources/source.ts';
import { FILES_A_STEP, SkillFileReader } from '../../core/sources/walk/read-skill-files.ts';
import type { SecretHeaders } from '../install/secret-headers.ts';
import type { IndexEntry } from './page.ts';
import {
  type CopiedSkill,
  copyFolder,
  copyKey,
  damagedSkills,
  type FetchCopy,
  type FetchSkill,
  fetchedSkills,
  filesOfCopy,
  isOfSkill,
  type PageCopy,
  readCopy,
  skillFolder,
  statsOfCopy,
} from './well-known-copy.ts';

export interface WellKnownSourceOptions extends Pick<DirectorySourceOptions, 'cache' | 'id' | 'validation'> {
  readonly url: string;
  /** Milliseconds before the page is asked again. */
  readonly intervalMs: number;
  /** Report no problem while the copy is missing. */
  readonly optional: boolean;
  /** Loaded when a page is asked. */
  readonly fetching: () => Promise<{ readonly fetchCopy: FetchCopy; readonly fetchSkill: FetchSkill }>;
  /** Of a page that wants a secret. `fill` throws a `CodedError` when it may not be sent, or is not set. */
  readonly secret?: { readonly names: SecretHeaders; fill(): OriginHeaders } | undefined;
}

/**
 * Checks file digests when it opens the copy, and at every read. Only the first scan waits for the page: 1 second, or
 * 10 without a copy; later answers are reported as changes. If the page fails, the copy stays in use. What is not in it
 * is listed as the index has it. Problems: ORIGIN_UNAVAILABLE, ORIGIN_REFUSED, and those of reading files.
 */
export function createWellKnownSource(options: WellKnownSourceOptions): SkillSource {
  const { id, url, validation: profile, cache } = options;
  const folder = futureRealPath(copyFolder(userCacheDirectory(), url, options.secret?.names));
  const page = new PageRefresh({ ...options, folder });
  const reader = new SkillFileReader({ profile, cache, cachePath: folder, own: true }, ({ dir }) => {
    const name = basename(dir);
    return { id: name, source: id, qualifiedId: `${id}:${name}` };
  });
  let own = new Map<string, CopiedSkill>();
  let away = new Map<string, AwaySkill>();
  let opened: OpenedCopy = NO_COPY;
  let last: SourceScan | undefined;
  /** Never returns bytes that the page did not have, even if somebody changed the copy. */
  const read = (skill: Skill, path: string, maxBytes: number): Buffer => {
    const copied = ownSkill(own, skill);
    const file = filesOfCopy(copied).find((one) => one.path === path);
    if (!file) throw resourceNotFound(path);
    const bytes = readContained(skillFolder(folder, copied), path, maxBytes, { own: true });
    if (digestOf(bytes) === file.digest) return bytes;
    opened.damaged.add(copied);
    throw resourceNotFound(path, WAS_CHANGED);
  };
  return {
    id,
    kind: 'well-known',
    location: url,
    broughtIn: true,
    async scan({ file_bytes: maxBytes }) {
      opened = await page.current();
      const { copied, ...found } = await readCopied(opened, folder, reader, maxBytes);
      const listed = await listAway(opened.away, away, options);
      const skills = [...found.skills, ...[...listed.values()].map(({ skill }) => skill)];
      // In one order, whatever is here.
      skills.sort((one, other) => (one.id < other.id ? -1 : 1));
      const problems = [...page.problems(opened), ...faultsOf(opened.copy?.faults ?? [], url), ...found.problems];
      const scan = sameScan(last, { skills, problems });
      [own, away, last] = [copied, listed, scan];
      return scan;
    },
    async bring(skill) {
      await page.bring(ownSkill(away, skill).entry);
    },
    rescan(skill, { file_bytes: maxBytes }) {
      const listed = away.get(skill.qualifiedId);
      const copied = listed?.skill === skill ? page.fetched.get(copyKey(listed.entry)) : undefined;
      const read = copied && readOne(copied, folder, reader, maxBytes);
      if (!last || !copied || !read?.skill || read.file.problems.length > 0) return undefined;
      const { skill: next } = read;
      own.set(next.qualifiedId, copied);
      away.delete(next.qualifiedId);
      last = { ...last, skills: last.skills.map((one) => (one === skill ? next : one)) };
      return { skill: next, scan: last };
    },
    readSkill: (skill, maxBytes) => read(skill, SKILL_FILE, maxBytes),
    listing(skill) {
      const copied = own.get(skill.qualifiedId);
      if (!copied) return NO_FILES;
      const files = filesOfCopy(copied).filter(({ path }) => path !== SKILL_FILE);
      return { files: files.map(({ path, size }) => ({ path, size })), leftOut: 0 };
    },
    readResource: (skill, path, maxBytes) => read(skill, relativeSegments(path).join('/'), maxBytes),
    // The user's cache directory is not watched: the next scan sees what another process fetched.
    watchFolders: () => [],
    subscribe: (changed) => page.subscribe(changed),
    contains: (path) => isInside(path, folder),
  };
}

// --- internal ---

const SKILL_FILE = 'SKILL.md';
const WAS_CHANGED = 'the copy of it on this machine was changed, and is fetched again at the next refresh';

/** A skill whose files come when it is read. */
interface AwaySkill {
  readonly entry: IndexEntry;
  readonly skill: Skill;
}

interface OpenedCopy {
  readonly copy: PageCopy | undefined;
  readonly here: readonly CopiedSkill[];
  /** Of the others. */
  readonly away: readonly IndexEntry[];
  /** When the page last confirmed the copy, in milliseconds since the epoch; 0 without a copy. */
  readonly answeredAt: number;
  readonly damaged: Set<CopiedSkill>;
}

const NO_COPY: OpenedCopy = { copy: undefined, here: [], away: [], answeredAt: 0, damaged: new Set() };

/** How long the first scan waits, with a copy and without. */
const WAIT_MS = 1_000;
const FIRST_COPY_MS = 10_000;
/** For one skill that somebody waits for. */
const READ_MS = 30_000;
/** Longest retry delay in milliseconds, unless the interval is longer. */
const MAX_MS = 900_000;

const STILL_FETCHING =
  'The list of its skills is still being fetched, so none are shown yet. What has come is kept: the next start goes on from there.';

type Failure = Pick<Problem, 'code' | 'message'> & { readonly at: number };

class PageRefresh {
  readonly #options: WellKnownSourceOptions & { readonly folder: string };
  readonly #ended = new AbortController();
  /** What has come since the copy was written, by `copyKey`. */
  readonly fetched = new Map<string, CopiedSkill>();
  readonly #coming = new Map<string, Promise<void>>();
  #opened = NO_COPY;
  /** Of the files that `#opened` was read from. */
  #identity: readonly string[] = [];
  #changed: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #isFirst = true;
  /** A scan waits and will report the result itself. */
  #isAwaited = false;
  #failed: Failure | undefined;
  #failures = 0;
  /** An artifact was not what its entry says: the page may have changed. */
  #isOutdated = false;
  /** Why its secret cannot be sent. Then its copy is not used either. */
  #noSecret: CodedError | undefined;
  #headers: OriginHeaders | undefined;
  #notBefore = 0;

  constructor(options: WellKnownSourceOptions & { readonly folder: string }) {
    this.#options = options;
  }

  /** Asks the page if that is due. */
  async current(): Promise<OpenedCopy> {
    try {
      this.#headers = this.#options.secret?.fill();
      this.#noSecret = undefined;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      this.#noSecret = error;
      return NO_COPY;
    }
    const { copy, answeredAt, damaged } = await this.#open();
    const now = Date.now();
    const isOld = !copy || damaged.size > 0 || Math.abs(now - answeredAt) >= this.#options.intervalMs;
    const isDue = this.#isOutdated || (isOld && now >= this.#notBefore);
    if (isDue && this.#asking === undefined && !this.#ended.signal.aborted)
      this.#asking = this.#ask(new Set([...damaged].map(({ digest }) => digest)));
    if (this.#asking !== undefined && this.#isFirst) {
      this.#isAwaited = true;
      await settledWithin(this.#asking, copy ? WAIT_MS : FIRST_COPY_MS);
      this.#isAwaited = false;
    }
    this.#isFirst = false;
    return this.#open();
  }

  async #open(): Promise<OpenedCopy> {
    const { folder } = this.#options;
    const stats = statsOfCopy(folder);
    if (!stats) return NO_COPY;
    const { ino, size, birthtimeMs, mtimeMs: answeredAt } = stats;
    const journal = statsOfCopy(folder, 'fetched.jsonl');
    // mtime is left out: it changes with every answer of the page.
    const identity = [`${ino} ${size} ${birthtimeMs}`, `${journal?.ino} ${journal?.size}`];
    const isSame = identity.map((one, at) => this.#opened.copy !== undefined && one === this.#identity[at]);
    if (isSame.every(Boolean)) this.#opened = { ...this.#opened, answeredAt };
    else {
      const copy = isSame[0] ? this.#opened.copy : readCopy(folder);
      this.#identity = identity;
      this.fetched.clear();
      for (const one of fetchedSkills(folder)) this.fetched.set(copyKey(one), one);
      const entries = copy?.entries ?? [];
      const come = entries.flatMap((entry) => this.fetched.get(copyKey(entry)) ?? []);
      const here = [...(copy?.skills ?? []), ...come];
      const away = come.length === 0 ? entries : entries.filter((entry) => !this.fetched.has(copyKey(entry)));
      this.#opened = { copy, here, away, answeredAt, damaged: new Set(await damagedSkills(folder, here)) };
    }
    return this.#opened;
  }

  /** Once for all who ask at once. */
  bring(entry: IndexEntry): Promise<void> {
    const key = copyKey(entry);
    const coming = this.#coming.get(key) ?? this.#fetch(entry).finally(() => this.#coming.delete(key));
    this.#coming.set(key, coming);
    return coming;
  }

  async #fetch(entry: IndexEntry): Promise<void> {
    const { url, folder, fetching, secret } = this.#options;
    const signal = abortAfter(READ_MS, this.#ended.signal);
    try {
      const { fetchSkill } = await fetching();
      const copied = await fetchSkill({ url, folder, entry, signal, headers: secret?.fill() });
      this.fetched.set(copyKey(copied), copied);
    } catch (error) {
      this.#isOutdated ||= isOfSkill(error);
      if (this.#isOutdated) this.#changed?.();
      throw error;
    }
  }

  problems({ copy, answeredAt }: OpenedCopy): readonly Problem[] {
    const { url, optional } = this.#options;
    if (this.#noSecret) {
      const { code, message } = this.#noSecret;
      return [{ code, severity: 'error', file: url, message }];
    }
    if (!copy && this.#asking !== undefined)
      return [{ code: 'ORIGIN_UNAVAILABLE', severity: 'warning', file: url, message: STILL_FETCHING }];
    if (!this.#failed || this.#failed.at < answeredAt || (!copy && optional)) return [];
    return [problemOf(this.#failed, url, copy ? new Date(answeredAt).toISOString() : undefined)];
  }

  subscribe(changed: () => void): () => void {
    this.#changed = changed;
    return () => {
      this.#changed = undefined;
      this.#ended.abort();
    };
  }

  async #ask(damaged: ReadonlySet<string>): Promise<void> {
    const { url, folder, intervalMs, fetching } = this.#options;
    const { signal } = this.#ended;
    const before = this.#failed?.message;
    let isComplete = false;
    this.#isOutdated = false;
    try {
      const { fetchCopy } = await fetching();
      ({ isComplete } = await fetchCopy({ url, folder, damaged, signal, headers: this.#headers }));
      this.#failed = undefined;
    } catch (error) {
      this.#failed = failureOf(error);
    }
    this.#failures = isComplete ? 0 : this.#failures + 1;
    const again = { firstMs: intervalMs, maxMs: Math.max(intervalMs, MAX_MS), jitter: true };
    this.#notBefore = Date.now() + (isComplete ? intervalMs : backOff(this.#failures, again));
    this.#asking = undefined;
    const isNews = this.#failed === undefined || this.#failed.message !== before;
    if (isNews && !this.#isAwaited && !signal.aborted) this.#changed?.();
  }
}

function failureOf(error: unknown): Failure {
  const at = Date.now();
  const isOfPage = isCodedError(error, 'ORIGIN_UNAVAILABLE') || isCodedError(error, 'ORIGIN_REFUSED');
  if (isOfPage) return { code: error.code, message: error.message, at };
  const message = `The copy cannot be written: ${describeError(error)}. Remove the cause; the next look tries again.`;
  return { code: 'SOURCE_FAILED', message, at };
}

function problemOf({ code, message }: Failure, url: string, answered: string | undefined): Problem {
  const effect =
    answered === undefined
      ? 'There is no copy of its skills on this machine, so none are shown; it is asked again from time to time.'
      : `Its skills are used as they were when it last answered, on ${answered}.`;
  const severity = answered !== undefined && code === 'ORIGIN_UNAVAILABLE' ? 'warning' : 'error';
  return { code, severity, file: url, message: `${message.replace(/(?<![.?])$/, '.')} ${effect}` };
}

/** Adds skills to `damaged` whose SKILL.md has another digest. */
async function readCopied({ here, damaged }: OpenedCopy, folder: string, reader: SkillFileReader, maxBytes: number) {
  const copied = new Map<string, CopiedSkill>();
  const skills: Skill[] = [];
  const problems: Problem[] = [];
  for (const [index, one] of here.entries()) {
    if (index % FILES_A_STEP === 0) await takeBreak();
    const read = damaged.has(one) ? undefined : readOne(one, folder, reader, maxBytes);
    if (!read) {
      damaged.add(one);
      const message = `The copy of the skill ${one.name} on this machine has other bytes than the page, so it is left out until it has been fetched again.`;
      problems.push({ code: 'ORIGIN_REFUSED', severity: 'error', file: skillFolder(folder, one), message });
      continue;
    }
    problems.push(...read.file.problems);
    if (!read.skill) continue;
    copied.set(read.skill.qualifiedId, one);
    skills.push(read.skill);
  }
  reader.sweep();
  return { skills, copied, problems };
}

/** Undefined when its SKILL.md is not the one that was fetched. */
function readOne(one: CopiedSkill, folder: string, reader: SkillFileReader, maxBytes: number) {
  const dir = skillFolder(folder, one);
  const file = `${dir}/${SKILL_FILE}`;
  const read = reader.read({ dir, file, realDir: dir, realFile: file }, maxBytes);
  const isOfPage = (line: string): boolean =>
    line.startsWith(`${read.file.digest} `) && line.endsWith(` ${SKILL_FILE}`);
  return read.file.header && !one.files.some(isOfPage) ? undefined : read;
}

/** By qualified id; the same objects while their entries are the same. */
async function listAway(
  entries: readonly IndexEntry[],
  before: ReadonlyMap<string, AwaySkill>,
  { id: source, url }: Pick<WellKnownSourceOptions, 'id' | 'url'>,
): Promise<Map<string, AwaySkill>> {
  const listed = new Map<string, AwaySkill>();
  for (const [index, entry] of entries.entries()) {
    if (index % FILES_A_STEP === 0) await takeBreak();
    const { name: id, description, digest } = entry;
    const qualifiedId = `${source}:${id}`;
    const known = before.get(qualifiedId);
    const isSame = known?.entry.digest === digest && known.entry.description === description;
    const skill = isSame ? known.skill : awaySkill(entry, { id, source, qualifiedId, file: `${url}#${id}` });
    if (skill) listed.set(qualifiedId, { entry, skill });
  }
  return listed;
}

/** Undefined when nothing of its description can be seen. Its digest and size are those of what is known of it. */
function awaySkill(
  { name, description, digest }: IndexEntry,
  identity: Pick<Skill, 'id' | 'source' | 'qualifiedId' | 'file'>,
): Skill | undefined {
  const text = `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}\n---\n`;
  const { header } = parseSkill(text, identity.file, name);
  const known = Buffer.from(`${digest}\n${text}`);
  const made = header && makeSkill(header, { ...identity, dir: null, realFile: null }, digestOf(known), known.length);
  return made && Object.assign(made, { remote: 'until-read' as const });
}

const MAX_FAULTS = 20;

function faultsOf(faults: readonly string[], file: string): readonly Problem[] {
  const left = faults.length - MAX_FAULTS;
  const more = left > 0 ? [`${left} more skills of this page cannot be used.`] : [];
  return [...faults.slice(0, MAX_FAULTS), ...more].map((message) => {
    return { code: 'ORIGIN_REFUSED', severity: 'error', file, message };
  });
}
