import { createHash } from 'node:crypto';
import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { createBreaks } from '../../../lib/breaks/index.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { openTrust } from '../../../lib/trust/index.ts';
import type { Finding, InspectedFile, Inspection } from '../inspect/types.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import { decide, type Inspected, isAllowed } from './approvals.ts';
import { openInspections, type PlaceEntry } from './inspections.ts';
import type { SkillTrust, TrustDecision } from './types.ts';

/** The files of skills, as they lie on disk now. */
export interface SkillFiles {
  /** Equal as long as no file has changed; empty when that cannot be told from the stats. */
  stamp(skill: Skill): string;
  /** All files, SKILL.md first, read one by one, and what was not read. @throws RESOURCE_NOT_FOUND when SKILL.md is gone. */
  read(skill: Skill): Iterable<InspectedFile | Finding>;
}

export interface HoldsOptions {
  readonly files: SkillFiles;
  /** Whether it was installed, or comes from a package, a pack or an address. */
  readonly isBroughtIn: (skill: Skill) => boolean;
  /** False: what is not inspected yet is not inspected by `prepare`. Default: true. */
  readonly inspects?: boolean;
  /** Where inspections are kept (`inspectionsFile`); undefined: in memory. */
  readonly file: string | undefined;
}

/** Which skills are held: no agent is given them until a person allows what was found in them. */
export interface Holds {
  /**
   * Inspects what has to be inspected before it is first shown: what was brought in, what was held before, and after the first call
   * also what is new or changed, unless that is much.
   */
  prepare(skills: Iterable<Skill>): Promise<void>;
  /** Why a skill is held, as far as is known now; undefined when it is not. */
  heldBecause(skill: Skill): string | undefined;
  /** Inspects the present files of a skill, unless they are known. @returns Why it is held. */
  check(skill: Skill): Promise<string | undefined>;
  /**
   * Checks each skill whose present SKILL.md was not checked by this process, in slices. A new call ends a running one.
   *
   * @returns true as soon as one is found that `skills` have in another state; false at the end.
   */
  checkAll(skills: readonly Skill[], signal: AbortSignal): Promise<boolean>;
  /** What is known of the present files of a skill. @throws RESOURCE_NOT_FOUND. */
  trustOf(skill: Skill): Promise<SkillTrust>;
  /** The present files of a skill. */
  filesOf(skill: Skill): readonly InspectedFile[];
  /** The `block` findings of files, without those that are allowed for this skill. */
  blocksIn(skill: Skill | undefined, files: readonly InspectedFile[]): Promise<readonly Finding[]>;
  /** @throws INVALID_ARGUMENT when the digest is another one, or nothing holds the skill; TRUST_UNUSABLE. */
  decide(action: 'allow' | 'revoke', skill: Skill, decision: TrustDecision): Promise<SkillTrust>;
  problems(): readonly Problem[];
  close(): void;
}

/** So many new or changed skills are inspected before a snapshot shows them; more are shown, and inspected at once after that. */
const CHANGED_AT_ONCE = 16;
/** Files of a skill that are kept in memory while its digest is looked up. */
const KEPT_BYTES = 16 * 1024 * 1024;

const NOT_INSPECTED = 'it is not inspected yet';

