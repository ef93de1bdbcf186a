import { describeError, isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf, digestOfLines } from '../../../../lib/digest/index.ts';
import { oneLine } from '../../../../lib/text/index.ts';
import type { Finding, InspectedFile, JudgedFile } from '../../core/skill/guard.ts';
import { inspectSkill } from './inspect/inspect-skill.ts';
import type { Inspection } from './inspect/rule.ts';

export interface InspectedSkill {
  readonly digest: string;
  /** Of SKILL.md, the first file. */
  readonly skillDigest: string;
  readonly inspection: Inspection;
  readonly files: ReadonlyMap<string, string>;
  /** Whether the judged file is the same on disk. */
  readonly isPresent: boolean;
}

/** A file, or a note about one that was not read; undefined is a break. */
export type ReadPart = InspectedFile | Finding | undefined;
type Read = () => Iterable<ReadPart>;

/** Of all files that are inspected together, in any order; equals `InspectedSkill.digest`. */
export function digestOfRead(read: Iterable<ReadPart>): string {
  const lines: string[] = [];
  for (const one of read) if (one) lines.push('rule' in one ? lineOfNote(one) : lineOfFile(one, digestOf(one.bytes)));
  return digestOfLines(lines);
}

/** Inspects unless the digest is known. `judged` replaces the file with its path. */
export async function inspectFiles(
  readAll: Read,
  knownBy: (digest: string) => Inspection | undefined = () => undefined,
  judged?: JudgedFile,
): Promise<InspectedSkill> {
  let isPresent = true;
  const read = judged ? withFile(readAll, judged, () => (isPresent = false)) : readAll;
  let found = await readFiles(read, KEPT_BYTES, judged);
  let inspection = knownBy(found.digest);
  if (!inspection) {
    // A second read may give other files: the digest must be of those that are inspected.
    if (!found.kept) found = await readFiles(read, Number.POSITIVE_INFINITY, judged);
    inspection = await inspectOrBlock(found.kept ?? [], found.notes);
  }
  const { digest, skillDigest, files } = found;
  return { digest, skillDigest, files, inspection, isPresent };
}

// --- internal ---

const KEPT_BYTES = 16 * 1024 * 1024;

interface ReadFiles extends Pick<InspectedSkill, 'digest' | 'skillDigest' | 'files'> {
  /** Undefined when there are more bytes. */
  readonly kept: readonly InspectedFile[] | undefined;
  /** About what was not read. */
  readonly notes: readonly Finding[];
}

async function readFiles(read: Read, keptBytes: number, judged: JudgedFile | undefined): Promise<ReadFiles> {
  const lines: string[] = [];
  const files = new Map<string, string>();
  const kept: InspectedFile[] = [];
  const notes: Finding[] = [];
  let [bytes, skillDigest] = [0, ''];
  for (const one of read()) {
    await takeBreak();
    if (!one) continue;
    if ('rule' in one) {
      notes.push(one);
      lines.push(lineOfNote(one));
      continue;
    }
    const digest = one.bytes === judged?.bytes ? judged.digest : digestOf(one.bytes);
    skillDigest ||= digest;
    files.set(one.path, digest);
    lines.push(lineOfFile(one, digest));
    bytes += one.bytes.length;
    if (bytes <= keptBytes) kept.push(one);
  }
  return { digest: digestOfLines(lines), skillDigest, files, kept: bytes <= keptBytes ? kept : undefined, notes };
}

function lineOfNote({ message, file }: Finding): string {
  return `size:${message} ${inOneLine(file)}`;
}

function lineOfFile({ path, bytes, executable }: InspectedFile, digest: string): string {
  return `${digest} ${bytes.length} ${executable ? 755 : 644} ${inOneLine(path)}`;
}

function withFile(read: Read, { path, bytes }: JudgedFile, differs: () => void): Read {
  return function* () {
    let isThere = false;
    for (const one of read()) {
      const isJudged = one !== undefined && !('rule' in one) && one.path === path;
      if (isJudged && Buffer.compare(one.bytes, bytes) !== 0) differs();
      isThere ||= isJudged;
      yield isJudged ? { ...one, bytes } : one;
    }
    if (isThere) return;
    differs();
    yield { path, bytes };
  };
}

/** A line break in a name must not begin a line: different lists of files must have different lines. */
function inOneLine(path: string): string {
  return /\n|^"/.test(path) ? JSON.stringify(path) : path;
}

/** Files that cannot be inspected are held: an attacker could make them so. */
async function inspectOrBlock(files: readonly InspectedFile[], notes: readonly Finding[]): Promise<Inspection> {
  try {
    const { verdict, findings, reach } = await inspectSkill(files);
    return {
      verdict: verdict === 'info' && notes.length > 0 ? 'warn' : verdict,
      findings: [...findings, ...notes],
      reach,
    };
  } catch (error) {
    if (isCodedError(error)) throw error;
    const message = `The inspection failed: ${oneLine(describeError(error), 200)}`;
    const finding: Finding = { rule: 'inspection-failed', level: 'block', file: 'SKILL.md', excerpt: '', message };
    return { verdict: 'block', findings: [finding, ...notes], reach: [] };
  }
}
