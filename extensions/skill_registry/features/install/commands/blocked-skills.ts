import { actorOf, firstLines, type Options } from '../../../../../lib/command-line/index.ts';
import { isCodedError } from '../../../../../lib/errors/index.ts';
import { levelWord, plural, printable, shellWord } from '../../../../../lib/text/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { isConfirmedWithId } from '../../guard/commands/confirm.ts';
import type { AddPlan, ChangedSkill, SkillToAdd } from '../types.ts';

export interface LettingOptions extends Options {
  readonly allowBlock?: readonly string[];
}

type Planned = Pick<SkillToAdd, 'id' | 'findings'> & { readonly blocked?: string | undefined };

export function refusedOf<S extends Planned>(skills: readonly S[], { allowBlock = [] }: LettingOptions): readonly S[] {
  return skills.filter(({ blocked }) => blocked !== undefined && !allowBlock.includes(blocked));
}

interface Letting {
  readonly plan: Pick<AddPlan, 'apply'>;
  readonly skills: readonly Planned[];
  /** What is written beside them. */
  readonly others?: string | undefined;
  readonly verb: 'Install' | 'Write' | 'Update';
  /** False: nobody is asked, and nothing is written. */
  readonly isAsked: boolean;
  /** The words of the command for one skill, without `--yes`, `--allow-block` and the global options. */
  wordsFor(id: string): readonly string[];
  /** Called when at least one skill is let in. */
  beforeWriting?(): void;
}

interface RefusedSkill {
  readonly skill_id: string;
  /** `<id>@<digest>` */
  readonly allow_block: string;
  /** Lets in only the files that were inspected. */
  readonly command: string;
}

interface Applied {
  readonly isMeant: boolean;
  readonly changed: readonly ChangedSkill[];
  readonly refused: readonly RefusedSkill[];
}

/** Asks, then writes. For each refused skill it prints the command that lets in only these files. */
export async function askAndApply(
  { plan, skills, others, verb, isAsked, wordsFor, beforeWriting }: Letting,
  options: LettingOptions,
  terminal: CommandTerminal,
): Promise<Applied> {
  const allowBlock = isAsked ? await agreedBlocks(verb, skills, others, options, terminal) : undefined;
  if (!allowBlock) return { isMeant: false, changed: [], refused: [] };
  if (refusedOf(skills, { allowBlock }).length < skills.length) beforeWriting?.();
  try {
    const applying = plan.apply(actorOf(options, terminal), { allowBlock });
    const changed = await terminal.during(`${verb.replace(/e$/, '')}ing`, applying);
    return { isMeant: true, changed, refused: [] };
  } catch (error) {
    if (!isCodedError(error, 'SKILL_BLOCKED')) throw error;
    const { refused, changed } = error.details as unknown as Applied;
    const withCommand = refused.map(({ skill_id, allow_block }) => {
      const again = [...wordsFor(skill_id), ...globalWords(options), '--yes', '--allow-block', allow_block];
      const command = ['skill-registry', ...again].map(shellWord).join(' ');
      terminal.say(
        `${skill_id} is refused, because it looks like an attack: nothing of it was written. When you have read what was found, this lets in exactly these files: ${command}`,
      );
      return { skill_id, allow_block, command };
    });
    return { isMeant: true, changed, refused: withCommand };
  }
}

/** One line per finding of these levels, at most `MAX_SHOWN`. */
export function findingLines(findings: Findings, levels: readonly Findings[number]['level'][]): readonly string[] {
  const lines = findings
    .filter(({ level }) => levels.includes(level))
    .map(({ level, rule, file, line, message, excerpt }) => {
      const where = `${file}${line === undefined ? '' : `:${line}`}`;
      return `  ${levelWord(level)} ${where}: ${message}${excerpt === '' ? '' : ` ${excerpt}`} (${rule})`;
    });
  return firstLines(lines, MAX_SHOWN, '; --json has all findings');
}

// --- internal ---

type Findings = SkillToAdd['findings'];

const MAX_SHOWN = 10;

/**
 * Asks once about all skills without a finding of level `block`, then about each other skill. `--yes` never lets in a
 * skill with such a finding: `--allow-block` has to name it.
 * @returns what `--allow-block` would name; undefined when nothing is meant.
 */
async function agreedBlocks(
  verb: Letting['verb'],
  skills: readonly Planned[],
  others: string | undefined,
  options: LettingOptions,
  { agrees, ask, assertCanAsk, say }: CommandTerminal,
): Promise<readonly string[] | undefined> {
  const { yes, allowBlock = [] } = options;
  assertCanAsk();
  const doubtful = refusedOf(skills, options);
  const plain = skills.filter((skill) => !doubtful.includes(skill));
  const ids = plain.length === 1 ? printable(plain[0]?.id ?? '') : `these ${plain.length} skills`;
  const what = [...(plain.length > 0 ? [ids] : []), ...(others === undefined ? [] : [others])].join(' and ');
  if (what !== '' && !(await agrees(`${verb} ${what}?`))) return undefined;
  const agreed = [...allowBlock];
  for (const { id, blocked = '', findings } of doubtful) {
    if (yes || !ask) break;
    const blocks = findings.filter(({ level }) => level === 'block').length;
    const question = `${verb} ${printable(id)}, although it looks like an attack (${plural(blocks, 'finding')})?`;
    if (await isConfirmedWithId({ ask }, question, id)) agreed.push(blocked);
  }
  if (yes || what !== '' || agreed.length > allowBlock.length) return agreed;
  say('Nothing was changed');
  return undefined;
}

function globalWords({ root, skills = [], trust }: Options): readonly string[] {
  return [
    ...(root === undefined ? [] : ['--root', root]),
    ...skills.flatMap((folder) => ['--skills', folder]),
    ...(trust ? ['--trust'] : []),
  ];
}
