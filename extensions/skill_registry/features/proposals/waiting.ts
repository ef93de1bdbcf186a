import { isCodedError } from 'skill-registry/kernel';
import type { Core } from '../../core/feature.ts';
import type { HeldSkills } from '../guard/held-skills.ts';
import { byRisk, countsOf, heldForPerson } from '../guard/waiting.ts';
import type { WaitingForPerson } from './api.ts';
import type { Proposal } from './propose/types.ts';

export async function waitingFor(
  { catalog }: Pick<Core, 'catalog'>,
  heldSkills: Pick<HeldSkills, 'trustOf'>,
  list: () => Promise<readonly Proposal[]>,
): Promise<WaitingForPerson> {
  const held = await heldForPerson(catalog.snapshot().byQualifiedId.values(), (skill) => heldSkills.trustOf(skill));
  // A damaged history does not hide what else waits.
  let unreadable: string | null = null;
  const waiting = await list().catch((error: unknown) => {
    if (!isCodedError(error)) throw error;
    unreadable = error.message;
    return [];
  });
  return { proposals: riskiestFirst(waiting), unreadable, held };
}

/**
 * Adding or removing a whole skill counts more than a change of its words. Of equal ones the oldest comes first, and
 * those of one skill stand together, where the riskiest of them does. What is stale comes last.
 */
export function riskiestFirst(proposals: readonly Proposal[]): readonly Proposal[] {
  const bySkill = new Map<string, Proposal[]>();
  const sorted = byRisk(proposals, ({ checks, kind, created, state }) => [
    Number(state !== 'stale'),
    ...countsOf(checks),
    KINDS.indexOf(kind),
    -Date.parse(created),
  ]);
  for (const one of sorted) {
    const ofSkill = bySkill.get(one.skillId);
    if (ofSkill) ofSkill.push(one);
    else bySkill.set(one.skillId, [one]);
  }
  return [...bySkill.values()].flat();
}

// --- internal ---

/** Least risky first. */
const KINDS: readonly Proposal['kind'][] = ['update', 'create', 'delete'];
