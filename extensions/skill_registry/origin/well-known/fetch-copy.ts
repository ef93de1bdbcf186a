import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { originRefused } from '../../../../lib/fetch/index.ts';
import { makePrivateFolder } from '../../../../lib/files/index.ts';
import {
  type CopiedSkill,
  confirmCopy,
  type FetchCopy,
  fetchedSkills,
  filesOfCopy,
  forgetFetched,
  forgetOtherParts,
  isIntact,
  keptParts,
  noteFetched,
  type PageCopy,
  readCopy,
  stampOf,
  writeCopy,
} from '../../sources/kinds/well-known-copy.ts';
import { type IncomingFile, originSkills, readOriginSkill } from '../opened-origin.ts';
import { inParallel } from './in-parallel.ts';
import { fetchArtifact, openArtifact } from './open-page.ts';
import {
  INDEX_PATH,
  type IndexEntry,
  MAX_PAGE_BYTES,
  MAX_PAGE_FILES,
  type PageIndex,
  readIndex,
} from './page-index.ts';
import { askPage, HEAD_PATH, type PageAnswer, readHead, readParts } from './page-parts.ts';
import { writeCopiedSkill } from './write-copied-skill.ts';

/**
 * Brings the copy of a page up to date: asks for the index by its ETag, and fetches only artifacts that the copy does not have. The
 * copy is replaced in one step at the end. What a process that ended early has fetched is used by the next one.
 */
export const fetchCopy: FetchCopy = async ({ url, folder, damaged, signal, onProgress }) => {
  makePrivateFolder(folder);
  const before = readCopy(folder);
  const from = `${url}/${INDEX_PATH}`;
  const answer = await askPage(url, before, signal);
  if (!answer && before && before.faults.length === 0 && damaged.size === 0) {
    confirmCopy(folder);
    return { isComplete: true };
  }
  const page = answer ?? (before as PageCopy);
  const { entries, refused } = await skillsOf(url, page, folder, signal);
  const whole = (before?.skills ?? []).filter(({ digest }) => !damaged.has(digest));
  const known = knownSkills(folder, whole);
  const missing = entries.filter((entry) => !known.has(copyKey(entry)));
  if (
    before &&
    !damaged.size &&
    missing.length === 0 &&
    page.index === before.index &&
    isSameEtag(before, answer?.etag)
  ) {
    confirmCopy(folder);
    return { isComplete: true };
  }
  const faults = [...refused];
  const room = roomBeside(entries.flatMap((entry) => known.get(copyKey(entry)) ?? []));
  const report = progressOf(url, missing.length, onProgress);
  await inParallel(missing, signal, async (entry, ended) => {
    try {
      const skill = await fetchSkill(folder, entry, from, ended, room);
      noteFetched(folder, skill);
      known.set(copyKey(entry), skill);
    } catch (error) {
      if (!isOfSkill(error)) throw error;
      faults.push((error as Error).message);
    }
    report();
  });
  const older = new Map(whole.map((skill) => [skill.name, skill]));
  const skills = entries.flatMap((entry) => known.get(copyKey(entry)) ?? older.get(entry.name) ?? []);
  const { index, etag, inParts } = page;
  writeCopy(folder, { url, etag, index, inParts, skills, faults: faults.sort() });
  tidy(folder, skills, before);
  return { isComplete: faults.length === refused.length };
};

// --- internal ---

/** Longer than a process needs to notice a replaced copy, and longer than anybody uses a folder whose path it got. */
const KEPT_MS = 86_400_000;

/** What the index has, or its parts, which are kept beside the copy. */
async function skillsOf(
  url: string,
  { index, inParts }: PageAnswer,
  folder: string,
  signal: AbortSignal,
): Promise<Omit<PageIndex, 'hasParts'>> {
  if (!inParts) return readIndex(Buffer.from(index), `${url}/${INDEX_PATH}`);
  const parts = readHead(Buffer.from(index), `${url}/${HEAD_PATH}`);
  const found = await readParts(url, parts, signal, keptParts(folder));
  forgetOtherParts(folder, new Set(parts.map(({ digest }) => digest)));
  return found;
}

