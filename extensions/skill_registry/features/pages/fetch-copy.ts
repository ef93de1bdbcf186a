import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Archive, originRefused } from '../../../../lib/fetch/index.ts';
import { makePrivateFolder, temporaryName } from '../../../../lib/files/index.ts';
import { lockedFiles } from '../install/lock.ts';
import { INDEX_PATH, type IncomingFile, originSkills, readOriginSkills } from '../install/opened-origin.ts';
import { fetchArtifact } from './open-page.ts';
import { askPage, inParallel, MAX_PAGE_BYTES, MAX_PAGE_FILES, type PageAnswer, readPage } from './page-index.ts';
import {
  type CopiedSkill,
  confirmCopy,
  copyKey,
  type FetchCopy,
  type FetchSkill,
  fetchedSkills,
  filesOfCopy,
  forgetFetched,
  forgetOtherParts,
  isIntact,
  isOfSkill,
  keptParts,
  noteFetched,
  type PageCopy,
  skillFolder,
  stampOf,
  writeCopy,
} from './well-known-copy.ts';

/** A page with at most so many skills is copied whole; of a larger one a skill comes when read. */
const MOST_WHOLE = 200;

/** Replaces the copy in one step, the first one also before bodies come. The next process goes on with what came. */
export const fetchCopy: FetchCopy = async ({ url, folder, damaged, signal, headers, ...given }) => {
  makePrivateFolder(folder);
  const before = given.before?.copy;
  const answer = await askPage(url, before, { signal, headers });
  const isSameCopy = (): true => {
    confirmCopy(folder);
    return true;
  };
  const isLeft = before !== undefined && isUnfinished(before);
  if (!answer && before && !isLeft && damaged.size === 0) return isSameCopy();
  let page: PageAnswer = answer ?? (before as PageCopy);
  const read = () => readPage(url, page, { signal, headers }, keptParts(folder));
  const { entries, refused, parts } = await read().catch(async (error: unknown) => {
    // The page may have changed since its head was read, and the parts that it named are gone.
    const now = page.inParts ? await askPage(url, undefined, { signal, headers }) : undefined;
    if (!now || now.index === page.index) throw error;
    page = now;
    return read();
  });
  if (page.inParts) forgetOtherParts(folder, new Set(parts.map(({ digest }) => digest)));
  const whole = (before?.skills ?? []).filter(({ digest }) => !damaged.has(digest));
  const known = knownSkills(folder, whole);
  const missing = entries.filter((entry) => !known.has(copyKey(entry)));
  const isSameAnswer = page.index === before?.index && (page.etag ?? before.etag) === before.etag;
  const isListed = isSameAnswer && damaged.size === 0 && !isLeft;
  if (isListed && missing.length === before?.entries.filter((entry) => !known.has(copyKey(entry))).length)
    return isSameCopy();
  const faults = [...refused];
  const here = entries.flatMap((entry) => known.get(copyKey(entry)) ?? []);
  const isLarge = entries.length > MOST_WHOLE;
  if (isLarge || !before) writeCopy(folder, { ...page, url, skills: here, entries: missing, faults: faults.sort() });
  if (isLarge) {
    tidyAfter(folder, here, before);
    return true;
  }
  const takeRoom = roomBeside(here);
  await inParallel(missing, signal, async (entry, ended) => {
    try {
      known.set(copyKey(entry), await fetchSkill({ url, folder, entry, signal: ended, headers }, takeRoom));
    } catch (error) {
      if (!isOfSkill(error)) throw error;
      faults.push((error as Error).message);
    }
  });
  const older = new Map(whole.map((skill) => [skill.name, skill]));
  const skills = entries.flatMap((entry) => known.get(copyKey(entry)) ?? older.get(entry.name) ?? []);
  writeCopy(folder, { ...page, url, skills, entries: [], faults: faults.sort() });
  tidyAfter(folder, skills, before);
  return faults.length === refused.length;
};

export async function fetchSkill(
  { url, folder, entry, signal, headers }: Parameters<FetchSkill>[0],
  takeRoom?: ReturnType<typeof roomBeside>,
): Promise<CopiedSkill> {
  const how = { from: `${url}/${INDEX_PATH}`, signal, headers };
  return keepSkill(folder, entry, await fetchArtifact(entry, how), takeRoom);
}

/** Writes the files of an artifact into the copy. @throws ORIGIN_REFUSED. */
export async function keepSkill(
  folder: string,
  entry: Pick<CopiedSkill, 'name' | 'digest'>,
  artifact: Archive,
  takeRoom?: ReturnType<typeof roomBeside>,
): Promise<CopiedSkill> {
  const files = await filesIn(artifact, entry.name);
  takeRoom?.(entry.name, files);
  const skill = writeCopiedSkill(folder, entry, files);
  noteFetched(folder, skill);
  return skill;
}

