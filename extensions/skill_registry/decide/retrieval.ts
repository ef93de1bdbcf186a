import { describeError } from 'skill-registry/kernel';
import { oneLine } from '../../../lib/text/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { type Check, LEVELS, listChecks } from '../inspect/findings.ts';
import type { Proposal } from '../propose/types.ts';

/** Not stored, because it depends on the other skills. @param after - SKILL.md as an approval would leave it. */
export async function withRetrieval<Shown extends Pick<Proposal, 'skillId' | 'checks'>>(
  context: Pick<ChangeContext, 'retrievalEffect'>,
  proposal: Shown,
  after: string,
): Promise<Shown> {
  // Earlier releases stored it.
  const stored = proposal.checks.filter(({ kind }) => kind !== 'retrieval');
  const checks = [...stored, ...(await retrievalChecks(context, proposal.skillId, after))];
  return { ...proposal, checks: LEVELS.flatMap((level) => checks.filter((check) => check.level === level)) };
}

// --- internal ---

async function retrievalChecks(
  { retrievalEffect }: Pick<ChangeContext, 'retrievalEffect'>,
  id: string,
  text: string,
): Promise<readonly Check[]> {
  const kind = 'retrieval';
  try {
    const changes = await retrievalEffect(id, text);
    if (changes.length === 0) return [{ kind, level: 'info', text: 'No stored trigger query changes its top hit' }];
    const facts = changes.map(({ query, skillId, before, after }) => {
      const what = `"${query}", a query of ${skillId}, would find ${after ?? 'nothing'} instead of ${before ?? 'nothing'}`;
      return { key: what, level: 'warn', what: oneLine(what, 300) } as const;
    });
    return listChecks(kind, facts);
  } catch (error) {
    const why = `The effect on retrieval could not be computed: ${oneLine(describeError(error), 300)}`;
    return [{ kind, level: 'warn', text: why }];
  }
}
