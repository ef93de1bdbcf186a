import { z } from 'skill-registry/kernel';
import { download } from '../../../../../lib/fetch/index.ts';
import type { TakenProposal } from '../../proposals/propose/types.ts';
import { proposalId, skillId } from '../wire.ts';
import { type Hub, readAnswer, toldBy } from './hub-address.ts';

interface Taken extends TakenProposal {
  readonly author: string;
  /** Under which a machine has sent it. */
  readonly sentId: string | null;
}

/** What the person of this machine's token has proposed at the hub, the newest first. @throws as `Hub.use`. */
export async function readTaken(hub: Hub, of: string | undefined, ended: AbortSignal): Promise<readonly Taken[]> {
  const { proposals } = await hub.use(LIST_MS, ended, async ({ base, headers, signal }) => {
    const filter = of === undefined ? '' : `&skill_id=${encodeURIComponent(of)}`;
    const bytes = await download(`${base}/proposals?state=all&limit=100${filter}`, MAX_LIST, { headers, signal });
    return readAnswer(bytes, `${base}/proposals`, list);
  });
  const where = hub.addresses[0] ?? '';
  const shown = proposals.map(async ({ proposal_id: id, skill_id, sent_id: sentId, ...one }) => {
    // Words of another machine.
    const [decidedBy = null, reason = null] = await Promise.all([toldBy(hub, one.decided_by), toldBy(hub, one.reason)]);
    return { ...one, id, skillId: skill_id, where, sentId, decidedBy, reason };
  });
  return Promise.all(shown);
}

// --- internal ---

const LIST_MS = 10_000;
const MAX_LIST = 16 * 1024 * 1024;

const list = z.object({
  proposals: z
    .array(
      z.object({
        proposal_id: proposalId,
        skill_id: skillId,
        state: z.enum(['open', 'stale', 'approved', 'rejected']),
        author: z.string(),
        sent_id: z.string().nullable().default(null),
        decided_by: z.string().nullable(),
        reason: z.string().nullable(),
        diff: z.string().default(''),
        justification: z.string().default(''),
      }),
    )
    .max(200),
});
