import { isCodedError, type Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { openTrust } from '../../../../lib/trust/index.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import type {
  Admission,
  Finding,
  Guard,
  JudgedFile,
  LeavingBytes,
  LeavingLine,
  NoteBlocked,
} from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { NOT_INSPECTED } from '../../core/skill/why-held.ts';
import { decidable, decide, isAllowed } from './approvals.ts';
import { blockReason } from './describe.ts';
import type { Present } from './files-for-inspection.ts';
import type { Inspection } from './inspect/rule.ts';
import type { ReadPart } from './inspect-files.ts';
import { InspectedSkills, type InspectedSkillsOptions } from './inspected-skills.ts';
import { type InspectionEntry, type Inspections, openInspections } from './inspections.ts';
import { JudgedLines, pathOf } from './judged-lines.ts';
import { JudgedNames } from './judged-names.ts';
import { furtherReach } from './shown-reach.ts';
import type { SkillTrust, TrustDecision } from './types.ts';

interface HeldSkillsOptions extends InspectedSkillsOptions {
  /** Whether it was installed, or comes from a package, a pack or an address. */
  readonly isBroughtIn: (skill: Skill) => boolean;
  /** Why a skill is held, independent of its content. Default: never. */
  readonly heldBecause?: ((skill: Skill, digest?: string) => string | undefined) | undefined;
  /** Whether these reasons are others than at the last scan. Default: never. */
  readonly reasonsChanged?: () => boolean;
  /** Whether others, whom the config believes, have allowed all these findings in this content. Default: never. */
  readonly isAllowedThere?: (skill: Skill, findings: readonly Finding[]) => boolean;
  /** Whether a skill belongs to this package: it is trusted like the code that reads it. */
  readonly isOfPackage: (skill: Skill) => boolean;
  /** Called before a skill is judged: facts outside its files may hold it. */
  readonly renew: () => Promise<void>;
  /** Called when a skill is held or released, but the catalog shows it differently. */
  readonly onOther: (skill: Skill, heldBecause: string | undefined) => Promise<unknown>;
  /** False: `prepare` inspects nothing, so agents see none that was not inspected before. Default: true. */
  readonly inspects?: boolean;
  /** Prompts have bodies of any skill. Default: false. */
  readonly givesBodies?: boolean;
  /** Where inspections are kept (`inspectionsFile`); undefined: in memory. */
  readonly file: string | undefined;
}

interface Running {
  readonly key: string | undefined;
  readonly result: Promise<Judgement>;
  /** Resolves when it costs more than `MOST_MS`. */
  readonly slow: Promise<void>;
}

/** `findings` are those of level `block`. */
interface Judgement {
  readonly heldBecause: string | undefined;
  readonly findings: readonly Finding[];
  readonly listing?: Present['listing'];
}

/** New skills that are judged with all their files before they are shown. */
const FEW = 16;
const SHOWN_AFTER_MS = 1_000;
/** Of processor time, for whom nobody waits. */
const MOST_MS = 200;
const NOT_YET: Admission = {
  given: false,
  code: 'SKILL_NOT_INSPECTED',
  findings: [],
  heldBecause: NOT_INSPECTED,
  retryAfterMs: 2_000,
};
const LOOKED_UP = 200;

/** Held skills: no agent gets them until a person allows what was found. Opens the inspections. */
export class HeldSkills {
  readonly #options: HeldSkillsOptions;
  readonly #inspections: Inspections;
  readonly #inspected: InspectedSkills;
  readonly #trust = openTrust();
  /** Checks of this process, by the path of the skill and the digest of its SKILL.md. */
  readonly #checked = new Map<string, Promise<unknown>>();
  readonly #lines: JudgedLines;
  readonly #names: JudgedNames;
  /** The last of those that somebody waits for, by path. */
  readonly #running = new Map<string, Running>();

  constructor(options: HeldSkillsOptions) {
    this.#options = options;
    this.#inspections = openInspections(options.file);
    this.#inspected = new InspectedSkills(options, this.#inspections);
    this.#lines = new JudgedLines(this.#inspections);
    this.#names = new JudgedNames(this.#inspections);
  }

