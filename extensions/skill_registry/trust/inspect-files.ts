import { describeError, isCodedError } from 'skill-registry/kernel';
import { createBreaks } from '../../../lib/breaks/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { inspectSkill } from '../inspect/inspect-skill.ts';
import type { Finding, InspectedFile, Inspection } from '../inspect/types.ts';

export interface InspectedSkill {
  readonly digest: string;
  /** Of the first file. */
  readonly skillDigest: string;
  readonly inspection: Inspection;
}

/** Inspects the files of one skill, unless their digest is known. */
export async function inspectFiles(
  read: () => Iterable<InspectedFile | Finding | undefined>,
  knownBy: (digest: string) => Inspection | undefined,
): Promise<InspectedSkill> {
  const takeBreak = createBreaks();
  const lines: string[] = [];
  const kept: InspectedFile[] = [];
  const notes: Finding[] = [];
  let [bytes, skillDigest] = [0, ''];
  for (const one of read()) {
    await takeBreak();
    if (!one) continue;
    if ('rule' in one) {
      notes.push(one);
      lines.push(`size:${one.message} ${one.file}`);
      continue;
    }
    const digest = digestOf(one.bytes);
    skillDigest ||= digest;
    lines.push(`${digest} ${one.bytes.length} ${one.executable ? 755 : 644} ${one.path}`);
    bytes += one.bytes.length;
    if (bytes <= KEPT_BYTES) kept.push(one);
  }
  const digest = digestOf(
    lines
      .sort()
      .map((line) => `${line}\n`)
      .join(''),
  );
  const known = knownBy(digest);
  if (known) return { digest, skillDigest, inspection: known };
  const again = function* (): Generator<InspectedFile | undefined> {
    for (const one of read()) yield one && 'rule' in one ? undefined : one;
  };
  return { digest, skillDigest, inspection: await inspectOrBlock(bytes <= KEPT_BYTES ? kept : again(), notes) };
}

// --- internal ---

/** Files of a skill that are kept in memory while its digest is looked up. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** Files that cannot be inspected are held: an attacker could make them so. */
async function inspectOrBlock(
  files: Iterable<InspectedFile | undefined>,
  notes: readonly Finding[],
): Promise<Inspection> {
  const found = await runRules(files);
  const findings = [...found.findings, ...notes];
  return { verdict: found.verdict === 'info' && notes.length > 0 ? 'warn' : found.verdict, findings };
}

async function runRules(files: Iterable<InspectedFile | undefined>): Promise<Inspection> {
  try {
    return await inspectSkill(files);
  } catch (error) {
    if (isCodedError(error)) throw error;
    const message = `The inspection failed: ${oneLine(describeError(error), 200)}`;
    const finding: Finding = { rule: 'inspection-failed', level: 'block', file: 'SKILL.md', excerpt: '', message };
    return { verdict: 'block', findings: [finding] };
  }
}