export function createHolds({ files, isBroughtIn, inspects = true, file }: HoldsOptions): Holds {
  const inspections = openInspections(file);
  const trust = openTrust();
  const met = new WeakSet<Skill>();
  /** Contents of SKILL.md, by place, that this process has checked with all files. */
  const checked = new Set<string>();
  let runs = 0;
  let isFirst = true;

  const inspectedOf = (skill: Skill, { digest }: PlaceEntry): Inspected => ({
    place: placeOf(skill),
    digest,
    broughtIn: isBroughtIn(skill),
    findings: blocksIn(inspections.of(digest)),
  });
  const reasonOf = (skill: Skill, entry: PlaceEntry): string | undefined => {
    if (entry.verdict !== 'block' || isAllowed(trust, inspectedOf(skill, entry))) return undefined;
    return textOf(blocksIn(inspections.of(entry.digest)));
  };
  /** What is known of this SKILL.md. The other files may have changed since; every read looks at them. */
  const known = (skill: Skill): PlaceEntry | undefined => {
    const entry = inspections.at(placeOf(skill));
    return entry?.skillDigest === skill.digest ? entry : undefined;
  };
  const inspect = async (skill: Skill): Promise<PlaceEntry> => {
    // Before reading: a file that changes meanwhile gives another stamp later.
    const stamp = files.stamp(skill);
    const before = inspections.at(placeOf(skill));
    if (before && stamp !== '' && before.stamp === stamp) return before;
    const { digest, skillDigest, inspection } = await inspectFiles(() => files.read(skill), inspections.of);
    const entry = { skillDigest, stamp, digest, verdict: inspection.verdict };
    inspections.keep(placeOf(skill), entry, inspection);
    return entry;
  };
  const check = async (skill: Skill): Promise<string | undefined> => {
    try {
      return reasonOf(skill, await inspect(skill));
    } catch (error) {
      // It was removed: reading it says so.
      if (isCodedError(error)) return undefined;
      throw error;
    }
  };
  const heldBecause = (skill: Skill): string | undefined => {
    const isForeign = isBroughtIn(skill);
    const blocked = inspections.blocked();
    if (!isForeign && blocked.size === 0) return undefined;
    const entry = isForeign ? known(skill) : blocked.get(placeOf(skill));
    if (isForeign) return entry ? reasonOf(skill, entry) : NOT_INSPECTED;
    if (!entry) return undefined;
    return entry.skillDigest === skill.digest ? reasonOf(skill, entry) : NOT_INSPECTED;
  };
  const trustOf = async (skill: Skill): Promise<SkillTrust> => {
    const entry = await inspect(skill);
    const { findings, verdict } = inspections.of(entry.digest) ?? { findings: [], verdict: entry.verdict };
    return {
      skillId: skill.id,
      qualifiedId: skill.qualifiedId,
      digest: entry.digest,
      origin: isBroughtIn(skill) ? 'brought-in' : 'own',
      verdict,
      findings,
      heldBecause: reasonOf(skill, entry) ?? null,
      allowed: verdict === 'block' && reasonOf(skill, entry) === undefined,
    };
  };

  return {
    async prepare(skills) {
      const changed: Skill[] = [];
      const takeBreak = createBreaks();
      for (const skill of skills) {
        const isMet = met.has(skill);
        if (!isMet) met.add(skill);
        if (!inspects) continue;
        if (isBroughtIn(skill) || inspections.blocked().has(placeOf(skill))) {
          if (known(skill)) continue;
          await check(skill);
          await takeBreak();
        } else if (!isMet && !isFirst && !known(skill)) changed.push(skill);
      }
      isFirst = false;
      if (changed.length > CHANGED_AT_ONCE) return;
      for (const skill of changed) await check(skill);
    },
    heldBecause,
    check,
    async checkAll(skills, signal) {
      const run = ++runs;
      const takeBreak = createBreaks();
      for (const skill of skills) {
        const content = `${placeOf(skill)}\0${skill.digest}`;
        if (checked.has(content)) continue;
        await takeBreak();
        if (signal.aborted || run !== runs) return false;
        const heldBecause = await check(skill);
        checked.add(content);
        if (heldBecause !== skill.heldBecause) return true;
      }
      return false;
    },
    trustOf,
    filesOf: (skill) => [...files.read(skill)].filter((one): one is InspectedFile => !('rule' in one)),
    async blocksIn(skill, given) {
      const { digest, inspection } = await inspectFiles(() => given, inspections.of);
      const findings = blocksIn(inspection);
      if (!skill) return findings;
      const [place, broughtIn] = [placeOf(skill), isBroughtIn(skill)];
      return findings.filter((finding) => !isAllowed(trust, { place, digest, broughtIn, findings: [finding] }));
    },
    async decide(action, skill, { digest, ...by }) {
      const entry = await inspect(skill);
      if (digest !== undefined && digest !== entry.digest) throw otherDigest(skill, digest, entry.digest);
      if (entry.verdict !== 'block') throw notHeld(skill);
      decide(trust, action, inspectedOf(skill, entry), by);
      return trustOf(skill);
    },
    problems() {
      const reason = inspections.blocked().size > 0 ? trust.trouble() : undefined;
      return [...inspections.problems(), ...(reason === undefined ? [] : [notBelieved(trust.file, reason)])];
    },
    close: () => inspections.close(),
  };
}

