import type { ChangedSkill, SkillToAdd } from '../extensions/skill_registry/host.ts';
import { isCodedError } from '../lib/errors/index.ts';
import { printable, shellWord } from '../lib/text/index.ts';
import { type ConfirmedOptions, type GlobalOptions, isConfirmed, isConfirmedOrYes, type Terminal } from './terminal.ts';

/** Options of a command that brings skills in. */
export interface LettingOptions extends ConfirmedOptions {
  /** `<id>@<digest>` */
  readonly allowBlock?: readonly string[];
}

type Planned = Pick<SkillToAdd, 'id' | 'findings'> & { readonly blocked?: string | undefined };

/** What of a plan is to be written. */
export interface Answer {
  /** Whether `apply` is called: what is refused is then said. */
  readonly isMeant: boolean;
  /** Whether anything of it may be written. */
  readonly isAny: boolean;
  /** For `apply`. */
  readonly options: { readonly allowBlock: readonly string[] };
}

/** The skills of a plan that are refused unless somebody answers yes. */
export function refusedOf<S extends Planned>(skills: readonly S[], { allowBlock = [] }: LettingOptions): readonly S[] {
  return skills.filter(({ blocked }) => blocked !== undefined && !allowBlock.includes(blocked));
}

/**
 * Asks once about all skills in which nothing looks like an attack, and then about each of the others. With `--yes` nobody looks at
 * them, so those are refused that `--allow-block` does not name.
 */
export async function askAbout(
  verb: 'Install' | 'Write' | 'Update',
  skills: readonly Planned[],
  options: LettingOptions,
  terminal: Terminal,
): Promise<Answer> {
  const { ask, err } = terminal;
  const { yes, allowBlock = [] } = options;
  const doubtful = refusedOf(skills, options);
  const plain = skills.filter((skill) => !doubtful.includes(skill));
  const what = plain.length === 1 ? printable(plain[0]?.id ?? '') : `these ${plain.length} skills`;
  if (plain.length > 0 && !(await isConfirmedOrYes(`${verb} ${what}?`, options, terminal)))
    return { isMeant: false, isAny: false, options: { allowBlock } };
  const letIn = [...allowBlock];
  for (const { id, blocked = '', findings } of doubtful) {
    if (yes || !ask) break;
    const blocks = findings.filter(({ level }) => level === 'block').length;
    const question = `${verb} ${printable(id)}, although ${blocks} finding(s) look like an attack?`;
    if (await isConfirmed({ ask }, question, id)) letIn.push(blocked);
  }
  const isAny = plain.length > 0 || letIn.length > allowBlock.length;
  if (!isAny && !yes) err('Nothing was changed\n');
  return { isMeant: isAny || yes === true, isAny, options: { allowBlock: letIn } };
}

/** A skill of which nothing was written. */
export interface RefusedSkill {
  readonly skill_id: string;
  /** `<id>@<digest>` */
  readonly allow_block: string;
  /** Lets in exactly these files. */
  readonly command: string;
}

/**
 * Says of each skill that was refused how exactly these files are let in.
 *
 * @param applying - The work of `apply`.
 * @param commandFor - Without `--yes` and `--allow-block`.
 */
export async function appliedOrRefused(
  applying: Promise<readonly ChangedSkill[]>,
  commandFor: (id: string) => string,
  { err }: Pick<Terminal, 'err'>,
): Promise<{ readonly changed: readonly ChangedSkill[]; readonly refused: readonly RefusedSkill[] }> {
  try {
    return { changed: await applying, refused: [] };
  } catch (error) {
    if (!isCodedError(error, 'SKILL_BLOCKED')) throw error;
    const { refused, changed } = error.details as {
      readonly refused: readonly Omit<RefusedSkill, 'command'>[];
      readonly changed: readonly ChangedSkill[];
    };
    return {
      changed,
      refused: refused.map(({ skill_id, allow_block }) => {
        const command = `${commandFor(skill_id)} --yes --allow-block ${shellWord(allow_block)}`;
        err(
          `${printable(skill_id)} is refused, because it looks like an attack: nothing of it was written. When you have read what was found, this lets in exactly these files: ${printable(command)}\n`,
        );
        return { skill_id, allow_block, command };
      }),
    };
  }
}

/** A command with the global options that were given. */
export function commandAgain(words: readonly string[], { root, skills = [], trust }: GlobalOptions): string {
  const globals = [
    ...(root === undefined ? [] : ['--root', root]),
    ...skills.flatMap((folder) => ['--skills', folder]),
    ...(trust ? ['--trust'] : []),
  ];
  return ['skill-registry', ...words, ...globals].map(shellWord).join(' ');
}
