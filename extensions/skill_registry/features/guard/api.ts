import type { Inspection, InspectionRule } from './inspect/rule.ts';
import type { SkillTrust, TrustDecision } from './types.ts';

declare module '../../core/api.ts' {
  interface SkillRegistryAdmin {
    /** @param skillId - An id, or a qualified id (`<source>:<path>`). @throws SKILL_NOT_FOUND */
    trustOf(skillId: string): Promise<SkillTrust>;
    /**
     * Allows the `block` findings of a skill, or revokes this; without any: the keys and tokens that keep it from being
     * published. Holds for exactly these files of an installed skill, in any folder; for these findings of an own skill
     * in this folder, also after edits. The catalog is up to date when this resolves.
     * @throws SKILL_NOT_FOUND, TRUST_UNUSABLE; INVALID_ARGUMENT for another digest, or nothing to decide.
     */
    decideTrust(action: 'allow' | 'revoke', skillId: string, decision: TrustDecision): Promise<SkillTrust>;
    /** Inspects every skill that is not inspected yet; `watch` does this too. */
    inspectSkills(): Promise<void>;
  }
}

/** The rules of inspections. */
export async function inspectionRules(): Promise<readonly InspectionRule[]> {
  return (await import('./inspect/inspect-skill.ts')).inspectionRules();
}

/**
 * Runs nothing; does not read links and private files (`.env`, `.git`, keys).
 * @param folder - Absolute. @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND when it is no folder.
 */
export async function inspectFolder(folder: string): Promise<Inspection> {
  return (await import('./files-for-inspection.ts')).inspectFolder(folder);
}
