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
import { userCacheDirectory } from '../../../../lib/trust/index.ts';
import { parseSkill } from '../../core/skill/parse-skill.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { sameScan } from '../../core/sources/kinds/directory-source.ts';
import { makeSkill } from '../../core/sources/make-skill.ts';
import { NO_FILES, ownSkill, type SkillSource, type SourceScan } from '../../core/sources/source.ts';
import { FILES_A_STEP, SkillFileReader } from '../../core/sources/walk/read-skill-files.ts';
import type { IndexEntry } from './page-index.ts';
import { NO_COPY, type OpenedCopy, PageRefresh, type WellKnownSourceOptions } from './page-refresh.ts';
import { type CopiedSkill, copyFolder, copyKey, filesOfCopy, skillFolder } from './well-known-copy.ts';

export interface WellKnownSource extends SkillSource {
  /** Of the artifact that the skill came from, or comes from when it is read. */
  artifactOf(skill: Skill): string | undefined;
  /** Of a skill as it is now; pages with few skills keep none. */
  entryOf(skill: Skill): IndexEntry | undefined;
  /** Asks again and again, where the origin can wait for news. */
  follow(signal: AbortSignal): Promise<void>;
}

/**
 * Checks file digests when it opens the copy, and at every read. Only the first scan waits for the page: 1 second, or
 * 10 without a copy; later answers are reported as changes. If the page fails, the copy stays in use. What is not in it
 * is listed as the index has it. Problems: ORIGIN_UNAVAILABLE, ORIGIN_REFUSED, and those of reading files.
 */
export function createWellKnownSource(options: WellKnownSourceOptions): WellKnownSource {
  const { id, kind = 'well-known', url, profile, cache, copyOf = options.secret?.names } = options;
  const folder = futureRealPath(copyFolder(userCacheDirectory(), url, copyOf));
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
    kind,
    location: url,
    broughtIn: true,
    async scan({ file_bytes: maxBytes }) {
      opened = await page.current();
      const { copied, ...found } = await readCopied(opened, folder, reader, maxBytes);
      const listed = await listAway(opened.away, away, options);
      const skills = [...found.skills, ...[...listed.values()].map(({ skill }) => skill)];
      // In one order, whatever is here.
      skills.sort((one, other) => (one.id < other.id ? -1 : 1));
      const more = options.moreProblems?.(opened.copy) ?? [];
      const problems = [
        ...page.problems(opened),
        ...more,
        ...faultsOf(opened.copy?.faults ?? [], url),
        ...found.problems,
      ];
      const scan = sameScan(last, { skills, problems });
      [own, away, last] = [copied, listed, scan];
      return scan;
    },
    artifactOf: ({ qualifiedId: id }) => own.get(id)?.digest ?? away.get(id)?.entry.digest,
    entryOf({ id: name, qualifiedId, digest }) {
      const copied = own.get(qualifiedId);
      const listed = away.get(qualifiedId);
      if (!copied) return listed?.skill.digest === digest ? listed.entry : undefined;
      if (!filesOfCopy(copied).some((one) => one.path === SKILL_FILE && one.digest === digest)) return undefined;
      const entry = page.entry(name);
      return entry?.digest === copied.digest ? entry : undefined;
    },
    follow: (signal) => page.follow(signal),
    async bring(skill) {
      await page.bring(ownSkill(away, skill).entry);
    },
    rescan(skill, { file_bytes: maxBytes }) {
      const { qualifiedId } = skill;
      const entry = page.entry(skill.id);
      if (!entry || !last?.skills.includes(skill)) return undefined;
      const copied = page.fetched.get(copyKey(entry));
      const read = copied && readOne(copied, folder, reader, maxBytes);
      const listed = copied ? undefined : awaySkill(entry, away.get(qualifiedId), options);
      const next = (read ?? listed)?.skill;
      if (!next || read?.file.problems.length) return undefined;
      for (const known of [own, away]) known.delete(qualifiedId);
      if (copied) own.set(qualifiedId, copied);
      else if (listed) away.set(qualifiedId, listed);
      if (next !== skill) last = { ...last, skills: last.skills.map((one) => (one === skill ? next : one)) };
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
    subscribe: (changed) => page.subscribe((names) => changed(names?.map((name) => `${id}:${name}`))),
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
  options: Pick<WellKnownSourceOptions, 'id' | 'url'>,
): Promise<Map<string, AwaySkill>> {
  const listed = new Map<string, AwaySkill>();
  for (const [index, entry] of entries.entries()) {
    if (index % FILES_A_STEP === 0) await takeBreak();
    const qualifiedId = `${options.id}:${entry.name}`;
    const one = awaySkill(entry, before.get(qualifiedId), options);
    if (one) listed.set(qualifiedId, one);
  }
  return listed;
}

/** Undefined when nothing of its description can be seen. Its digest and size are those of what is known of it. */
function awaySkill(
  entry: IndexEntry,
  before: AwaySkill | undefined,
  { id: source, url }: Pick<WellKnownSourceOptions, 'id' | 'url'>,
): AwaySkill | undefined {
  const { name, description, digest, tags = [] } = entry;
  if (before?.entry.digest === digest && before.entry.description === description) return { ...before, entry };
  const fields = Object.entries({ name, description, ...(tags.length > 0 && { tags }) });
  const text = `---\n${fields.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join('')}---\n`;
  const file = `${url}#${name}`;
  const { header } = parseSkill(text, file, name);
  if (!header) return undefined;
  const identity = { id: name, source, qualifiedId: `${source}:${name}`, file, dir: null, realFile: null };
  const known = Buffer.from(`${digest}\n${text}`);
  const skill = makeSkill(header, identity, digestOf(known), known.length);
  return { entry, skill: Object.assign(skill, { remote: 'until-read' as const }) };
}

const MAX_FAULTS = 20;

function faultsOf(faults: readonly string[], file: string): readonly Problem[] {
  const left = faults.length - MAX_FAULTS;
  const more = left > 0 ? [`${left} more skills of this page cannot be used.`] : [];
  return [...faults.slice(0, MAX_FAULTS), ...more].map((message) => {
    return { code: 'ORIGIN_REFUSED', severity: 'error', file, message };
  });
}
