import type { Snapshot } from 'skill-registry';
import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { looksHere } from '../../extensions/skill_registry/host.ts';
import { invalidArgument, nearestText, type Options } from '../../lib/command-line/index.ts';
import { didYouMean, plural } from '../../lib/text/index.ts';
import { printTable, skillRowOf, unseenSkillsText } from './list.ts';

/** Searches what a person may see, hidden skills included. */
export async function search(
  query: string,
  options: Options & { readonly limit?: number; readonly tag?: string; readonly source?: string },
  terminal: Terminal,
): Promise<void> {
  const { root, registry, problems } = await terminal.openRegistry(options, { checksArguments: false });
  await terminal.during('Indexing skills, once', registry.admin.prepareSearch(query), 'list works meanwhile');
  const { limit = 20, tag, source } = options;
  if (source !== undefined) assertSource(source, registry.snapshot());
  const narrowed = { ...(tag !== undefined && { tag }), ...(source !== undefined && { source }) };
  const among = { ...narrowed, audience: 'person' } as const;
  const found = registry.list({ ...among, query, limit, why: true });
  const { skills, total, provisional, pending, nearest, message } = found;
  const { byId } = registry.snapshot();
  if (options.json) {
    const counts = await registry.admin.tokenCounts({ bodies: false });
    const looks = await looksHere(root, registry.snapshot());
    const rows = skills.flatMap(({ skillId, score, weak, why }) => {
      const skill = byId.get(skillId);
      return skill ? [{ ...skillRowOf(skill, looks, counts.get(skillId)), score, weak, why }] : [];
    });
    terminal.print({ skills: rows, total, provisional, pending, nearest, message, problems: problems() });
  } else if (skills.length > 0) {
    const cells = skills.map(({ skillId, score = 0, why, source: from }) => [
      skillId,
      score.toFixed(2),
      from,
      why ? `${why.field}: ${why.snippet}` : '',
    ]);
    printTable([['SKILL', 'SCORE', 'SOURCE', 'WHY'], cells], terminal);
  }
  terminal.err(unseenSkillsText(skills.flatMap(({ skillId }) => byId.get(skillId) ?? [])));
  if (message) {
    // Without any skill of this tag or source, search by meaning finds nothing either.
    const couldFit = total === 0 && registry.list({ ...among, limit: 1 }, { preview: true }).total > 0;
    const hints = couldFit ? terminal.features.flatMap(({ unfound }) => unfound?.(registry) ?? []) : [];
    terminal.say([message + nearestText(nearest ?? []), ...hints].join(' '));
  }
  if (skills.length > 0)
    terminal.say(`${plural(total, 'skill')}${total > skills.length ? `, the best ${skills.length} shown` : ''}`);
  // Prints only problems that affect this answer; `list` and `doctor` report the others.
  for (const { severity, code, message } of problems())
    if (code.startsWith('EMBEDDINGS_')) terminal.say(`${severity}: ${message}`);
}

// --- internal ---

/** @throws INVALID_ARGUMENT for an unknown source, which would look as if no skill fits. */
function assertSource(wanted: string, { sources, byQualifiedId }: Snapshot): void {
  const known = [
    ...new Set([...sources.map(({ id }) => id), ...[...byQualifiedId.values()].map(({ source }) => source)]),
  ];
  if (known.includes(wanted)) return;
  throw invalidArgument(
    `There is no source ${JSON.stringify(wanted)}.${didYouMean(wanted, known)} Sources: ${known.join(', ') || 'none'}.`,
  );
}
