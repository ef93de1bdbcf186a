import { isCodedError } from 'skill-registry/kernel';
import type { Core } from '../../core/feature.ts';
import type { FindingLevel } from '../../core/skill/guard.ts';
import type { HeldSkills } from '../guard/held-skills.ts';
import type { SkillTrust } from '../guard/types.ts';
import type { WaitingForPerson } from './api.ts';
import type { Proposal } from './propose/types.ts';

/** What waits for a person: proposals and held skills. */
export async function waitingFor(
  { catalog }: Pick<Core, 'catalog'>,
  heldSkills: Pick<HeldSkills, 'trustOf'>,
  list: () => Promise<readonly Proposal[]>,
): Promise<WaitingForPerson> {
  const held: SkillTrust[] = [];
  for (const skill of catalog.snapshot().byQualifiedId.values()) {
    if (skill.heldBecause === undefined) continue;
    const trust = await heldSkills.trustOf(skill).catch((error: unknown) => {
      // It was removed meanwhile.
      if (!isCodedError(error, 'SKILL_NOT_FOUND') && !isCodedError(error, 'RESOURCE_NOT_FOUND')) throw error;
    });
    if (trust && trust.heldBecause !== null) held.push(trust);
  }
  // A damaged history does not hide what else waits.
  let unreadable: string | null = null;
  const waiting = await list().catch((error: unknown) => {
    if (!isCodedError(error)) throw error;
    unreadable = error.message;
    return [];
  });
  return {
    proposals: [...waiting].sort((one, other) => compare(riskOf(one), riskOf(other))),
    unreadable,
    held: held.sort((one, other) => compare(countsOf(one.findings), countsOf(other.findings))),
  };
}

// --- internal ---

/** Least risky first: adding or removing a whole skill counts more than a change of its words. */
const KINDS: readonly Proposal['kind'][] = ['update', 'create', 'delete'];

/** The first different number decides. Of equal ones the oldest comes first. */
function riskOf({ checks, kind, created }: Proposal): readonly number[] {
  return [...countsOf(checks), KINDS.indexOf(kind), -Date.parse(created)];
}

function countsOf(found: readonly { readonly level: FindingLevel }[]): readonly number[] {
  return (['block', 'warn'] as const).map((level) => found.filter((one) => one.level === level).length);
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at === -1 ? 0 : (other[at] ?? 0) - (one[at] ?? 0);
}