// --- internal ---

/** The real path of a skill; its name where it has none. */
function placeOf({ dir, realFile, file, qualifiedId }: Skill): string {
  return dir ?? realFile ?? `${file}\0${qualifiedId}`;
}

function blocksIn(inspection: Inspection | undefined): readonly Finding[] {
  return inspection?.findings.filter(({ level }) => level === 'block') ?? [];
}

function textOf([first, ...others]: readonly Finding[]): string {
  if (!first) return 'something in it would be called an attack';
  const at = first.line === undefined ? '' : `:${first.line}`;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${first.rule} in ${oneLine(first.file, 200)}${at}${more}`;
}

interface InspectedFiles {
  readonly digest: string;
  /** Of the first file. */
  readonly skillDigest: string;
  readonly inspection: Inspection;
}

/** Inspects the files of one skill, unless their digest is known. */
async function inspectFiles(
  read: () => Iterable<InspectedFile | Finding>,
  knownBy: (digest: string) => Inspection | undefined,
): Promise<InspectedFiles> {
  const takeBreak = createBreaks();
  const lines: string[] = [];
  const kept: InspectedFile[] = [];
  const notes: Finding[] = [];
  let [bytes, skillDigest] = [0, ''];
  for (const one of read()) {
    await takeBreak();
    if ('rule' in one) {
      notes.push(one);
      lines.push(`size:${one.message} ${one.file}`);
      continue;
    }
    const digest = sha256(one.bytes);
    skillDigest ||= digest;
    lines.push(`${digest} ${one.bytes.length} ${one.executable ? 755 : 644} ${one.path}`);
    bytes += one.bytes.length;
    if (bytes <= KEPT_BYTES) kept.push(one);
  }
  const digest = sha256(
    lines
      .sort()
      .map((line) => `${line}\n`)
      .join(''),
  );
  const known = knownBy(digest);
  if (known) return { digest, skillDigest, inspection: known };
  const again = function* (): Generator<InspectedFile> {
    for (const one of read()) if (!('rule' in one)) yield one;
  };
  return { digest, skillDigest, inspection: await inspectOrBlock(bytes <= KEPT_BYTES ? kept : again(), notes) };
}

/** What cannot be inspected is held: a file could be made to be that. */
async function inspectOrBlock(files: Iterable<InspectedFile>, notes: readonly Finding[]): Promise<Inspection> {
  const found = await runRules(files);
  const findings = [...found.findings, ...notes];
  return { verdict: found.verdict === 'info' && notes.length > 0 ? 'warn' : found.verdict, findings };
}

async function runRules(files: Iterable<InspectedFile>): Promise<Inspection> {
  try {
    // The rules take longer to load than most commands run.
    const { inspectSkill } = await import('../inspect/inspect-skill.ts');
    return await inspectSkill(files);
  } catch (error) {
    if (isCodedError(error)) throw error;
    const message = `The inspection failed: ${oneLine(describeError(error), 200)}`;
    const finding: Finding = { rule: 'inspection-failed', level: 'block', file: 'SKILL.md', excerpt: '', message };
    return { verdict: 'block', findings: [finding] };
  }
}

function sha256(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

function otherDigest({ id }: Skill, given: string, now: string) {
  return invalidArgument(
    `"${id}" has the digest ${now} now, not ${given}: it has changed since it was shown. See it again: skill-registry trust show ${id}.`,
  );
}

function notHeld({ id }: Skill) {
  return invalidArgument(
    `Nothing in "${id}" holds it, so there is nothing to decide. See skill-registry trust show ${id}.`,
  );
}

function notBelieved(file: string, reason: string): Problem {
  const message = `This file is ignored, so no held skill is allowed: ${reason}.`;
  return { code: 'TRUST_UNUSABLE', severity: 'warning', file, message };
}
