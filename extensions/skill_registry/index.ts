/** `skill-registry`: the registry as a library. */
export type * from './api.ts';
export type { SkillRegistryConfig, SkillRegistryConfigInput, ValidationProfile } from './config.ts';
export { describeProposal, describeProposals, describeRevisions, describeStats } from './proposals/describe.ts';
export { createSkillRegistry, type SkillRegistryOptions } from './registry.ts';
export type { SkillSource, SourceScan } from './sources/source.ts';
export { configOfUntrustedRoot } from './untrusted-config.ts';
export {
  type PropertiesErrorCode,
  type PropertyValue,
  type ReadPropertiesOptions,
  readProperties,
  type SkillProperties,
} from './validation/read-properties.ts';
export { toPrompt } from './validation/to-prompt.ts';
export {
  checkSkill,
  type SkillCheck,
  type SkillFinding,
  type ValidateSkillOptions,
  validateSkill,
} from './validation/validate-skill.ts';
