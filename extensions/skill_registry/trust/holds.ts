import { isCodedError, type Problem } from 'skill-registry/kernel';
import { createBreaks } from '../../../lib/breaks/index.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { openTrust } from '../../../lib/trust/index.ts';
import type { Finding, InspectedFile, Inspection } from '../inspect/types.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import type { Inspected } from './approvals.ts';
import { openInspections, type PlaceEntry } from './inspections.ts';
import type { SkillFiles, SkillTrust, TrustDecision } from './types.ts';

export interface HoldsOptions {
  /** Called before the first inspection. */
  readonly loadFiles: () => Promise<SkillFiles>;
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
  filesOf(skill: Skill): Promise<readonly InspectedFile[]>;
  /** The `block` findings of files, without those that are allowed for this skill. */
  blocksIn(skill: Skill | undefined, files: readonly InspectedFile[]): Promise<readonly Finding[]>;
  /** @throws INVALID_ARGUMENT when the digest is another one, or nothing holds the skill; TRUST_UNUSABLE. */
  decide(action: 'allow' | 'revoke', skill: Skill, decision: TrustDecision): Promise<SkillTrust>;
  problems(): readonly Problem[];
  close(): void;
}

/** So many new or changed skills are inspected before a snapshot shows them; more are shown, and inspected at once after that. */
const CHANGED_AT_ONCE = 16;
const NOT_INSPECTED = 'it is not inspected yet';

export function createHolds({ loadFiles, isBroughtIn, inspects = true, file }: HoldsOptions): Holds {
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
  // Most commands inspect nothing and find nothing held, and modules take time to load.
  let approvals: typeof import('./approvals.ts') | undefined;
  let loaded: Promise<Inspecting> | undefined;
  const load = (): Promise<Inspecting> => {
    loaded ??= Promise.all([loadFiles(), import('./inspect-files.ts'), loadApprovals()]).then(
      ([files, { inspectFiles }]) => ({ files, inspectFiles }),
    );
    return loaded;
  };
  const loadApprovals = async (): Promise<typeof import('./approvals.ts')> => {
    approvals ??= await import('./approvals.ts');
    return approvals;
  };
  const reasonOf = (skill: Skill, entry: PlaceEntry): string | undefined => {
    if (entry.verdict !== 'block' || approvals?.isAllowed(trust, inspectedOf(skill, entry))) return undefined;
    return textOf(blocksIn(inspections.of(entry.digest)));
  };
  /** What is known of this SKILL.md. The other files may have changed since; every read looks at them. */
  const known = (skill: Skill): PlaceEntry | undefined => {
    const entry = inspections.at(placeOf(skill));
    return entry?.skillDigest === skill.digest ? entry : undefined;
  };
  const inspect = async (skill: Skill): Promise<PlaceEntry> => {
    const { files, inspectFiles } = await load();
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
    // Its source inspects what it fetches, each time.
    if (skill.remote) return undefined;
    try {
      return reasonOf(skill, await inspect(skill));
    } catch (error) {
      // Its SKILL.md cannot be read; reading it says why.
      if (isCodedError(error)) return heldBecause(skill);
      throw error;
    }
  };
  const heldBecause = (skill: Skill): string | undefined => {
    if (skill.remote) return undefined;
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
      if (inspections.blocked().size > 0) await loadApprovals();
      const changed: Skill[] = [];
      const takeBreak = createBreaks();
      for (const skill of skills) {
        const isMet = met.has(skill);
        if (!isMet) met.add(skill);
        if (!inspects || skill.remote) continue;
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
    async filesOf(skill) {
      const { files } = await load();
      return [...files.read(skill)].filter((one): one is InspectedFile => !('rule' in one));
    },
    async blocksIn(skill, given) {
      const [{ inspectFiles }, { isAllowed }] = await Promise.all([load(), loadApprovals()]);
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
      (await loadApprovals()).decide(trust, action, inspectedOf(skill, entry), by);
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

/** What an inspection needs. */
interface Inspecting {
  readonly files: SkillFiles;
  readonly inspectFiles: typeof import('./inspect-files.ts').inspectFiles;
}

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
