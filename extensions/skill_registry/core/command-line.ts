/** What a feature gives to the command line, and what its commands are given. */
import type { Command } from 'commander';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import { type ExitStatus, invalidArgument, type Options, type Terminal } from '../../../lib/command-line/index.ts';
import type { SkillRegistry } from './api.ts';
import type { TeamPages, TeamPagesOptions } from './review.ts';

/** A feature may declare more members that features which need it give. */
export interface FeatureCommands {
  add?(make: Make): void;
  readonly options?: readonly AddedOptions[];
  /** A sentence after a search that found nothing. */
  unfound?(registry: SkillRegistry): string | undefined;
  /** A line of `list`. */
  notice?(registry: SkillRegistry): Promise<string | undefined>;
  doctor?(opened: OpenRegistry, terminal: CommandTerminal): Promise<DoctorPart>;
  /** Asked in the order of their numbers. */
  readonly trust?: readonly [order: number, load: () => Promise<TrustSubject>];
  /** Why no agent is given a skill, after an inspection of its files; null when agents are. */
  heldBecause?(registry: SkillRegistry, qualifiedId: string): Promise<string | null>;
  shown?(registry: SkillRegistry, qualifiedId: string): Promise<ShownPart>;
  /** What its options say about the turn for which skills are shown. */
  turn?(options: Options, registry: SkillRegistry): Promise<Partial<TurnContext>>;
  /** By name of a command: the words that its arguments take. Default: ids for an argument `id`, else files. */
  readonly completes?: Readonly<
    Record<string, 'ids' | 'files' | ((registry: SkillRegistry) => Promise<readonly string[]>)>
  >;
}

export interface ShownPart {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

export interface DoctorPart {
  /** The position of its fields in `--json`. */
  readonly order?: number;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly problems?: readonly Problem[];
  readonly total?: string | undefined;
  /** A line below the number of problems. */
  readonly remedy?: string;
  /** Cut after ten lines without `--all`. */
  readonly section?: { readonly title: string; readonly lines: readonly string[] };
}

/** What `trust` decides about beside roots. Undefined: it is none of these. */
export interface TrustSubject {
  /** For `approvals list`. */
  list?(registry: SkillRegistry): Promise<ShownPart>;
  show(id: string, options: Options, terminal: CommandTerminal): Promise<ExitStatus | undefined>;
  decide(
    action: TrustAction,
    given: string,
    options: TrustOptions,
    terminal: CommandTerminal,
  ): Promise<ExitStatus | undefined>;
  /** For a message about a name that is none of anything. */
  names?(registry: SkillRegistry): Promise<readonly string[]>;
}

export type TrustAction = 'allow' | 'revoke';

export interface TrustOptions extends Options {
  readonly digest?: string;
}

export interface OpenRegistry {
  readonly root: string;
  /** Code and settings of the root take effect. */
  readonly trusted: boolean;
  readonly registry: SkillRegistry;
  /** Includes problems of the config file. */
  problems(): readonly Problem[];
}

export interface Opening {
  /** False for a command that must be quick and does not report what agents are given. Default: true. */
  readonly inspect?: boolean;
  /** False for commands that only read: TypeScript checked their calls, and zod loads slowly. Default: true. */
  readonly checksArguments?: boolean;
  /** False where others than the person at this machine are given what is found. Default: true. */
  readonly presets?: boolean;
}

/** The argument of every command before the last. */
export interface CommandTerminal extends Terminal {
  /** The same one each time for the same `options` object. It is closed when the command ends. */
  openRegistry(options: Options, opening?: Opening): Promise<OpenRegistry>;
  /** `--root`, else the nearest root upwards, else the working folder. @throws ROOT_NOT_FOUND. */
  findRoot(options: Options): string;
  isRoot(folder: string): boolean;
  /** The owner's config of the registry, without what an unapproved root may not set. */
  configOf(root: string, options: Options): Readonly<Record<string, unknown>>;
  readonly features: readonly FeatureCommands[];
  openTeamPages(options: TeamPagesOptions): Promise<TeamPages>;
}

/** Their titles in the help, in this order. */
export const GROUPS = {
  first: 'Commands:',
  agents: 'Agents:',
  root: 'Skills of a root:',
  folders: 'Skills in folders:',
  changes: 'Changes and their history:',
  elsewhere: 'Skills from elsewhere, and for others:',
  approvals: 'Approvals:',
  setup: 'Servers and setup:',
  /** Older names, which no help shows. */
  old: 'Older names:',
} as const;

/** The order is the position in the group. */
export type Place = readonly [group: keyof typeof GROUPS, order: number];

/**
 * Adds a command with the global options and an example in its help, where `$` stands for the whole command.
 * @param at - In the help; or the command above.
 * @param action - Name of the function that the loaded module has for it: arguments, options, terminal, command.
 */
export type Make = <Name extends string>(
  at: Place | Command,
  name: string,
  example: string,
  action?: Name,
  load?: () => Promise<Readonly<Record<NoInfer<Name>, Action>>>,
) => Command;

export interface AddedOptions {
  readonly command: string;
  /** Among what is added to the command. */
  readonly order: number;
  add(command: Command): Command;
  /** By name of an option that may be given: runs first, and instead of the command unless it returns undefined. */
  readonly before?: Readonly<Record<string, () => Promise<Before>>>;
}

type Before = (...given: never[]) => Promise<ExitStatus | undefined>;
type Action = (...given: never[]) => Promise<ExitStatus> | Promise<void> | ExitStatus;

/** @param features - The list. */
export async function commandsOf(features: readonly unknown[]): Promise<readonly FeatureCommands[]> {
  const given = (features as readonly { commands?(): Promise<FeatureCommands> }[]).map((one) => one.commands?.());
  return (await Promise.all(given)).flatMap((one) => one ?? []);
}

export const ID = 'id or qualified id (<source>:<path>)';

export const REASON = ['--reason <text>', 'why; recorded with the decision'] as const;
export const BY = ['--by <name>', 'who decides (default: whoever is logged in)'] as const;
export const YES_OF_CHANGE = ['--yes', 'show the difference and do not ask'] as const;

export function withReason(command: Command): Command {
  return command.option(...REASON).option(...BY);
}

/** Which file of a skill `show` prints. */
export interface ShowOptions extends Options {
  readonly resource?: string;
  readonly reference?: string;
  readonly script?: string;
}

export function filePathOf({ resource, reference, script }: ShowOptions): string | undefined {
  const references = reference === undefined ? [] : [`references/${reference}`];
  const scripts = script === undefined ? [] : [`scripts/${script}`];
  const given = [resource ?? [], references, scripts].flat();
  if (given.length > 1) throw invalidArgument('Give one of --resource, --reference and --script.');
  return given[0];
}
