import type { Snapshot } from 'skill-registry';
import { CodedError } from 'skill-registry/kernel';
import { didYouMean, formatTable, printable } from '../../lib/text/index.ts';
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
import { skillRowOf, unseenSkillsText, withoutOneSource } from './list.ts';

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
    await withProgress('Embedding skills', terminal, registry.admin.embedSkills());
  }
  await withProgress('Indexing skills, once', terminal, registry.admin.prepareSearch(query));
  const { limit = 20, tag, source } = options;
  if (source !== undefined) assertSource(source, registry.snapshot());
  const { skills, total, provisional, pending, nearest, message } = registry.list({
    query,
    limit,
    why: true,
    audience: 'person',
    ...(tag === undefined ? {} : { tag }),
    ...(source === undefined ? {} : { source }),
  });
  const { byId } = registry.snapshot();
  if (options.json) {
    const counts = await registry.admin.tokenCounts({ bodies: false });
    const rows = skills.flatMap(({ skillId, score, why }) => {
      const skill = byId.get(skillId);
      return skill ? [{ ...skillRowOf(skill, counts.get(skillId)), score, why }] : [];
    });
    printJson(terminal, {
      skills: rows,
      total,
      ...(provisional ? { provisional, pending } : {}),
      ...(nearest ? { nearest } : {}),
      ...(message ? { message } : {}),
      problems: problems(),
    });
  } else if (skills.length > 0) {
    const cells = skills.map(({ skillId, score = 0, why, source: from }) => [
      skillId,
      score.toFixed(2),
      from,
      why ? `${why.field}: ${why.snippet}` : '',
    ]);
    const table = withoutOneSource([['SKILL', 'SCORE', 'SOURCE', 'WHY'], cells], terminal);
    terminal.out(`${formatTable(...table, widthOf(terminal))}\n`);
  }
  terminal.err(unseenSkillsText(skills.flatMap(({ skillId }) => byId.get(skillId) ?? [])));
  const nearestIds = nearest ? ` Nearest: ${nearest.join(', ')}.` : '';
  const turnOn = message?.includes('by meaning is off') ? ` ${TURN_ON}` : '';
  if (message) terminal.err(`${message}${nearestIds}${turnOn}\n`);
  if (skills.length > 0)
    terminal.err(`${total} skill(s)${total > skills.length ? `, the best ${skills.length} shown` : ''}\n`);
  // Only problems that affect this answer; `list` and `doctor` report the others.
  for (const { severity, code, message } of problems()) {
    if (code.startsWith('EMBEDDINGS_')) terminal.err(`${severity}: ${printable(message)}\n`);
  }
  await registry.close();
  return EXIT.done;
}

// --- internal ---

const TURN_ON = 'Search by meaning needs embeddings.base_url and embeddings.model in data/skill_registry/config.yaml.';

function notConfigured(): CodedError<'INVALID_ARGUMENT'> {
  const remedy = 'Set embeddings.base_url and embeddings.model in data/skill_registry/config.yaml.';
  return new CodedError('INVALID_ARGUMENT', `--embed needs an embeddings endpoint. ${remedy}`);
}

/** @throws INVALID_ARGUMENT: an unknown source would look as if no skill fits. */
function assertSource(wanted: string, { sources, byQualifiedId }: Snapshot): void {
  const known = [
    ...new Set([...sources.map(({ id }) => id), ...[...byQualifiedId.values()].map(({ source }) => source)]),
  ];
  if (known.includes(wanted)) return;
  const message = `There is no source ${JSON.stringify(wanted)}.${didYouMean(wanted, known)} Sources: ${known.join(', ') || 'none'}.`;
  throw new CodedError('INVALID_ARGUMENT', message);
}
