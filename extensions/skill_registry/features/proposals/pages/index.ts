import { isCodedError } from 'skill-registry/kernel';
import type { Page } from '../../../../../lib/forms/index.ts';
import { address, formatTime, type Html, html, plural } from '../../../../../lib/html/index.ts';
import { cards, levelTag, note, tag } from '../../../../../lib/widgets/index.ts';
import type { InboxPart, ReviewPages, ReviewRequest } from '../../../core/review.ts';
import { countOf } from '../../guard/waiting.ts';
import type { Proposal } from '../propose/types.ts';
import { riskiestFirst } from '../waiting.ts';
import { proposalRoutes } from './proposal.ts';
import { STATE_COLOURS, titleOf } from './shown-proposal.ts';

export const proposalPages: ReviewPages = {
  get: { '/proposals': list, ...proposalRoutes.get },
  post: proposalRoutes.post,
  inbox,
  state: async ({ proposals }) => (await proposals.list()).map(({ id, state, version }) => [id, state, version]),
  watch: ({ proposals }, changed) => proposals.onArrival(changed),
};

// --- internal ---

async function list({ registry }: ReviewRequest): Promise<Page> {
  const found = await registry.proposals.list('all', { limit: MAX_LISTED });
  const main = html`<h1>Proposals</h1>
<div id="proposals" data-live>
${found.length === 0 ? html`<p class="empty">There are none.</p>` : cards('Newest first', found.map(item))}
</div>
${found.length === MAX_LISTED ? note(html`<p>Only the newest ${MAX_LISTED} are listed.</p>`, 'warn') : ''}`;
  return { title: 'Proposals', at: '/', main, live: 'refresh' };
}

async function inbox({ registry }: ReviewRequest): Promise<InboxPart> {
  const links = html`<p class="quiet"><a href="/proposals">All proposals, decided ones too</a></p>`;
  try {
    const waiting = riskiestFirst(await registry.proposals.list());
    // Stale proposals cannot be approved as they are, so they come last.
    const items = [false, true].flatMap((isStale) => waiting.filter(({ state }) => (state === 'stale') === isStale));
    return { title: 'Proposals', items: items.map(item), links };
  } catch (error) {
    // A damaged history does not hide what else waits.
    if (!isCodedError(error)) throw error;
    const unreadable = note(html`<p>The proposals cannot be read. ${error.message}</p>`, 'block');
    return { title: 'Proposals', items: [], links, unreadable };
  }
}

const MAX_LISTED = 200;

function item(proposal: Proposal): Html {
  const { id, state, author, created, checks, justification } = proposal;
  const warnings = countOf(checks, 'warn');
  return html`<li class="card">
<p class="line"><a class="title" href="${address('proposals', id)}">${titleOf(proposal)}</a>
${state === 'open' ? '' : tag(state, STATE_COLOURS[state])}
${countOf(checks, 'block') > 0 ? levelTag('block') : ''}
${warnings > 0 ? tag(plural(warnings, 'warning'), 'warn') : ''}
${checks.some((check) => check.kind === 'description') ? tag('description', 'warn') : ''}</p>
<p>${justification.slice(0, 240)}</p>
<p class="quiet">${author}, ${formatTime(created)} UTC</p>
</li>`;
}
