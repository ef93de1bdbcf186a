/** `skill-registry`: the registry as a library. */
export type * from './api.ts';
export type { SkillRegistryConfig, SkillRegistryConfigInput, ValidationProfile } from './config/config.ts';
export { configOfUntrustedRoot } from './config/untrusted-config.ts';
export { describeProposal, describeProposals, describeRevisions, describeStats } from './propose/describe.ts';
export { createSkillRegistry, type SkillRegistryOptions } from './registry.ts';
export type { SkillSource, SourceScan } from './sources/source.ts';
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
