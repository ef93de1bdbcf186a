import type { Problem } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import {
  futureRealPath,
  isInside,
  readContained,
  relativeSegments,
  resourceNotFound,
} from '../../../../lib/files/index.ts';
import type { ValidationProfile } from '../../config/config.ts';
import type { Skill } from '../../skill/skill.ts';
import { makeSkill } from '../make-skill.ts';
import { createScannedSkills, type SkillListing, type SkillSource, type SourceScan } from '../source.ts';
import type { FoundSkillFile } from '../walk/find-skill-files.ts';
import { createSkillFileReader } from '../walk/read-skill-files.ts';
import type { ParsedSkillFile, SkillFileCache } from '../walk/skill-file-cache.ts';
import { type CopyState, createPageRefresh, type PageRefreshOptions } from './page-refresh.ts';
import {
  type CopiedSkill,
  damagedSkills,
  filesOfCopy,
  type PageCopy,
  readCopy,
  skillFolder,
  statsOfCopy,
} from './well-known-copy.ts';

export interface WellKnownSourceOptions extends PageRefreshOptions {
  readonly id: string;
  readonly validation: ValidationProfile;
  /** The same as for a directory source. */
  readonly cache?: SkillFileCache | undefined;
}

/**
 * A source of the skills of a well-known page. They are read from a copy in the user's cache directory, whose files are compared with
 * their digests when it is opened, and each again whenever it is read.
 *
 * A scan asks the page again when the interval has passed, and never waits for it but the first time: at most 1 second, or 10 while
 * there is no copy. Then it goes on in the background, and the source reports the change. When the page does not answer, the copy is
 * used, and a problem says since when. Problems: ORIGIN_UNAVAILABLE, ORIGIN_REFUSED, and those of reading skill files.
 */
export function createWellKnownSource(options: WellKnownSourceOptions): SkillSource {
  const { id, url } = options;
  const folder = futureRealPath(options.folder);
  const page = createPageRefresh({ ...options, folder });
  const openCopy = createCopyOpener(folder);
  const readSkills = createCopyReader(options, folder);
  const own = createScannedSkills<CopiedSkill>();
  let opened: OpenedCopy = NO_COPY;
  let last: SourceScan | undefined;
  /** Nobody is handed bytes that the page did not have, whoever has changed the copy. */
  const read = (skill: Skill, path: string, maxBytes: number): Buffer => {
    const copied = own.get(skill);
    const file = filesOfCopy(copied).find((one) => one.path === path);
    if (!file) throw resourceNotFound(path);
    const bytes = readContained(skillFolder(folder, copied), path, maxBytes, { own: true });
    if (digestOf(bytes) === file.digest) return bytes;
    opened.damaged.add(copied);
    throw resourceNotFound(
      path,
      'the copy of it on this machine was changed, and is fetched again at the next refresh',
    );
  };
  const listing = (skill: Skill): SkillListing => {
    const copied = own.find(skill);
    const files = copied ? filesOfCopy(copied).filter(({ path }) => path !== SKILL_FILE) : [];
    return { files: files.map(({ path, size }) => ({ path, size })), leftOut: 0 };
  };
  const stateOf = ({ copy, answeredAt, damaged }: OpenedCopy): CopyState => {
    return { isThere: copy !== undefined, answeredAt, damaged: new Set([...damaged].map(({ digest }) => digest)) };
  };
  return {
    id,
    kind: 'well-known',
    location: url,
    broughtIn: true,
    async scan({ file_bytes: maxBytes }, takeBreak) {
      opened = await openCopy(takeBreak);
      await page.refreshIfDue(stateOf(opened));
      opened = await openCopy(takeBreak);
      const { skills, copied, problems: found } = await readSkills(opened, maxBytes, takeBreak);
      const problems = [...page.problems(stateOf(opened)), ...faultsOf(opened.copy?.faults ?? [], url), ...found];
      if (last && isSame(last, { skills, problems })) return last;
      own.replace(copied);
      last = { skills, problems };
      return last;
    },
    readSkill: (skill, maxBytes) => read(skill, SKILL_FILE, maxBytes),
    resources: (skill) => listing(skill).files,
    listing,
    readResource: (skill, path, maxBytes) => read(skill, relativeSegments(path).join('/'), maxBytes),
    // Nothing in the user's cache directory is watched: the next poll sees what another process has fetched.
    watchFolders: () => [],
    subscribe: page.subscribe,
    contains: (path) => isInside(path, folder),
  };
}

// --- internal ---

const SKILL_FILE = 'SKILL.md';