/** Removes what was unused for a day: folders of changed skills, and leftovers of killed processes. */
export function tidy(folder: string, skills: readonly CopiedSkill[], last: readonly CopiedSkill[]): void {
  const hexOf = ({ digest }: CopiedSkill): string => digest.slice('sha256:'.length);
  const used = new Set(skills.map(hexOf));
  const now = new Date();
  const all = join(folder, 'skills');
  for (const hex of new Set(last.map(hexOf)))
    if (!used.has(hex)) ignoreMissing(() => utimesSync(join(all, hex), now, now));
  ignoreMissing(() => {
    for (const name of readdirSync(all).filter((one) => !used.has(one))) {
      const path = join(all, name);
      ignoreMissing(() => {
        if (now.getTime() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
      });
    }
  });
}

// --- internal ---

/** Longer than a process needs to notice a new copy, or a caller uses a folder path. */
const KEPT_MS = 86_400_000;

/** Whether skills are missing that the copy was to have, or to list. */
function isUnfinished({ skills, entries, faults }: PageCopy): boolean {
  if (skills.length + entries.length <= MOST_WHOLE) return entries.length + faults.length > 0;
  return entries.length === 0 && faults.length > 0;
}

function knownSkills(folder: string, whole: readonly CopiedSkill[]): Map<string, CopiedSkill> {
  const known = new Map(whole.map((skill) => [copyKey(skill), skill]));
  for (const skill of fetchedSkills(folder)) {
    if (!known.has(copyKey(skill)) && isIntact(folder, skill))
      known.set(copyKey(skill), { ...skill, stamp: stampOf(folder, skill) });
  }
  return known;
}

/** @returns a function that counts the files of one more skill, and throws ORIGIN_REFUSED over the limit of a copy. */
function roomBeside(skills: readonly CopiedSkill[]): (name: string, files: readonly IncomingFile[]) => void {
  const sizes = skills.flatMap((skill) => filesOfCopy(skill).map(({ size }) => size));
  let [bytes, count] = [sizes.reduce((sum, size) => sum + size, 0), sizes.length];
  return (name, files) => {
    bytes += files.reduce((sum, file) => sum + file.bytes.length, 0);
    count += files.length;
    if (bytes <= MAX_PAGE_BYTES && count <= MAX_PAGE_FILES) return;
    const why = `the page has more than ${MAX_PAGE_BYTES} bytes or ${MAX_PAGE_FILES} files in all.`;
    throw originRefused(`"${name}"`, why);
  };
}

async function filesIn(artifact: Archive, name: string): Promise<readonly IncomingFile[]> {
  const [skill] = originSkills(artifact);
  if (skill?.folder !== '') throw originRefused(`"${name}"`, 'its artifact has no SKILL.md at its top.');
  return (await readOriginSkills(artifact, [skill])).flatMap(({ files }) => files);
}

/** The path is too long, or one file is a folder of another. */
const PATH_ERRORS: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'ENOTDIR', 'EEXIST', 'EISDIR', 'EINVAL']);
const IN_THE_WAY: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOTDIR']);
const ATTEMPTS = 5;

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}

/** Does not sync to disk: files that a crash truncated fail their digest check, and are fetched again. */
function writeCopiedSkill(
  folder: string,
  { name, digest }: Pick<CopiedSkill, 'name' | 'digest'>,
  files: readonly IncomingFile[],
): CopiedSkill {
  const skill = { name, digest, files: lockedFiles(files).files };
  if (!isIntact(folder, skill)) {
    // Its random name is unknown to others, so nobody can have put links into it.
    const temporary = join(folder, 'skills', temporaryName());
    try {
      for (const { path, bytes, executable } of files) {
        const file = join(temporary, path);
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, bytes, { flag: 'wx', mode: executable ? 0o700 : 0o600 });
      }
      moveIn(temporary, folder, skill);
    } catch (error) {
      if (PATH_ERRORS.has(codeOf(error)))
        throw originRefused(`"${name}"`, `its files cannot be written (${codeOf(error)}).`);
      throw error;
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }
  return { ...skill, stamp: stampOf(folder, skill) };
}

/** Replaces a damaged folder. Does nothing when another process was faster. */
function moveIn(temporary: string, folder: string, skill: Omit<CopiedSkill, 'stamp'>): void {
  const target = skillFolder(folder, skill);
  for (let attempt = 1; ; attempt++) {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    try {
      renameSync(temporary, target);
      return;
    } catch (error) {
      if (!IN_THE_WAY.has(codeOf(error)) || attempt === ATTEMPTS) throw error;
    }
    if (isIntact(folder, skill)) return;
    const aside = join(folder, 'skills', temporaryName());
    ignoreMissing(() => renameSync(target, aside));
    rmSync(aside, { recursive: true, force: true });
  }
}

function tidyAfter(folder: string, skills: readonly CopiedSkill[], before: PageCopy | undefined): void {
  const last = [...(before?.skills ?? []), ...fetchedSkills(folder)];
  forgetFetched(folder);
  tidy(folder, skills, last);
}

/** Another process may remove the same file. */
function ignoreMissing(use: () => void): void {
  try {
    use();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
