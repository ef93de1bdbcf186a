import { isCodedError } from 'skill-registry/kernel';
import type { FindingLevel } from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { RULED_OUT } from '../../core/skill/why-held.ts';
import type { SkillTrust } from './types.ts';

/** The held ones, riskiest first. @param trustOf - Inspects one; it throws when that was removed meanwhile. */
export async function heldForPerson(
  skills: Iterable<Skill>,
  trustOf: (skill: Skill) => Promise<SkillTrust>,
): Promise<readonly SkillTrust[]> {
  const held: SkillTrust[] = [];
  for (const skill of skills) {
    if (skill.heldBecause === undefined || skill.heldBecause.startsWith(RULED_OUT)) continue;
    const trust = await trustOf(skill).catch((error: unknown) => {
      if (!isCodedError(error, 'SKILL_NOT_FOUND') && !isCodedError(error, 'RESOURCE_NOT_FOUND')) throw error;
    });
    if (trust && trust.heldBecause !== null) held.push(trust);
  }
  return byRisk(held, ({ findings }) => countsOf(findings));
}

/** @param riskOf - The first different number decides: the higher comes first. */
export function byRisk<T>(waiting: readonly T[], riskOf: (one: T) => readonly number[]): readonly T[] {
  return [...waiting].sort((one, other) => {
    const [left, right] = [riskOf(one), riskOf(other)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at === -1 ? 0 : (right[at] ?? 0) - (left[at] ?? 0);
  });
}

export function countsOf(found: readonly { readonly level: FindingLevel }[]): readonly number[] {
  return [countOf(found, 'block'), countOf(found, 'warn')];
}

export function countOf(found: readonly { readonly level: FindingLevel }[], level: FindingLevel): number {
  return found.filter((one) => one.level === level).length;
}
