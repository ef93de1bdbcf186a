import type { Dialect } from './config.ts';
import type { RolePrompt } from './roles.ts';

declare module '../../core/api.ts' {
  interface SkillRegistryAdmin {
    /**
     * The skill of that id (index and body); else the template `<templates>/<role>/system_prompt.md`; else a sentence.
     * @param options.templates - Folder, relative to the root. Default: `templates/roles`.
     * @throws INVALID_ARGUMENT when the role is no valid name, or its template cannot be rendered.
     */
    resolveRolePrompt(
      role: string,
      options?: { readonly templates?: string; readonly variables?: Readonly<Record<string, unknown>> },
    ): Promise<RolePrompt>;
  }
}

declare module '../../core/config/config.ts' {
  interface SkillRegistryConfig {
    /** Adds the tools of other designs after `tools`. */
    readonly dialect: readonly Dialect[];
  }
  interface ToolNames {
    readonly load_skill: true;
    readonly skill: true;
    readonly skill__activate: true;
    readonly skill__read_resource: true;
  }
}
