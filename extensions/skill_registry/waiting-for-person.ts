import { isCodedError } from 'skill-registry/kernel';
import type { SkillRegistry, SkillRegistryAdmin, WaitingForPerson } from './api.ts';
import type { Proposal } from './propose/types.ts';
import type { FindingLevel, SkillTrust } from './trust/types.ts';

/** As `SkillRegistryAdmin.waiting`. */
export async function waitingFor({
  proposals,
  snapshot,
  trustOf,
}: Pick<SkillRegistry, 'proposals' | 'snapshot'> & Pick<SkillRegistryAdmin, 'trustOf'>): Promise<WaitingForPerson> {
  const held: SkillTrust[] = [];
  for (const { qualifiedId, heldBecause } of snapshot().byQualifiedId.values()) {
    const trust = heldBecause === undefined ? undefined : await ifThere(trustOf(qualifiedId));
    if (trust && trust.heldBecause !== null) held.push(trust);
  }
  // A damaged history does not hide what else waits.
  let unreadable: string | null = null;
  const waiting = await proposals.list().catch((error: unknown) => {
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

/** Most important first. What changes nothing but words comes after what removes or brings a whole skill. */
const KINDS: readonly Proposal['kind'][] = ['update', 'create', 'delete'];

/** The greater, the riskier, by the first number that differs. Of equal ones the oldest is the first. */
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

/** Undefined for a skill that was removed meanwhile. */
async function ifThere(trust: Promise<SkillTrust>): Promise<SkillTrust | undefined> {
  try {
    return await trust;
  } catch (error) {
    if (isCodedError(error, 'SKILL_NOT_FOUND') || isCodedError(error, 'RESOURCE_NOT_FOUND')) return undefined;
    throw error;
  }
}
