import type { Skill, TokenCounts } from 'skill-registry';
import { formatTable, printable } from '../../lib/text/index.ts';
import { openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal, widthOf } from '../terminal.ts';

/** To count means to load the tokenizer and to read every body, so of more than these only what is known is shown. */
const COUNT_UP_TO = 200;

/** `skill-registry list` */
export async function list(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { registry, problems } = await openRegistry(options, terminal);
  const { skills } = registry.snapshot();
  const counts = await registry.admin.tokenCounts({ atMost: COUNT_UP_TO });
  const found = problems();
  const rows = skills.map((skill) => rowOf(skill, counts.get(skill.id)));
  if (options.json) printJson(terminal, { skills: rows, total: rows.length, problems: found });
  else if (rows.length > 0) {
    const cells = rows.map((row) => [
      row.skill_id,
      row.tokens.l1 ?? '-',
      row.tokens.l2 ?? '-',
      row.source,
      row.description,
    ]);
    terminal.out(`${formatTable(['SKILL', 'L1', 'L2', 'SOURCE', 'DESCRIPTION'], cells, widthOf(terminal))}\n`);
  }
  const errors = found.filter((problem) => problem.severity === 'error').length;
  terminal.err(hiddenText(skills));
  const trouble = found.length > 0 ? `; ${found.length} problem(s), see skill-registry doctor` : '';
  terminal.err(`${rows.length} skill(s)${trouble}\n`);
  return errors > 0 ? EXIT.problem : EXIT.done;
}

/** So many are named; `doctor` has all. */
const MAX_HIDDEN = 5;

function hiddenText(skills: readonly Skill[]): string {
  const hidden = skills.filter(({ hiddenBecause }) => hiddenBecause !== undefined);
  const lines = hidden.slice(0, MAX_HIDDEN).map(({ id, hiddenBecause = '' }) => `${id}: ${hiddenBecause}`);
  const more = hidden.length > MAX_HIDDEN ? [`${hidden.length - MAX_HIDDEN} more: see skill-registry doctor`] : [];
  return [...lines, ...more].map((line) => `Agents do not see ${printable(line)}\n`).join('');
}

/** A skill as `list --json` and `search --json` have it. */
export function rowOf(skill: Skill, tokens: TokenCounts = { l1: null, l2: null }): SkillRow {
  return {
    skill_id: skill.id,
    qualified_id: skill.qualifiedId,
    name: skill.name,
    description: skill.description,
    tags: skill.tags,
    source: skill.source,
    file: skill.file,
    tokens,
  };
}

export interface SkillRow {
  readonly skill_id: string;
  readonly qualified_id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly source: string;
  readonly file: string;
  readonly tokens: TokenCounts;
}
