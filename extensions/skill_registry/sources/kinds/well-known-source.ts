import { basename } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
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
import { NO_FILES, ScannedSkills, type SkillSource, type SourceScan } from '../source.ts';
import { FILES_A_STEP, SkillFileReader } from '../walk/read-skill-files.ts';
import type { SkillFileCache } from '../walk/skill-file-cache.ts';
import { sameScan } from './directory-source.ts';
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
  const { id, url, validation: profile, cache } = options;
  const folder = futureRealPath(options.folder);
  const page = createPageRefresh({ ...options, folder });
  const openCopy = createCopyOpener(folder);
  const reader = new SkillFileReader({ profile, cache, cachePath: folder, own: true }, ({ dir }) => {
    const name = basename(dir);
    return { id: name, source: id, qualifiedId: `${id}:${name}` };
  });
  const own = new ScannedSkills<CopiedSkill>();
  let opened: OpenedCopy = NO_COPY;
  let last: SourceScan | undefined;
  /** Whoever has changed the copy, nobody is handed bytes that the page did not have. */
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
  return {
    id,
    kind: 'well-known',
    location: url,
    broughtIn: true,
    async scan({ file_bytes: maxBytes }) {
      await page.refreshIfDue(stateOf(await openCopy()));
      opened = await openCopy();
      const { skills, copied, problems: found } = await readCopied(opened, folder, reader, maxBytes);
      const problems = [...page.problems(stateOf(opened)), ...faultsOf(opened.copy?.faults ?? [], url), ...found];
      const scan = sameScan(last, { skills, problems });
      if (scan !== last) own.replace(copied);
      last = scan;
      return scan;
    },
    readSkill: (skill, maxBytes) => read(skill, SKILL_FILE, maxBytes),
    listing(skill) {
      const copied = own.find(skill);
      if (!copied) return NO_FILES;
      const files = filesOfCopy(copied).filter(({ path }) => path !== SKILL_FILE);
      return { files: files.map(({ path, size }) => ({ path, size })), leftOut: 0 };
    },
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

function stateOf({ copy, answeredAt, damaged }: OpenedCopy): CopyState {
  return { isThere: copy !== undefined, answeredAt, damaged: new Set([...damaged].map(({ digest }) => digest)) };
}

/** Reads and compares the copy when it was replaced; else what it was is used again. */
function createCopyOpener(folder: string): () => Promise<OpenedCopy> {
  let identity = '';
  let last = NO_COPY;
  return async () => {
    const stats = statsOfCopy(folder);
    if (!stats) return NO_COPY;
    const { ino, size, birthtimeMs, mtimeMs: answeredAt } = stats;
    // The times of the file change whenever the page has answered.
    const now = `${ino} ${size} ${birthtimeMs}`;
    if (now !== identity || !last.copy) {
      const copy = readCopy(folder);
      const damaged = new Set(await damagedSkills(folder, copy?.skills ?? []));
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

/** Skills whose SKILL.md does not have its digest are added to `damaged`. */
async function readCopied(
  { copy, damaged }: OpenedCopy,
  folder: string,
  reader: SkillFileReader,
  maxBytes: number,
): Promise<ReadCopy> {
  const copied = new Map<string, CopiedSkill>();
  const skills: Skill[] = [];
  const problems: Problem[] = [];
  for (const [index, one] of (copy?.skills ?? []).entries()) {
    if (index % FILES_A_STEP === 0) await takeBreak();
    const dir = skillFolder(folder, one);
    const file = `${dir}/${SKILL_FILE}`;
    const read = damaged.has(one) ? undefined : reader.read({ dir, file, realDir: dir, realFile: file }, maxBytes);
    if (read?.file.header && !isSkillFileOf(one, read.file.digest)) damaged.add(one);
    if (!read || damaged.has(one)) {
      problems.push(damagedCopy(one, dir));
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
