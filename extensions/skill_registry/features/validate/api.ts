import type { Problem } from 'skill-registry/kernel';

export { readProperties, type SkillProperties, toPrompt } from './properties-and-prompt.ts';
export { checkSkill, type SkillCheck, validateSkill } from './validate-skill.ts';

declare module '../../core/skill/profile.ts' {
  interface ProfileNames {
    /** The rules and messages of the reference implementation of agentskills.io. */
    readonly spec: true;
    /** Unknown keys and wrong types are errors, and declared files must exist. */
    readonly strict: true;
  }
}

declare module '../../core/api.ts' {
  interface SkillRegistryAdmin {
    /** HIDDEN_CHARACTERS: invisible or reordered text in files and names. Reads every file, unlike `problems()`. */
    hiddenTextProblems(): Promise<readonly Problem[]>;
  }
}
