/** `skill-registry`: the registry as a library. Exports only types that programs write by name. */
import type { Inspection, InspectionRule } from './features/guard/inspect/types.ts';
import type { SkillCheck, ValidateSkillOptions } from './features/validate/validate-skill.ts';

/** Thrown on purpose: branch on `code`, show `message`. */
export { type CodedError, isCodedError } from '../../lib/errors/index.ts';
export type {
  AddPlan,
  ApplyOptions,
  CustomSkill,
  CustomSource,
  Finding,
  ImportPlan,
  ListQuery,
  Proposal,
  ProposalInput,
  ResourceContent,
  Revision,
  Skill,
  SkillContent,
  SkillList,
  SkillLoadedEvent,
  SkillRegistry,
  SkillRegistryExtension,
  Snapshot,
  UpdatePlan,
  UsageEvent,
  UsageReport,
} from './api.ts';
export type { SkillRegistryConfigInput, SourceConfigInput } from './core/config/config.ts';
export { defineSource } from './core/sources/define-source.ts';
export { readProperties, type SkillProperties, toPrompt } from './features/validate/properties-and-prompt.ts';
export { checkSkill, type SkillCheck, validateSkill } from './features/validate/validate-skill.ts';
export type { SkillRegistryOptions } from './options.ts';
export { createSkillRegistry } from './registry.ts';

// Rarely used: their modules are loaded when they are called.

/** Also checks `allowed-tools` against the pack. Runs nothing. @returns findings; also one for a wrong path. */
export async function checkPack(path: string, options?: ValidateSkillOptions): Promise<SkillCheck> {
  return (await import('./features/packs/check-pack.ts')).checkPack(path, options);
}

/**
 * Runs nothing; does not read links and private files (`.env`, `.git`, keys).
 * @param folder - Absolute. @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND when it is no folder.
 */
export async function inspectFolder(folder: string): Promise<Inspection> {
  return (await import('./features/history/inspect-folder.ts')).inspectFolder(folder);
}

/** The rules of `inspectFolder`. */
export async function inspectionRules(): Promise<readonly InspectionRule[]> {
  return (await import('./features/guard/inspect/inspect-skill.ts')).inspectionRules();
}
