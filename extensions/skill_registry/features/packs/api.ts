import type { SkillCheck, ValidateSkillOptions } from '../validate/validate-skill.ts';
import type { Workflows } from './workflow/types.ts';

declare module '../../core/config/config.ts' {
  interface SourceConfig {
    /** An npm package that can be resolved from the root. */
    readonly package?: string | undefined;
    readonly pack?: string | undefined;
  }
}

declare module '../../core/api.ts' {
  interface SkillRegistryAdmin {
    /** The workflow state of each conversation. Calls with a `turn` of a conversation use it. */
    readonly workflows: Workflows;
  }
}

/** Also checks `allowed-tools` against the pack. Runs nothing. @returns findings; also one for a wrong path. */
export async function checkPack(path: string, options?: ValidateSkillOptions): Promise<SkillCheck> {
  return (await import('./check-pack.ts')).checkPack(path, options);
}
