import type { Problem } from 'skill-registry/kernel';
import { eachWithBreaks } from '../../../../lib/breaks/index.ts';
import type { DisabledSkill } from '../config/config.ts';
import { draftReason, type GateEnvironment, gateClosedBecause } from '../skill/gates.ts';
import type { Skill } from '../skill/skill.ts';
import { CHANGE_WAITS, NOT_INSPECTED, RULED_OUT } from '../skill/why-held.ts';
import { isSameList, type SourceScan } from '../sources/source.ts';
import type { Snapshot } from './snapshot.ts';

export interface RestrictionOptions {
  /** What gates are checked against; called at every refresh. Default: gates are not checked. */
  readonly gates?: () => GateEnvironment;
  /** The `disabled` entries; called at every refresh. Default: none. */
  readonly disabled?: () => readonly DisabledSkill[];
  /** Why a skill is held; undefined when it is not. Default: no skill is. */
  readonly heldBecause?: (skill: Skill) => string | undefined;
}

type Restriction = Pick<Skill, 'hiddenBecause' | 'disabledFor' | 'heldBecause'>;
export type Restrict = (skill: Skill) => Restriction | undefined;

/** Called at every refresh, because a program may have been installed, or a person may have allowed something. */
export function restrictionsNow({ gates, disabled = () => [], heldBecause }: RestrictionOptions): Restrict {
  const entries = disabled();
  const environment = gates?.();
  return (skill) => {
    const gate = environment && skill.gate && gateClosedBecause(skill.gate, environment);
    const because = draftReason(skill.fillsLeft) ?? gate;
    const disabledAgents = entries.length === 0 ? undefined : disabledFor(skill, entries);
    const held = heldBecause?.(skill);
    if (because === undefined && disabledAgents === undefined && held === undefined) return undefined;
    return {
      ...(because === undefined ? {} : { hiddenBecause: because }),
      ...(disabledAgents === undefined ? {} : { disabledFor: disabledAgents }),
      ...(held === undefined ? {} : { heldBecause: held }),
    };
  };
}

/** By what a source found: the same objects as before while the restrictions stay the same. */
export interface Restricted {
  readonly skills: WeakMap<Skill, { readonly restriction: string; readonly skill: Skill }>;
  readonly scans: WeakMap<SourceScan, SourceScan>;
}

export async function restrictScan(scan: SourceScan, restrict: Restrict, known: Restricted): Promise<SourceScan> {
  const problems = [...scan.problems];
  const restricted = (skill: Skill): Skill => {
    const found = restrict(skill);
    if (found === undefined) return skill;
    if (found.hiddenBecause !== undefined) problems.push(hiddenProblem(skill, found.hiddenBecause));
    const restriction = JSON.stringify(found);
    const before = known.skills.get(skill);
    const now = before?.restriction === restriction ? before : { restriction, skill: { ...skill, ...found } };
    known.skills.set(skill, now);
    return now.skill;
  };
  const [skills, losers]: [Skill[], Skill[]] = [[], []];
  await eachWithBreaks(scan.skills, (skill) => void skills.push(restricted(skill)));
  await eachWithBreaks(scan.losers ?? [], (skill) => void losers.push(restricted(skill)));
  const before = known.scans.get(scan);
  if (before && isSameList(before.skills, skills) && isSameList(before.losers ?? [], losers)) return before;
  const now = { skills, losers, problems };
  known.scans.set(scan, now);
  return now;
}

export async function heldProblems({
  byId,
  byQualifiedId,
}: Pick<Snapshot, 'byId' | 'byQualifiedId'>): Promise<readonly Problem[]> {
  const files = new Set<string>();
  const problems: Problem[] = [];
  await eachWithBreaks(byQualifiedId.values(), (skill) => {
    const { heldBecause } = skill;
    const file = skill.realFile ?? skill.qualifiedId;
    if (heldBecause === undefined || heldBecause === NOT_INSPECTED || heldBecause === CHANGE_WAITS) return;
    if (heldBecause.startsWith(RULED_OUT)) return;
    if (files.has(file)) return;
    files.add(file);
    problems.push(heldProblem(skill, byId.get(skill.id) === skill ? skill.id : skill.qualifiedId));
  });
  return problems;
}

// --- internal ---

function disabledFor({ id, qualifiedId }: Skill, disabled: readonly DisabledSkill[]): Skill['disabledFor'] {
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
  const remedy = `See it with "skill-registry approvals show ${qualifiedId}", then allow it with "skill-registry approvals allow ${qualifiedId}" or remove it.`;
  const others = dir === null ? '' : ' Other programs that read this folder see it.';
  const message = `No agent is given "${shownAs}", because it is held: ${heldBecause}.${others} ${remedy}`;
  return { code: 'SKILL_HELD', severity: 'warning', file, message, details: { skill_id: shownAs } };
}
