import type { Skill, TokenCounts } from 'skill-registry';
import { CodedError } from 'skill-registry/kernel';
import { formatTable, printable } from '../../lib/text/index.ts';
import { openRegistry } from '../open-registry.ts';
import {
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  printJson,
  type Terminal,
  widthOf,
  withProgress,
} from '../terminal.ts';

/** To count means to load the tokenizer and to read every body, so of more than these only what is known is shown. */
const COUNT_UP_TO = 200;

/** `skill-registry list` */
export async function list(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { registry, problems } = await openRegistry(options, terminal);
  const { skills } = registry.snapshot();
  const counts = await registry.tokenCounts({ atMost: COUNT_UP_TO });
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
  const trouble = found.length > 0 ? `; ${found.length} problem(s), see skill-registry doctor` : '';
  terminal.err(`${rows.length} skill(s)${trouble}\n`);
  return errors > 0 ? EXIT.problem : EXIT.done;
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

export interface SearchFlags {
  readonly limit?: number;
  readonly tag?: string;
  readonly source?: string;
  readonly embed?: boolean;
}

/** `skill-registry search <query>`: what a person may see, hidden skills included. */
export async function search(
  query: string,
  options: GlobalOptions & SearchFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry, problems } = await openRegistry(options, terminal);
  if (options.embed) {
    if (registry.config.embeddings.base_url === '') throw notConfigured();
    await withProgress('Embedding skills', terminal, registry.embedSkills());
  }
  await withProgress('Indexing skills, once', terminal, registry.searchReady(query));
  const { limit = 20, tag, source } = options;
  const { skills, total, nearest } = registry.list({
    query,
    limit,
    why: true,
    audience: 'person',
    ...(tag === undefined ? {} : { tag }),
    ...(source === undefined ? {} : { source }),
  });
  if (options.json) {
    const counts = await registry.tokenCounts({ bodies: false });
    const { byId } = registry.snapshot();
    const rows = skills.flatMap(({ skill_id, score, why }) => {
      const skill = byId.get(skill_id);
      return skill ? [{ ...rowOf(skill, counts.get(skill_id)), score, why }] : [];
    });
    printJson(terminal, { skills: rows, total, ...(nearest ? { nearest } : {}), problems: problems() });
  } else if (skills.length > 0) {
    const cells = skills.map(({ skill_id, score = 0, why, source: from }) => [
      skill_id,
      score.toFixed(2),
      from,
      why ? `${why.field}: ${why.snippet}` : '',
    ]);
    terminal.out(`${formatTable(['SKILL', 'SCORE', 'SOURCE', 'WHY'], cells, widthOf(terminal))}\n`);
  }
  const near = nearest ? ` Nearest: ${nearest.join(', ')}.` : '';
  if (total === 0) terminal.err(`No skill fits.${near}\n`);
  else terminal.err(`${total} skill(s)${total > skills.length ? `, the best ${skills.length} shown` : ''}\n`);
  // The others are told by list and doctor; these are why this answer is as it is.
  for (const { severity, code, message } of problems()) {
    if (code.startsWith('EMBEDDINGS_')) terminal.err(`${severity}: ${printable(message)}\n`);
  }
  await registry.close();
  return EXIT.done;
}

// --- internal ---

function notConfigured(): CodedError<'INVALID_ARGUMENT'> {
  const remedy = 'Set embeddings.base_url and embeddings.model in data/skill_registry/config.yaml.';
  return new CodedError('INVALID_ARGUMENT', `--embed needs an embeddings endpoint. ${remedy}`);
}
