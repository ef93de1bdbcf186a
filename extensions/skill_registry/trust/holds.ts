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
  /** What holds a skill whatever is in it. Default: nothing does. */
  readonly keptBecause?: ((skill: Skill) => string | undefined) | undefined;
  /** False: `prepare` inspects nothing. Default: true. */
  readonly inspects?: boolean;
  /** Where inspections are kept (`inspectionsFile`); undefined: in memory. */
  readonly file: string | undefined;
}

/** Which skills are held: no agent is given them until a person allows what was found in them. */
export interface Holds {
  /** Inspects what is not inspected yet, for a few seconds at most: what is left is held until a later call, or `checkAll`. */
  prepare(skills: Iterable<Skill>): Promise<void>;
  /** Why a skill is held, as far as is known now: `NOT_INSPECTED` for a content that was never inspected. Undefined when it is not. */
  heldBecause(skill: Skill): string | undefined;
  /** Inspects the present files of a skill, unless they are known. @returns Why it is held. */
  check(skill: Skill): Promise<string | undefined>;
  /**
   * Checks each skill whose present SKILL.md was not checked by this process, in slices.
   *
   * @returns true when some are in another state than `skills` say, after a second at most; false when all were checked and none is.
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

/** The reason of a skill that was never inspected. */
export const NOT_INSPECTED = 'it is not inspected yet';
/** The reason of a skill whose files may be partly new and partly old. */
export const CHANGE_WAITS: string =
  'a change of it was interrupted, and nothing undoes it in a root that nobody has approved (skill-registry trust allow in the root)';
/** How long a snapshot waits for inspections, in milliseconds: the first one, and the others. */
const FIRST_WAIT_MS = 5_000;
const WAIT_MS = 300;
/** So many are inspected however long it takes. */
const ALWAYS_INSPECTED = 16;
/** After so long, what was found meanwhile is shown. */
const SHOWN_AFTER_MS = 1_000;

/** Opens the inspections; `close` closes them. */
export class HeldSkills implements Holds {
  readonly #options: HoldsOptions;
  readonly #inspections: Inspections;
  readonly #trust = openTrust();
  /** Contents of SKILL.md, by place, that this process has checked with all files, or is checking. */
  readonly #checked = new Map<string, Promise<unknown>>();
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
    const own = [...skills].filter(({ remote }) => !remote);
    this.#inspections.look(own.map(placeOf));
    const waitUntil = performance.now() + (this.#isFirst ? FIRST_WAIT_MS : WAIT_MS);
    this.#isFirst = false;
    const unknown = this.#options.inspects === false ? [] : own.filter((skill) => !this.#known(skill));
    const takeBreak = createBreaks();
    for (const [index, skill] of unknown.entries()) {
      if (index >= ALWAYS_INSPECTED && performance.now() > waitUntil) break;
      await this.check(skill);
      await takeBreak();
    }
    if (this.#inspections.hasBlocked()) await this.#loadApprovals();
  };

  readonly heldBecause = (skill: Skill): string | undefined => {
    if (skill.remote) return undefined;
    const entry = this.#known(skill);
    return entry ? this.#reasonOf(skill, entry) : NOT_INSPECTED;
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
    const takeBreak = createBreaks();
    const showAfter = performance.now() + SHOWN_AFTER_MS;
    let isChanged = false;
    for (const skill of skills) {
      const content = `${placeOf(skill)}\0${skill.digest}`;
      if (this.#checked.has(content)) {
        await this.#checked.get(content);
        continue;
      }
      await takeBreak();
      if (signal.aborted) return false;
      const checking = this.check(skill);
      this.#checked.set(content, checking);
      if ((await checking) !== skill.heldBecause) isChanged = true;
      if (isChanged && performance.now() > showAfter) return true;
    }
    return isChanged;
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
    return [...files.read(skill)].filter((one): one is InspectedFile => !('rule' in one));
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
    const reason = this.#inspections.hasBlocked() ? trouble() : undefined;
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
    const kept = this.#options.keptBecause?.(skill);
    if (kept !== undefined) return kept;
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
