/** `skill-registry`: the registry as a library. */
export type * from './api.ts';
export { checkPack } from './catalog/check-pack.ts';
export type {
  SkillRegistryConfig,
  SkillRegistryConfigInput,
  SourceConfigInput,
  ValidationProfile,
} from './config/config.ts';
export { inspectFolder, inspectionRules } from './inspect-folder.ts';
export type { SkillRegistryOptions } from './options.ts';
export { createSkillRegistry } from './registry.ts';
export { defineSource } from './sources/define-source.ts';
export {
  type PropertiesErrorCode,
  type PropertyValue,
  type ReadPropertiesOptions,
  readProperties,
  type SkillProperties,
  toPrompt,
} from './validate/properties-and-prompt.ts';
export {
  checkSkill,
  type SkillCheck,
  type SkillFinding,
  type ValidateSkillOptions,
  validateSkill,
} from './validate/validate-skill.ts';
