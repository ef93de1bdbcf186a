/** What the owner sets. No code: read-config.ts reads it. */
import type { ValidationProfile } from '../skill/profile.ts';
import type { PresetGroup, PresetName } from './preset-table.ts';

/** Has exactly one of `path`, `inline`, `preset`, `shipped` and the keys of other kinds. Features add theirs. */
export interface SourceConfig {
  /** A folder, or a bare `.md` file: absolute, below `~/`, or relative to the root. */
  readonly path?: string | undefined;
  readonly inline?: InlineSkillConfig | readonly InlineSkillConfig[] | undefined;
  /**
   * The skill folders of another agent: those of the project, nearest first, then that of the home directory. `all`:
   * those of every agent; `project`: of these without the home directory.
   */
  readonly preset?: PresetName | PresetGroup | undefined;
  /** The skills of this package; `if_none`: only while no earlier source has a skill. */
  readonly shipped?: true | 'if_none' | undefined;
  /** Default: name of the folder, file, package, pack, preset, program, host; `inline`, `shipped`. Numbered if used. */
  readonly id?: string | undefined;
  /** Follow links and pack entries that lead outside the folder. Default: false; they are problems. */
  readonly allow_outside: boolean;
  /** Default: `validation` of the registry. */
  readonly validation?: ValidationProfile | undefined;
  /** Every prompt contains the bodies of its skills. Default: false. */
  readonly preload: boolean;
  /** It is no problem if it does not exist. Default: false. */
  readonly optional: boolean;
  /** Ignore what its `.gitignore` and `.ignore` files name. Default: false. */
  readonly ignore_files: boolean;
  /** `.md` files directly in the folder, except README.md, are skills, too. Default: false. */
  readonly bare_files: boolean;
  /** Its skills may be changed under `writes`. Default: true for a `path`, else false. */
  readonly writable?: boolean | undefined;
}

export interface InlineSkillConfig {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** Text of its other files by relative path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** Disables a skill by id (every skill of that id) or qualified id, for all agents or only for `agent`. */
export type DisabledSkill = string | { readonly skill: string; readonly agent: string };

/** What an agent that no manifest declares sees, and does. With nothing named it sees nothing. */
export interface AgentConfig {
  /** Ids, as in `uses_skills`, with what these skills require; `*`: all. */
  readonly skills: readonly string[];
  /** Every skill of these sources. */
  readonly sources: readonly string[];
  /** By id of a source: its skills with one of these tags. */
  readonly tags: Readonly<Record<string, readonly string[]>>;
  readonly workflow?: { readonly pack: string; readonly state?: string } | undefined;
  /** Whether it may ask for changes of skills. Default: true. */
  readonly proposes: boolean;
  /** `full`: a body that its conversation has is given again, as agents below it may share the conversation. */
  readonly repeat?: 'full' | undefined;
}

/** The `config:` block of the manifest; docs/configuration.md explains every key. Features add theirs. */
export interface SkillRegistryConfig {
  readonly sources: readonly SourceConfig[];
  readonly disabled: readonly DisabledSkill[];
  /** Which source wins when several have one id; `error`: none, and each collision is an error. */
  readonly collision: 'first' | 'last' | 'error';
  readonly validation: ValidationProfile;
  /** What a system prompt contains: the catalog, bodies, or only preloaded skills. */
  readonly inject: 'catalog' | 'bodies' | 'off';
  readonly catalog: {
    readonly format: 'bullets' | 'xml';
    readonly budget_tokens: number;
    readonly enforcement: boolean;
    readonly pinned: readonly string[];
  };
  readonly watch: { readonly mode: 'events' | 'poll' | 'off'; readonly interval_seconds: number };
  readonly limits: {
    readonly skill_tokens: number;
    readonly resource_bytes: number;
    readonly file_bytes: number;
    readonly scan_depth: number;
    /** Tokens that one conversation may be handed over. Default: no limit. */
    readonly thread_tokens?: number | undefined;
    /** The same of an agent, for a day (UTC). */
    readonly agent_tokens_per_day?: number | undefined;
  };
  readonly tools: readonly ToolName[];
  /** Whether gates such as `requires.bins` hide skills, and the settings for `requires.config`. */
  readonly gates: { readonly check: boolean; readonly settings: Readonly<Record<string, unknown>> };
  /** By id, beside the agents of manifests. */
  readonly agents: Readonly<Record<string, AgentConfig>>;
}

/** Tools that `tools` can name. Features add theirs. */
export interface ToolNames {
  readonly list_skills: true;
  readonly read_skill: true;
  readonly read_skill_resource: true;
}

export type ToolName = keyof ToolNames;

type Given<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** Of a mapping each key may be left out. */
type GivenValue<T> = T extends readonly unknown[] ? T : T extends object ? Given<T> : T;

export type SourceConfigInput = Given<SourceConfig>;

type GivenConfig = { readonly [Key in keyof SkillRegistryConfig]?: GivenValue<SkillRegistryConfig[Key]> | undefined };

/** Every key has a default. It is checked at run time when it is read. */
export interface SkillRegistryConfigInput extends Omit<GivenConfig, 'sources' | 'agents'> {
  readonly agents?: Readonly<Record<string, Given<AgentConfig>>> | undefined;
  readonly sources?: readonly SourceConfigInput[] | undefined;
}
