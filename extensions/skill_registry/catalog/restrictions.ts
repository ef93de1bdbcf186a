import type { Problem } from 'skill-registry/kernel';
import { eachWithBreaks } from '../../../lib/breaks/index.ts';
import type { DisabledSkill } from '../config/config.ts';
import { draftReason, type GateEnvironment, gateClosedBecause } from '../skill/gates.ts';
import type { Skill } from '../skill/skill.ts';
import type { SourceScan } from '../sources/source.ts';
import { CHANGE_WAITS, NOT_INSPECTED } from '../trust/reasons.ts';
import type { Snapshot } from './snapshot.ts';

export interface RestrictionOptions {
  /** What gates are checked against; called at every refresh. Default: gates are not checked. */
  readonly gates?: () => GateEnvironment;
  /** The `disabled` entries; called at every refresh. Default: none. */
  readonly disabled?: () => readonly DisabledSkill[];
  /** Why a skill is held; undefined when it is not. Default: no skill is. */
  readonly heldBecause?: (skill: Skill) => string | undefined;
}

export type Restrictions = ReadonlyMap<Skill, Restriction>;
type Restriction = Pick<Skill, 'hiddenBecause' | 'disabledFor' | 'heldBecause'>;

/** Called at every refresh, because a program may have been installed, or a person may have allowed something. */
export async function restrictionsOf(scans: readonly SourceScan[], options: RestrictionOptions): Promise<Restrictions> {
  const { heldBecause = () => undefined } = options;
  const disabled = options.disabled?.() ?? [];
  const environment = options.gates?.();
  const restrictions = new Map<Skill, Restriction>();
  const check = (skill: Skill): void => {
    const gate = environment && skill.gate && gateClosedBecause(skill.gate, environment);
    const because = draftReason(skill.fillsLeft) ?? gate;
    const disabledAgents = disabled.length === 0 ? undefined : disabledFor(skill, disabled);
    const held = heldBecause(skill);
    if (because === undefined && disabledAgents === undefined && held === undefined) return;
    restrictions.set(skill, {
      ...(because === undefined ? {} : { hiddenBecause: because }),
      ...(disabledAgents === undefined ? {} : { disabledFor: disabledAgents }),
      ...(held === undefined ? {} : { heldBecause: held }),
    });
  };
  for (const { skills, losers = [] } of scans) {
    await eachWithBreaks([...skills, ...losers], check);
  }
  return restrictions;
}

export async function applyRestrictions(scan: SourceScan, restrictions: Restrictions): Promise<SourceScan> {
  const problems: Problem[] = [];
  const [skills, losers]: [Skill[], Skill[]] = [[], []];
  const markTo = (marked: Skill[]) => (skill: Skill) => {
    const marks = restrictions.get(skill);
    if (marks?.hiddenBecause !== undefined) problems.push(hiddenProblem(skill, marks.hiddenBecause));
    marked.push(marks === undefined ? skill : { ...skill, ...marks });
  };
  await eachWithBreaks(scan.skills, markTo(skills));
  await eachWithBreaks(scan.losers ?? [], markTo(losers));
  return { skills, losers, problems: [...scan.problems, ...problems] };
}

export async function heldProblems({
  byId,
  byQualifiedId,
}: Pick<Snapshot, 'byId' | 'byQualifiedId'>): Promise<readonly Problem[]> {
  const files = new Set<string>();
  const problems: Problem[] = [];
  const waiting: Skill[] = [];
  await eachWithBreaks(byQualifiedId.values(), (skill) => {
    const { heldBecause } = skill;
    if (heldBecause === NOT_INSPECTED) waiting.push(skill);
    const file = skill.realFile ?? skill.qualifiedId;
    if (heldBecause === undefined || heldBecause === NOT_INSPECTED || heldBecause === CHANGE_WAITS) return;
    if (files.has(file)) return;
    files.add(file);
    problems.push(heldProblem(skill, byId.get(skill.id) === skill ? skill.id : skill.qualifiedId));
  });
  const [first] = waiting;
  if (!first) return problems;
  const details = { skills: waiting.length };
  return [
    ...problems,
    { code: 'SKILL_NOT_INSPECTED', severity: 'warning', file: first.file, message: NOT_INSPECTED_TEXT, details },
  ];
}

export async function isSameRestrictions(before: Restrictions, after: Restrictions): Promise<boolean> {
  const others = after.entries();
  let isSame = before.size === after.size;
  await eachWithBreaks(isSame ? before : [], ([skill, marks]) => {
    const [other, otherMarks] = others.next().value ?? [];
    isSame &&= skill === other && JSON.stringify(marks) === JSON.stringify(otherMarks);
  });
  return isSame;
}

// --- internal ---

function disabledFor(
  { id, qualifiedId }: Pick<Skill, 'id' | 'qualifiedId'>,
  disabled: readonly DisabledSkill[],
): Skill['disabledFor'] {
  const agents: string[] = [];
  for (const entry of disabled) {
    const named = typeof entry === 'string' ? entry : entry.skill;
    if (named !== id && named !== qualifiedId) continue;
    if (typeof entry === 'string') return 'everyone';
    agents.push(entry.agent);
  }
  return agents.length > 0 ? agents : undefined;
}

const DRAFT_REMEDY = 'Replace each FILL, or remove draft from its metadata.';

function hiddenProblem({ file, fillsLeft }: Skill, reason: string): Problem {
  const remedy = fillsLeft ? DRAFT_REMEDY : 'Provide it, or set gates.check: false.';
  const message = `Models do not see this skill here: ${reason}. ${remedy}`;
  return { code: 'SKILL_HIDDEN', severity: 'warning', file, message };
}

function heldProblem({ qualifiedId, dir, file, heldBecause }: Skill, shownAs: string): Problem {
  const remedy = `See it with "skill-registry trust show ${qualifiedId}", then allow it with "skill-registry trust allow ${qualifiedId}" or remove it.`;
  const others = dir === null ? '' : ' Other programs that read this folder see it.';
  const message = `No agent is given "${shownAs}", because it is held: ${heldBecause}.${others} ${remedy}`;
  return { code: 'SKILL_HELD', severity: 'warning', file, message, details: { skill_id: shownAs } };
}

/** Without their number, which falls while they are inspected: each number would be a new problem. */
const NOT_INSPECTED_TEXT =
  'This skill, or more of them, was never inspected, so no agent is given it yet. "skill-registry doctor" inspects all; what serves agents does it by itself, a few seconds later at most.';
