import type { AddPlan, ChangedSkill, SkillToAdd } from '../extensions/skill_registry/host.ts';
import { isCodedError } from '../lib/errors/index.ts';
import { printable, shellWord } from '../lib/text/index.ts';
import {
  actorOf,
  firstLines,
  isConfirmed,
  isConfirmedOrYes,
  type Options,
  type Terminal,
  withProgress,
} from './terminal.ts';

export interface LettingOptions extends Options {
  readonly allowBlock?: readonly string[];
}

type Planned = Pick<SkillToAdd, 'id' | 'findings'> & { readonly blocked?: string | undefined };

interface Answer {
  /** Whether `apply` is called, which also names the refused skills. */
  readonly isMeant: boolean;
  readonly isAny: boolean;
  readonly allowBlock: readonly string[];
}

export function refusedOf<S extends Planned>(skills: readonly S[], { allowBlock = [] }: LettingOptions): readonly S[] {
  return skills.filter(({ blocked }) => blocked !== undefined && !allowBlock.includes(blocked));
}

/**
 * Asks once about all skills without a finding of level `block`, then about each other skill.
 * `--yes` never lets in a skill with such a finding: `--allow-block` has to name it.
 */
export async function askAbout(
  verb: 'Install' | 'Write' | 'Update',
  skills: readonly Planned[],
  options: LettingOptions,
  terminal: Terminal,
): Promise<Answer> {
  const { ask, say } = terminal;
  const { yes, allowBlock = [] } = options;
  const doubtful = refusedOf(skills, options);
  const plain = skills.filter((skill) => !doubtful.includes(skill));
  const what = plain.length === 1 ? printable(plain[0]?.id ?? '') : `these ${plain.length} skills`;
  if (plain.length > 0 && !(await isConfirmedOrYes(`${verb} ${what}?`, options, terminal)))
    return { isMeant: false, isAny: false, allowBlock };
  const letIn = [...allowBlock];
  for (const { id, blocked = '', findings } of doubtful) {
    if (yes || !ask) break;
    const blocks = findings.filter(({ level }) => level === 'block').length;
    const question = `${verb} ${printable(id)}, although ${blocks} finding(s) look like an attack?`;
    if (await isConfirmed({ ask }, question, id)) letIn.push(blocked);
  }
  const isAny = plain.length > 0 || letIn.length > allowBlock.length;
  if (!isAny && !yes) say('Nothing was changed');
  return { isMeant: isAny || yes === true, isAny, allowBlock: letIn };
}

interface RefusedSkill {
  readonly skill_id: string;
  /** `<id>@<digest>` */
  readonly allow_block: string;
  /** Lets in only the files that were inspected. */
  readonly command: string;
}

interface Answered {
  readonly plan: Pick<AddPlan, 'apply'>;
  /** Nothing is written without one. */
  readonly answer: Answer | undefined;
  readonly doing: string;
  /** The words of the command for one skill, without `--yes`, `--allow-block` and the global options. */
  wordsFor(id: string): readonly string[];
}

/** Writes what a person agreed to. For each refused skill it prints the command that lets in only these files. */
export async function applyAnswered(
  { plan, answer, doing, wordsFor }: Answered,
  options: LettingOptions,
  terminal: Terminal,
): Promise<{ readonly changed: readonly ChangedSkill[]; readonly refused: readonly RefusedSkill[] }> {
  if (!answer?.isMeant) return { changed: [], refused: [] };
  try {
    const applying = plan.apply(actorOf(options, terminal), { allowBlock: answer.allowBlock });
    return { changed: await withProgress(doing, terminal, applying), refused: [] };
  } catch (error) {
    if (!isCodedError(error, 'SKILL_BLOCKED')) throw error;
    const { refused, changed } = error.details as {
      readonly refused: readonly Omit<RefusedSkill, 'command'>[];
      readonly changed: readonly ChangedSkill[];
    };
    return {
      changed,
      refused: refused.map(({ skill_id, allow_block }) => {
        const again = [...wordsFor(skill_id), ...globalWords(options), '--yes', '--allow-block', allow_block];
        const command = ['skill-registry', ...again].map(shellWord).join(' ');
        terminal.say(
          `${skill_id} is refused, because it looks like an attack: nothing of it was written. When you have read what was found, this lets in exactly these files: ${command}`,
        );
        return { skill_id, allow_block, command };
      }),
    };
  }
}

/** One line per finding of these levels, at most `MAX_SHOWN`. */
export function findingLines(findings: Findings, levels: readonly Findings[number]['level'][]): readonly string[] {
  const lines = findings
    .filter(({ level }) => levels.includes(level))
    .map(({ level, rule, file, line, message, excerpt }) => {
      const where = `${file}${line === undefined ? '' : `:${line}`}`;
      return `  ${level.toUpperCase()} ${where}: ${message}${excerpt === '' ? '' : ` ${excerpt}`} (${rule})`;
    });
  return firstLines(lines, MAX_SHOWN, ' finding(s); --json has all');
}

// --- internal ---

type Findings = SkillToAdd['findings'];

const MAX_SHOWN = 10;

function globalWords({ root, skills = [], trust }: Options): readonly string[] {
  return [
    ...(root === undefined ? [] : ['--root', root]),
    ...skills.flatMap((folder) => ['--skills', folder]),
    ...(trust ? ['--trust'] : []),
  ];
}
