import { isCodedError, type Problem } from 'skill-registry/kernel';
import { createBreaks } from '../../../lib/breaks/index.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { openTrust } from '../../../lib/trust/index.ts';
import type { Finding, InspectedFile, Inspection } from '../inspect/types.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import type { Inspected } from './approvals.ts';
import { type Inspections, openInspections, type PlaceEntry } from './inspections.ts';
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

/** Opens the inspections; `close` closes them. */
export class HeldSkills implements Holds {
  readonly #options: HoldsOptions;
  readonly #inspections: Inspections;
  readonly #trust = openTrust();
  readonly #met = new WeakSet<Skill>();
  /** Contents of SKILL.md, by place, that this process has checked with all files. */
  readonly #checked = new Set<string>();
  #runs = 0;
  #isFirst = true;
  // Most commands inspect nothing and find nothing held, and modules take time to load.
  #approvals: typeof import('./approvals.ts') | undefined;
  #inspecting: Promise<Inspecting> | undefined;

  constructor(options: HoldsOptions) {
    this.#options = options;
    this.#inspections = openInspections(options.file);
  }

  /** Bound, as `heldBecause` is: the catalog is handed these two alone. */
  readonly prepare = async (skills: Iterable<Skill>): Promise<void> => {
    if (this.#inspections.blocked().size > 0) await this.#loadApprovals();
    const { inspects = true, isBroughtIn } = this.#options;
    const changed: Skill[] = [];
    const takeBreak = createBreaks();
    for (const skill of skills) {
      const isMet = this.#met.has(skill);
      if (!isMet) this.#met.add(skill);
      if (!inspects || skill.remote) continue;
      if (isBroughtIn(skill) || this.#inspections.blocked().has(placeOf(skill))) {
        if (this.#known(skill)) continue;
        await this.check(skill);
        await takeBreak();
      } else if (!isMet && !this.#isFirst && !this.#known(skill)) changed.push(skill);
    }
    this.#isFirst = false;
    if (changed.length > CHANGED_AT_ONCE) return;
    for (const skill of changed) await this.check(skill);
  };

  readonly heldBecause = (skill: Skill): string | undefined => {
    if (skill.remote) return undefined;
    const isForeign = this.#options.isBroughtIn(skill);
    const blocked = this.#inspections.blocked();
    if (!isForeign && blocked.size === 0) return undefined;
    const entry = isForeign ? this.#known(skill) : blocked.get(placeOf(skill));
    if (isForeign) return entry ? this.#reasonOf(skill, entry) : NOT_INSPECTED;
    if (!entry) return undefined;
    return entry.skillDigest === skill.digest ? this.#reasonOf(skill, entry) : NOT_INSPECTED;
  };

  async check(skill: Skill): Promise<string | undefined> {
    // Its source inspects what it fetches, each time.
    if (skill.remote) return undefined;
    try {
      return this.#reasonOf(skill, await this.#inspect(skill));
    } catch (error) {
      // Its SKILL.md cannot be read; reading it says why.
      if (isCodedError(error)) return this.heldBecause(skill);
      throw error;
    }
  }

  async checkAll(skills: readonly Skill[], signal: AbortSignal): Promise<boolean> {
    const run = ++this.#runs;
    const takeBreak = createBreaks();
    for (const skill of skills) {
      const content = `${placeOf(skill)}\0${skill.digest}`;
      if (this.#checked.has(content)) continue;
      await takeBreak();
      if (signal.aborted || run !== this.#runs) return false;
      const heldBecause = await this.check(skill);
      this.#checked.add(content);
      if (heldBecause !== skill.heldBecause) return true;
    }
    return false;
  }

  async trustOf(skill: Skill): Promise<SkillTrust> {
    const entry = await this.#inspect(skill);
    const { findings, verdict } = this.#inspections.of(entry.digest) ?? { findings: [], verdict: entry.verdict };
    const heldBecause = this.#reasonOf(skill, entry);
    return {
      skillId: skill.id,
      qualifiedId: skill.qualifiedId,
      digest: entry.digest,
      origin: this.#options.isBroughtIn(skill) ? 'brought-in' : 'own',
      verdict,
      findings,
      heldBecause: heldBecause ?? null,
      allowed: verdict === 'block' && heldBecause === undefined,
    };
  }

  async filesOf(skill: Skill): Promise<readonly InspectedFile[]> {
    const { files } = await this.#load();
    const takeBreak = createBreaks();
    const found: InspectedFile[] = [];
    for (const one of files.read(skill)) {
      await takeBreak();
      if (!('rule' in one)) found.push(one);
    }
    return found;
  }

  async blocksIn(skill: Skill | undefined, given: readonly InspectedFile[]): Promise<readonly Finding[]> {
    const [{ inspectFiles }, { isAllowed }] = await Promise.all([this.#load(), this.#loadApprovals()]);
    const { digest, inspection } = await inspectFiles(() => given, this.#inspections.of);
    const findings = blocksIn(inspection);
    if (!skill) return findings;
    const [place, broughtIn] = [placeOf(skill), this.#options.isBroughtIn(skill)];
    return findings.filter((finding) => !isAllowed(this.#trust, { place, digest, broughtIn, findings: [finding] }));
  }

  async decide(action: 'allow' | 'revoke', skill: Skill, { digest, ...by }: TrustDecision): Promise<SkillTrust> {
    const entry = await this.#inspect(skill);
    if (digest !== undefined && digest !== entry.digest) throw otherDigest(skill, digest, entry.digest);
    if (entry.verdict !== 'block') throw notHeld(skill);
    (await this.#loadApprovals()).decide(this.#trust, action, this.#inspectedOf(skill, entry), by);
    return this.trustOf(skill);
  }

  problems(): readonly Problem[] {
    const { file, trouble } = this.#trust;
    const reason = this.#inspections.blocked().size > 0 ? trouble() : undefined;
    return [...this.#inspections.problems(), ...(reason === undefined ? [] : [notBelieved(file, reason)])];
  }

  close(): void {
    this.#inspections.close();
  }

  async #inspect(skill: Skill): Promise<PlaceEntry> {
    const { files, inspectFiles } = await this.#load();
    // Before reading: a file that changes meanwhile gives another stamp later.
    const stamp = files.stamp(skill);
    const before = this.#inspections.at(placeOf(skill));
    if (before && stamp !== '' && before.stamp === stamp) return before;
    const { digest, skillDigest, inspection } = await inspectFiles(() => files.read(skill), this.#inspections.of);
    const entry = { skillDigest, stamp, digest, verdict: inspection.verdict };
    this.#inspections.keep(placeOf(skill), entry, inspection);
    return entry;
  }

  /** What is known of this SKILL.md. The other files may have changed since; every read looks at them. */
  #known(skill: Skill): PlaceEntry | undefined {
    const entry = this.#inspections.at(placeOf(skill));
    return entry?.skillDigest === skill.digest ? entry : undefined;
  }

  #reasonOf(skill: Skill, entry: PlaceEntry): string | undefined {
    if (entry.verdict !== 'block') return undefined;
    if (this.#approvals?.isAllowed(this.#trust, this.#inspectedOf(skill, entry))) return undefined;
    return textOf(blocksIn(this.#inspections.of(entry.digest)));
  }

  #inspectedOf(skill: Skill, { digest }: PlaceEntry): Inspected {
    return {
      place: placeOf(skill),
      digest,
      broughtIn: this.#options.isBroughtIn(skill),
      findings: blocksIn(this.#inspections.of(digest)),
    };
  }

  #load(): Promise<Inspecting> {
    this.#inspecting ??= Promise.all([
      this.#options.loadFiles(),
      import('./inspect-files.ts'),
      this.#loadApprovals(),
    ]).then(([files, { inspectFiles }]) => ({ files, inspectFiles }));
    return this.#inspecting;
  }

  async #loadApprovals(): Promise<typeof import('./approvals.ts')> {
    this.#approvals ??= await import('./approvals.ts');
    return this.#approvals;
  }
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
