import { describeError, isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../lib/breaks/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { inspectSkill } from '../inspect/inspect-skill.ts';
import type { Finding, InspectedFile, Inspection } from '../inspect/types.ts';
import type { JudgedFile } from './types.ts';

export interface InspectedSkill {
  readonly digest: string;
  /** Of the first file. */
  readonly skillDigest: string;
  readonly inspection: Inspection;
  /** The digest of each file that was inspected, by path. */
  readonly files: ReadonlyMap<string, string>;
  /** Whether the judged file is as it lies there. */
  readonly isPresent: boolean;
}

type Read = () => Iterable<InspectedFile | Finding | undefined>;

/**
 * Inspects the files of one skill, unless their digest is known.
 *
 * @param judged - Takes the place of the file with its path. Default: all files are as they lie there.
 */
export async function inspectFiles(
  readAll: Read,
  knownBy: (digest: string) => Inspection | undefined,
  judged?: JudgedFile,
): Promise<InspectedSkill> {
  let isPresent = true;
  const read = judged ? withFile(readAll, judged, () => (isPresent = false)) : readAll;
  let found = await readFiles(read, KEPT_BYTES, judged);
  let inspection = knownBy(found.digest);
  if (!inspection) {
    // Read again, the files may be others: the digest is of those that are inspected.
    if (!found.kept) found = await readFiles(read, Number.POSITIVE_INFINITY, judged);
    inspection = await inspectOrBlock(found.kept ?? [], found.notes);
  }
  const { digest, skillDigest, files } = found;
  return { digest, skillDigest, files, inspection, isPresent };
}

// --- internal ---

/** Files of a skill that are kept in memory while its digest is looked up. */
const KEPT_BYTES = 16 * 1024 * 1024;

interface ReadFiles extends Pick<InspectedSkill, 'digest' | 'skillDigest' | 'files'> {
  /** Undefined when they have more bytes than are kept. */
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
      lines.push(`size:${one.message} ${inOneLine(one.file)}`);
      continue;
    }
    const digest = one.bytes === judged?.bytes ? judged.digest : digestOf(one.bytes);
    skillDigest ||= digest;
    files.set(one.path, digest);
    lines.push(`${digest} ${one.bytes.length} ${one.executable ? 755 : 644} ${inOneLine(one.path)}`);
    bytes += one.bytes.length;
    if (bytes <= keptBytes) kept.push(one);
  }
  const digest = digestOf(
    lines
      .sort()
      .map((line) => `${line}\n`)
      .join(''),
  );
  return { digest, skillDigest, files, kept: bytes <= keptBytes ? kept : undefined, notes };
}

/** @param differs - Called when another file lies there, or none. */
function withFile(read: Read, { path, bytes }: JudgedFile, differs: () => void): Read {
  return function* () {
    let isThere = false;
    for (const one of read()) {
      const isJudged = one !== undefined && !('rule' in one) && one.path === path;
      if (isJudged && !bytesEqual(one.bytes, bytes)) differs();
      isThere ||= isJudged;
      yield isJudged ? { ...one, bytes } : one;
    }
    if (isThere) return;
    differs();
    yield { path, bytes };
  };
}

function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Two lists of files never have the same lines: a line break in a name does not begin a line. */
function inOneLine(path: string): string {
  return /\n|^"/.test(path) ? JSON.stringify(path) : path;
}

/** Files that cannot be inspected are held: an attacker could make them so. */
async function inspectOrBlock(files: readonly InspectedFile[], notes: readonly Finding[]): Promise<Inspection> {
  const found = await runRules(files);
  const findings = [...found.findings, ...notes];
  return { verdict: found.verdict === 'info' && notes.length > 0 ? 'warn' : found.verdict, findings };
}

async function runRules(files: readonly InspectedFile[]): Promise<Inspection> {
  try {
    return await inspectSkill(files);
  } catch (error) {
    if (isCodedError(error)) throw error;
    const message = `The inspection failed: ${oneLine(describeError(error), 200)}`;
    const finding: Finding = { rule: 'inspection-failed', level: 'block', file: 'SKILL.md', excerpt: '', message };
    return { verdict: 'block', findings: [finding] };
  }
}
