import type { Problem } from 'skill-registry/kernel';
import type { SourceConfig } from '../config/config.ts';
import type { SourceEntry } from '../config/source-entry.ts';
import type { Guard, NoteBlocked } from '../skill/guard.ts';
import type { Profile, ValidationProfile } from '../skill/profile.ts';
import type { DirectorySourceOptions } from './kinds/directory-source.ts';
import type { SkillSource } from './source.ts';
import type { SkillFileCache } from './walk/skill-file-cache.ts';

/** A kind of source: how its entry of `sources` is written, and how it is opened. */
export interface SourceKind extends SourceEntry {
  /** Nobody decides about its sources, or it asks `decisions` itself. Default: false. */
  readonly asksItself?: boolean;
  /** Loads the code of a rare kind only here. Most kinds give one source. */
  open(config: SourceConfig, host: SourceHost): Promise<readonly SkillSource[]>;
}

export interface SourceDecisions {
  /** Why nothing may be read of a source with this key (`SkillSource.key`); undefined when it may be read. */
  refusal(id: string, key: string): Problem | undefined;
  /** Reads the decisions. @returns changes a source so that it reads nothing that they forbid. */
  now(): (source: SkillSource) => Promise<SkillSource>;
}

export interface SourceDefaults {
  readonly root: string;
  /** The rules of `validation` of an entry; by default those of the registry. Default: none. */
  readonly profile?: (named?: ValidationProfile) => Profile | undefined;
  /** A person has approved the root; if not, links that leave it are not followed. Default: true. */
  readonly trusted?: boolean;
  /** Default: nobody has decided anything. */
  readonly decisions?: SourceDecisions | undefined;
  /** Whether skills were installed into a folder of agents. Default: never. */
  readonly installedInto?: ((folder: string) => boolean) | undefined;
  /** Asks whether a person has allowed findings in files that are fetched. Default: nobody has. */
  readonly noteBlocked?: NoteBlocked | undefined;
  /** As that of the guard. Default: all may be named. */
  readonly mayName?: Guard['mayName'] | undefined;
  readonly configFile: string;
  readonly configured?: readonly SourceConfig[];
  readonly cache?: SkillFileCache | undefined;
  readonly getSecret?: (name: string) => string | undefined;
  /** The config comes from a file, so a person decides where its secrets go. Default: false, a program has decided. */
  readonly asksForSecrets?: boolean;
}

export interface SourceHost extends SourceDefaults {
  readonly trusted: boolean;
  /** The entries that are opened together. */
  readonly entries: readonly SourceConfig[];
  /** The id of the entry, or one made of `name`; with a number if it is taken. */
  readonly idOr: (name: string) => string;
  /** As `idOr`, for one of several sources: `id` is whole. */
  readonly takeId: (id: string) => string;
  /** Of the entry, for every kind that reads files. */
  readonly options: Required<
    Pick<DirectorySourceOptions, 'allowOutside' | 'bareFiles' | 'cache' | 'ignoreFiles' | 'optional' | 'registryRoot'>
  > &
    Pick<DirectorySourceOptions, 'profile'>;
}