  /** Judges new skills, if they are few. Of many, what their lines can have; all files where it has a finding. */
  readonly prepare = async (skills: Iterable<Skill>): Promise<void> => {
    const all = [...skills];
    const unknown: Skill[] = [];
    await this.#names.judge(all);
    for (let at = 0; at < all.length; at += LOOKED_UP) {
      await takeBreak();
      const some = all.slice(at, at + LOOKED_UP);
      this.#inspections.load(some.map(pathOf));
      for (const skill of some)
        if (skill.remote !== true && !this.#inspected.known(skill) && !this.#lines.isUsual(skill)) unknown.push(skill);
    }
    if (this.#options.inspects === false) return;
    const isGiven = unknown.length <= FEW || this.#options.givesBodies === true;
    const isWhole = (skill: Skill): boolean =>
      !isAway(skill) && (isGiven || skill.preload === true || this.#names.blocksOf(skill).length > 0);
    const whole = unknown.filter(isWhole);
    const lines = unknown.filter((skill) => !isWhole(skill));
    for (const [skill, found] of await this.#lines.judge(lines)) {
      // Its files come when it is read, and nobody reads it while this holds it.
      if (isAway(skill)) await this.noteBlocked(skill, skill.digest, found);
      else whole.push(skill);
    }
    for (const [done, skill] of whole.entries()) {
      // What cannot be judged stays held, and hinders no other skill.
      await this.judge(skill).catch(() => undefined);
      await takeBreak(done, whole.length, 'Inspecting skills');
    }
  };

  readonly heldMeanwhile: Guard['heldMeanwhile'] = (skills) => {
    const held = new Map<string, string>();
    const blocked = this.#inspections.blockedByOthers();
    const isAny = this.#options.reasonsChanged?.() ?? false;
    for (const skill of blocked.size === 0 && !isAny ? [] : skills) {
      if (skill.heldBecause !== undefined || !(isAny || blocked.has(pathOf(skill)))) continue;
      const { heldBecause } = this.#admitLine({ skill, kind: 'line', audience: 'person' });
      if (isFound(heldBecause)) held.set(skill.qualifiedId, heldBecause);
    }
    return held;
  };

  readonly namesOf: Guard['namesOf'] = (skill) => {
    if (this.#options.isOfPackage(skill)) return () => true;
    if (this.known(skill).heldBecause !== undefined) return undefined;
    // Its source judges the names.
    if (skill.remote === true) return () => true;
    const entry = this.#inspected.known(skill);
    const seen = entry && this.#inspections.filesOf(entry.digest);
    return seen && ((path) => seen.has(path));
  };

  readonly mayName: Guard['mayName'] = (names) => this.#names.mayName(names);

  readonly notInspected: Guard['notInspected'] = (skills) => {
    const all = [...skills].filter(({ remote }) => !remote);
    this.#inspections.load(all.map(pathOf));
    return all.filter((skill) => !this.#inspected.known(skill)).length;
  };

  /**
   * Checks each SKILL.md that is new to this process, the shortest first. True: some states changed; then it stops
   * after a second.
   */
  async checkAll(skills: readonly Skill[], signal: AbortSignal): Promise<boolean> {
    const showAfter = performance.now() + SHOWN_AFTER_MS;
    let isChanged = false;
    const here = skills.filter((skill) => !isAway(skill));
    for (const [done, skill] of here.sort((a, b) => a.bytes - b.bytes).entries()) {
      await takeBreak(done, here.length);
      if (signal.aborted) return false;
      const content = `${pathOf(skill)}\0${skill.digest}`;
      if (this.#checked.has(content)) {
        await this.#checked.get(content);
        continue;
      }
      const checking = this.judge(skill).catch(() => this.known(skill));
      this.#checked.set(content, checking);
      if ((await checking).heldBecause !== skill.heldBecause) isChanged = true;
      if (isChanged && performance.now() > showAfter) return true;
    }
    return isChanged;
  }

  readonly admit: Guard['admit'] = ((leaving: LeavingLine | LeavingBytes) =>
    leaving.kind === 'line' ? this.#admitLine(leaving) : this.#admitBytes(leaving)) as Guard['admit'];

  /** Of all files. Inspects nothing: `NOT_INSPECTED` for content that was never inspected. */
  known(skill: Skill): Judgement {
    return this.#judgementOf(skill, this.#inspected.known(skill));
  }

  /** Stores findings in what a server sent: the next scan holds the skill. */
  readonly noteBlocked: NoteBlocked = async (skill, digest, findings) => {
    const before =
      this.#inspected.known(skill)?.digest === digest ? blocksIn(this.#inspections.inspectionOf(digest)) : [];
    const known = new Set(before.map(findingKey));
    const all = [...before, ...findings.filter((finding) => !known.has(findingKey(finding)))];
    const entry = { skillDigest: skill.digest, stamp: '', digest, verdict: 'block' } as const;
    this.#inspections.keep(pathOf(skill), entry, { verdict: 'block', findings: all, reach: [] }, { before: undefined });
    return this.#reasonOf(skill, entry) === undefined;
  };

  /**
   * Inspects the present files of a skill, unless they are known. `judged` replaces the file with its path, which may
   * have changed since it was read. @throws RESOURCE_NOT_FOUND with a judged file, when SKILL.md is gone.
   */
  async judge(skill: Skill, judged?: JudgedFile, tell?: (spentMs: number) => void): Promise<Judgement> {
    // Its source inspects each file at its fetch, and compares it with its entry; or its files are not here yet.
    if (skill.remote) return this.known(skill);
    try {
      const { entry, listing } = await this.#inspected.inspect(skill, judged, tell);
      return { ...this.#judgementOf(skill, entry), listing };
    } catch (error) {
      // Its SKILL.md cannot be read; the reader of the skill gets the reason.
      if (isCodedError(error) && !judged) return this.known(skill);
      throw error;
    }
  }

  /** Of the present files. @throws RESOURCE_NOT_FOUND. */
  async trustOf(skill: Skill): Promise<SkillTrust> {
    const { entry } = await this.#inspected.inspect(skill);
    const { findings, reach } = this.#inspections.inspectionOf(entry.digest) ?? { findings: [], reach: [] };
    const ofNames = this.#names.blocksOf(skill);
    const verdict = ofNames.length > 0 ? 'block' : entry.verdict;
    const heldBecause = this.#reasonOf(skill, entry);
    return {
      skillId: skill.id,
      qualifiedId: skill.qualifiedId,
      digest: entry.digest,
      origin: this.#isBroughtIn(skill) ? 'brought-in' : 'own',
      verdict,
      findings: [...ofNames, ...findings],
      reach,
      heldBecause: heldBecause ?? null,
      allowed: verdict === 'block' && heldBecause === undefined,
    };
  }

  /** @param skill - As it is now; undefined for a new one. Findings that are allowed for it are left out. */
  async inspectAfter(
    skill: Skill | undefined,
    files: readonly ReadPart[],
  ): Promise<{ readonly blocks: readonly Finding[]; readonly digest: string; readonly reaches: string }> {
    const { inspectFiles } = await import('./inspect-files.ts');
    const before = skill ? (await this.trustOf(skill)).reach : [];
    const { digest, inspection } = await inspectFiles(() => files, this.#inspections);
    const findings = blocksIn(inspection);
    const reaches = furtherReach(before, inspection.reach);
    return { digest, reaches, blocks: skill ? await this.notAllowed(skill, digest, findings) : findings };
  }

  /** `digest`: of the files with the findings. */
  async notAllowed(skill: Skill, digest: string, findings: readonly Finding[]): Promise<readonly Finding[]> {
    const [path, broughtIn] = [pathOf(skill), this.#isBroughtIn(skill)];
    return findings.filter((finding) => !isAllowed(this.#trust, { path, digest, broughtIn, findings: [finding] }));
  }

  /** @throws INVALID_ARGUMENT when the digest is another one, or there is nothing to decide; TRUST_UNUSABLE. */
  async decide(action: 'allow' | 'revoke', skill: Skill, { digest, ...by }: TrustDecision): Promise<SkillTrust> {
    const found = await this.trustOf(skill);
    const { id } = skill;
    if (digest !== undefined && digest !== found.digest) {
      const what = `has the digest ${found.digest} now, not ${digest}: it has changed since it was shown`;
      throw invalidArgument(`"${id}" ${what}. See it again: skill-registry approvals show ${id}.`);
    }
    const findings = decidable(found.findings);
    if (findings.length === 0) {
      const held = found.heldBecause === null ? '' : `It is held: ${found.heldBecause}. `;
      const what = `${held}Nothing in "${id}" holds it or keeps it from being published, so there is nothing to decide`;
      throw invalidArgument(`${what}. See skill-registry approvals show ${id}.`);
    }
    const inspected = { path: pathOf(skill), digest: found.digest, broughtIn: found.origin === 'brought-in', findings };
    decide(this.#trust, action, inspected, by);
    return this.trustOf(skill);
  }

  problems(): readonly Problem[] {
    const { file, trouble } = this.#trust;
    const reason = this.#inspections.hasBlocked() ? trouble() : undefined;
    const found = this.#inspections.problems();
    if (reason === undefined) return found;
    const message = `This file is ignored, so no held skill is allowed: ${reason}.`;
    return [...found, { code: 'TRUST_UNUSABLE', severity: 'warning', file, message }];
  }

  close(): void {
    this.#inspections.close();
  }

  #admitLine({ skill, audience }: LeavingLine): Admission {
    const judgement = this.known(skill);
    const isLineOnly = judgement.heldBecause === NOT_INSPECTED && this.#lines.isUsual(skill);
    if (!isLineOnly) return admissionOf(judgement, { audience });
    return admissionOf({ heldBecause: this.#options.heldBecause?.(skill), findings: [] }, { audience });
  }

  async #admitBytes(leaving: LeavingBytes): Promise<Admission> {
    const { skill, bytes, path = 'SKILL.md' } = leaving;
    if (this.#options.isOfPackage(skill)) return { given: true };
    await this.#options.renew();
    const judged = bytes && { path, bytes, digest: leaving.digest ?? digestOf(bytes) };
    const { result, slow } = this.#judgeAfter(skill, judged);
    const admission = this.#admissionOf(result, leaving);
    if (leaving.wait !== false) return admission;
    // It goes on: the next one who asks gets what was found.
    admission.catch(() => undefined);
    const now = slow.then((): Admission => {
      const known = this.known(skill);
      return isFound(known.heldBecause) ? admissionOf(known, leaving) : NOT_YET;
    });
    return Promise.race([admission, now]);
  }

  async #admissionOf(result: Promise<Judgement>, leaving: LeavingBytes): Promise<Admission> {
    const { skill } = leaving;
    const judgement = await result.catch((error: unknown) => {
      const known = this.known(skill);
      // SKILL.md is gone. A person gets what was read; an agent is not told that a held skill is gone.
      if (isCodedError(error) && (leaving.audience === 'person' || known.heldBecause !== undefined)) return known;
      throw error;
    });
    if (judgement.heldBecause !== skill.heldBecause) await this.#options.onOther(skill, judgement.heldBecause);
    return admissionOf(judgement, leaving);
  }

  /** One after the other for each skill: the first inspects, the others look whether their bytes were among those. */
  #judgeAfter(skill: Skill, judged: JudgedFile | undefined): Running {
    const path = pathOf(skill);
    const before = this.#running.get(path);
    const key = judged && [skill.qualifiedId, judged.path, judged.digest].join('\0');
    if (before && key !== undefined && before.key === key) return before;
    let isSlow = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      isSlow = resolve;
    });
    void before?.slow.then(isSlow);
    const judge = () => this.judge(skill, judged, (spentMs) => spentMs > MOST_MS && isSlow());
    const result = before ? before.result.then(judge, judge) : judge();
    const running = { key, result, slow };
    this.#running.set(path, running);
    const end = (): void => {
      if (this.#running.get(path) === running) this.#running.delete(path);
    };
    result.then(end, end);
    return running;
  }

  #isBroughtIn(skill: Skill): boolean {
    return skill.remote !== undefined || this.#options.isBroughtIn(skill);
  }

  #judgementOf(skill: Skill, entry: InspectionEntry | undefined): Judgement {
    if (!entry && skill.remote !== true) return { heldBecause: NOT_INSPECTED, findings: [] };
    const heldBecause = this.#reasonOf(skill, entry);
    return { heldBecause, findings: heldBecause === undefined ? [] : this.#blocksOf(skill, entry) };
  }

  #blocksOf(skill: Skill, entry: InspectionEntry | undefined): readonly Finding[] {
    const inspection = entry?.verdict === 'block' ? this.#inspections.inspectionOf(entry.digest) : undefined;
    return [...this.#names.blocksOf(skill), ...blocksIn(inspection)];
  }

  #reasonOf(skill: Skill, entry: InspectionEntry | undefined): string | undefined {
    const kept = this.#options.heldBecause?.(skill, entry?.digest);
    if (kept !== undefined) return kept;
    const findings = this.#blocksOf(skill, entry);
    if (entry?.verdict !== 'block' && findings.length === 0) return undefined;
    const digest = entry?.digest ?? this.#options.remote?.(skill)?.digestOf(skill) ?? '';
    const inspected = { path: pathOf(skill), digest, broughtIn: this.#isBroughtIn(skill), findings };
    const isAllowedThere = findings.length > 0 && (this.#options.isAllowedThere?.(skill, findings) ?? false);
    return isAllowedThere || isAllowed(this.#trust, inspected) ? undefined : blockReason(findings);
  }
}

// --- internal ---

/** Its files come when it is read, and are inspected then. */
const isAway = ({ remote }: Skill): boolean => remote === 'until-read';

function admissionOf(
  { heldBecause, findings, listing }: Judgement,
  { audience }: Pick<LeavingLine, 'audience'>,
): Admission {
  if (heldBecause === undefined) return { given: true, listing };
  if (audience === 'person') return { given: true, heldBecause, listing };
  const code = heldBecause === NOT_INSPECTED ? 'SKILL_NOT_INSPECTED' : 'SKILL_HELD';
  return { given: false, code, findings, heldBecause };
}

/** Not only: not inspected yet. */
export function isFound(heldBecause: string | undefined): heldBecause is string {
  return heldBecause !== undefined && heldBecause !== NOT_INSPECTED;
}

const blocksIn = (inspection: Inspection | undefined): readonly Finding[] =>
  inspection?.findings.filter(({ level }) => level === 'block') ?? [];

const findingKey = ({ rule, file, line, excerpt }: Finding): string => JSON.stringify([rule, file, line, excerpt]);