interface OpenedCopy {
  readonly copy: PageCopy | undefined;
  /** See `CopyState`. */
  readonly answeredAt: number;
  /** Skills whose files do not have their digests. */
  readonly damaged: Set<CopiedSkill>;
}

const NO_COPY: OpenedCopy = { copy: undefined, answeredAt: 0, damaged: new Set() };

/** Reads and compares the copy when it was replaced; else what it was is used again. */
function createCopyOpener(folder: string): (takeBreak: () => Promise<void>) => Promise<OpenedCopy> {
  let identity = '';
  let last = NO_COPY;
  return async (takeBreak) => {
    const stats = statsOfCopy(folder);
    if (!stats) return NO_COPY;
    const { ino, size, birthtimeMs, mtimeMs: answeredAt } = stats;
    // The times of the file change whenever the page has answered.
    const now = `${ino} ${size} ${birthtimeMs}`;
    if (now !== identity || !last.copy) {
      const copy = readCopy(folder);
      const damaged = new Set(await damagedSkills(folder, copy?.skills ?? [], takeBreak));
      identity = now;
      last = { copy, answeredAt, damaged };
    }
    last = { ...last, answeredAt };
    return last;
  };
}

interface ReadCopy extends SourceScan {
  /** By qualified id. */
  readonly copied: ReadonlyMap<string, CopiedSkill>;
}

/** Reading a file takes about 0.05 ms. */
const FILES_A_STEP = 16;

function createCopyReader(
  { id, validation: profile, cache }: WellKnownSourceOptions,
  folder: string,
): (copy: OpenedCopy, maxBytes: number, takeBreak: () => Promise<void>) => Promise<ReadCopy> {
  const reader = createSkillFileReader({ profile, cache, cachePath: folder, own: true });
  /** As long as a file does not change, its skill is the same object. */
  const made = new WeakMap<ParsedSkillFile, Skill>();
  const skillOf = (
    read: ParsedSkillFile,
    { name }: CopiedSkill,
    { dir, realFile }: FoundSkillFile,
  ): Skill | undefined => {
    const known = made.get(read);
    if (known || !read.header) return known;
    const identity = { id: name, source: id, qualifiedId: `${id}:${name}`, file: realFile, dir, realFile };
    const skill = makeSkill(read.header, identity, read.digest, read.bytes);
    made.set(read, skill);
    return skill;
  };
  return async ({ copy, damaged }, maxBytes, takeBreak) => {
    const copied = new Map<string, CopiedSkill>();
    const skills: Skill[] = [];
    const problems: Problem[] = [];
    for (const [index, one] of (copy?.skills ?? []).entries()) {
      if (index % FILES_A_STEP === 0) await takeBreak();
      const dir = skillFolder(folder, one);
      const file = `${dir}/${SKILL_FILE}`;
      const found = { dir, file, realDir: dir, realFile: file };
      const read = damaged.has(one) ? undefined : reader.read(found, maxBytes, one.name);
      if (read?.header && !isSkillFileOf(one, read.digest)) damaged.add(one);
      if (!read || damaged.has(one)) {
        problems.push(damagedCopy(one, dir));
        continue;
      }
      problems.push(...read.problems);
      const skill = skillOf(read, one, found);
      if (!skill) continue;
      copied.set(skill.qualifiedId, one);
      skills.push(skill);
    }
    reader.sweep();
    return { skills, copied, problems };
  };
}

function isSkillFileOf({ files }: CopiedSkill, digest: string): boolean {
  return files.some((line) => line.startsWith(`${digest} `) && line.endsWith(` ${SKILL_FILE}`));
}

function damagedCopy({ name }: CopiedSkill, file: string): Problem {
  const message = `The copy of the skill ${name} on this machine has other bytes than the page, so it is left out until it has been fetched again.`;
  return { code: 'ORIGIN_REFUSED', severity: 'error', file, message };
}

/** The most that are named. */
const MAX_FAULTS = 20;

function faultsOf(faults: readonly string[], file: string): readonly Problem[] {
  const more =
    faults.length > MAX_FAULTS ? [`${faults.length - MAX_FAULTS} more skills of this page cannot be used.`] : [];
  return [...faults.slice(0, MAX_FAULTS), ...more].map((message) => ({
    code: 'ORIGIN_REFUSED',
    severity: 'error',
    file,
    message,
  }));
}

function isSame(before: SourceScan, after: SourceScan): boolean {
  const isSameSkills =
    before.skills.length === after.skills.length && before.skills.every((skill, at) => skill === after.skills[at]);
  return isSameSkills && JSON.stringify(before.problems) === JSON.stringify(after.problems);
}
