export type GlossaryReaders = ReadonlyMap<string, number>;

declare module '../../core/api.ts' {
  interface SkillRegistryAdmin {
    /** How often each agent has read the glossary since the registry was opened. */
    glossaryReaders(): GlossaryReaders;
  }
}

declare module '../../core/config/config.ts' {
  interface SourceConfig {
    /** A file with lines `word: meaning`. */
    readonly glossary?: string | undefined;
  }
}