function copyKey({ name, digest }: Pick<CopiedSkill, 'name' | 'digest'>): string {
  return `${digest} ${name}`;
}

function isSameEtag(before: PageCopy, etag: string | undefined): boolean {
  return etag === undefined || etag === before.etag;
}

/** The skills of the copy, and those that a process which ended early has fetched. */
function knownSkills(folder: string, whole: readonly CopiedSkill[]): Map<string, CopiedSkill> {
  const known = new Map(whole.map((skill) => [copyKey(skill), skill]));
  for (const skill of fetchedSkills(folder)) {
    if (!known.has(copyKey(skill)) && isIntact(folder, skill))
      known.set(copyKey(skill), { ...skill, stamp: stampOf(folder, skill) });
  }
  return known;
}

/** Takes the size of one more skill. @throws ORIGIN_REFUSED when the page has more than a copy may have. */
type Room = (name: string, files: readonly { readonly bytes: Buffer }[]) => void;

function roomBeside(skills: readonly CopiedSkill[]): Room {
  const sizes = skills.flatMap((skill) => filesOfCopy(skill).map(({ size }) => size));
  let [bytes, files] = [sizes.reduce((sum, size) => sum + size, 0), sizes.length];
  return (name, added) => {
    bytes += added.reduce((sum, file) => sum + file.bytes.length, 0);
    files += added.length;
    if (bytes > MAX_PAGE_BYTES || files > MAX_PAGE_FILES)
      throw originRefused(
        `"${name}"`,
        `the page has more than ${MAX_PAGE_BYTES} bytes or ${MAX_PAGE_FILES} files in all.`,
      );
  };
}

async function fetchSkill(
  folder: string,
  entry: IndexEntry,
  from: string,
  signal: AbortSignal,
  room: Room,
): Promise<CopiedSkill> {
  const files = await filesOf(entry, await fetchArtifact(entry, from, signal));
  room(entry.name, files);
  return writeCopiedSkill(folder, entry, files);
}

/** @throws ORIGIN_REFUSED. */
async function filesOf(entry: IndexEntry, bytes: Buffer): Promise<readonly IncomingFile[]> {
  const artifact = await openArtifact(bytes, entry);
  const [skill] = originSkills(artifact);
  if (skill?.folder !== '') throw originRefused(`"${entry.name}"`, 'its artifact has no SKILL.md at its top.');
  const { files } = await readOriginSkill(artifact, skill);
  return files;
}

/** Whether only this one skill cannot be had; else the address as a whole is away. */
function isOfSkill(error: unknown): boolean {
  if (isCodedError(error, 'ORIGIN_REFUSED')) return true;
  const status = isCodedError(error, 'ORIGIN_UNAVAILABLE') ? Number(error.details.status) : 0;
  return status >= 400 && status < 500 && status !== 429;
}

const REPORT_MS = 1_000;

function progressOf(url: string, total: number, onProgress: (line: string) => void): () => void {
  let [done, at] = [0, performance.now()];
  return () => {
    done += 1;
    if (performance.now() - at < REPORT_MS) return;
    at = performance.now();
    onProgress(`Fetching skills from ${url}: ${done} of ${total}`);
  };
}

/** Removes what nobody has used for a day: folders of skills that changed, and what processes that were killed have left. */
function tidy(folder: string, skills: readonly CopiedSkill[], before: PageCopy | undefined): void {
  forgetFetched(folder);
  const hexOf = ({ digest }: CopiedSkill): string => digest.slice('sha256:'.length);
  const used = new Set(skills.map(hexOf));
  const now = new Date();
  const all = join(folder, 'skills');
  for (const hex of new Set(before?.skills.map(hexOf)))
    if (!used.has(hex)) ignoreMissing(() => utimesSync(join(all, hex), now, now));
  ignoreMissing(() => {
    for (const name of readdirSync(all)) {
      if (used.has(name)) continue;
      const path = join(all, name);
      ignoreMissing(() => {
        if (now.getTime() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
      });
    }
  });
}

/** Another process may be removing the same. */
function ignoreMissing(use: () => void): void {
  try {
    use();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
