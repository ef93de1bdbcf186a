import { isCodedError } from 'skill-registry/kernel';
import type { Page } from '../../../../../lib/forms/index.ts';
import { address, formatTime, type Html, html } from '../../../../../lib/html/index.ts';
import { cards, note } from '../../../../../lib/widgets/index.ts';
import type { InboxPart, ReviewPages, ReviewRequest } from '../../../core/review.ts';
import { isWaiting, riskiestFirst } from '../propose/describe.ts';
import type { Proposal } from '../propose/types.ts';
import { proposalRoutes } from './proposal.ts';
import { severalRoutes } from './several.ts';
import { tagsOf, titleOf } from './shown-proposal.ts';

export const proposalPages: ReviewPages = {
  get: { '/proposals': list, ...severalRoutes.get, ...proposalRoutes.get },
  post: { ...severalRoutes.post, ...proposalRoutes.post },
  navigation: [{ address: '/proposals', text: 'Proposals' }],
  inbox,
  state: async ({ proposals }) => (await proposals.list()).map(({ id, state, version }) => [id, state, version]),
  watch: ({ proposals }, changed) => proposals.onArrival(changed),
};

// --- internal ---

async function list({ registry }: ReviewRequest): Promise<Page> {
  const found = await registry.proposals.list('all', { limit: MAX_LISTED });
  const [waiting, decided] = [found.filter(isWaiting), found.filter((one) => !isWaiting(one))];
  const main = html`<h1>Proposals</h1>
<div id="proposals" data-live>
${found.length === 0 ? html`<p class="empty">There are none.</p>` : ''}
${waiting.length > 1 ? SEVERAL : ''}
${cards('Waiting, riskiest first', riskiestFirst(waiting).map(item))}
${cards('Decided, newest first', decided.map(item))}
</div>
${found.length === MAX_LISTED ? note(html`<p>Only the newest ${MAX_LISTED} are listed.</p>`, 'warn') : ''}`;
  return { title: 'Proposals', at: '/proposals', main, live: 'refresh' };
}

const SEVERAL = html`<p class="quiet"><a href="/several">Decide several proposals at once</a></p>`;

async function inbox({ registry }: ReviewRequest): Promise<InboxPart> {
  try {
    const items = riskiestFirst(await registry.proposals.list()).map(item);
    return { title: 'Proposals', items, ...(items.length > 1 ? { links: SEVERAL } : {}) };
  } catch (error) {
    // A damaged history does not hide what else waits.
    if (!isCodedError(error)) throw error;
    const unreadable = note(html`<p>The proposals cannot be read. ${error.message}</p>`, 'block');
    return { title: 'Proposals', items: [], unreadable };
  }
}

const MAX_LISTED = 200;

function item(proposal: Proposal): Html {
  const { id, author, created, justification } = proposal;
  return html`<li class="card">
<p class="line"><a class="title" href="${address('proposals', id)}">${titleOf(proposal)}</a> ${tagsOf(proposal)}</p>
<p>${justification.slice(0, 240)}</p>
<p class="quiet">${author}, ${formatTime(created)} UTC</p>
</li>`;
}
