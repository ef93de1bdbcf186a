import type { Proposal, Skill } from '../../skill_registry/api.ts';
import { type Html, html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { level, plural, proposalAddress, skillAddress, tag, time } from '../html/parts.ts';
import type { Review, ReviewApp } from '../review.ts';

/** Everything that waits for a person. */
export function addInbox(app: ReviewApp, review: Review): void {
  const { registry } = review;
  app.get('/', async (context) => {
    const proposals = [...(await registry.proposals.list())].sort((left, right) => riskOf(right) - riskOf(left));
    const held = [...registry.snapshot().byQualifiedId.values()].filter(({ heldBecause }) => heldBecause !== undefined);
    const waiting = proposals.length + held.length;
    const main = html`<h1>Inbox</h1>
<div id="waiting" data-live>
${waiting === 0 ? html`<p class="empty">Nothing waits for you.</p>` : ''}
${section('Proposals', proposals.map(proposalItem))}
${section('Held skills', held.map(heldItem))}
</div>`;
    return context.html(page(context, review, { title: 'Inbox', at: 'inbox', main, live: 'refresh' }));
  });
}

// --- internal ---

function section(title: string, items: readonly Html[]): Html | '' {
  if (items.length === 0) return '';
  return html`<h2>${title} <span class="count">${items.length}</span></h2>
<ul class="cards">${items}</ul>`;
}

function proposalItem({ id, kind, skillId, path, state, author, created, checks, justification }: Proposal): Html {
  const blocks = checks.filter((check) => check.level === 'block').length;
  const warnings = checks.filter((check) => check.level === 'warn').length;
  const what = kind === 'update' ? `${skillId}/${path}` : `${kind} ${skillId}`;
  return html`<li class="card">
<p class="line"><a class="title" href="${proposalAddress(id)}">${what}</a>
${state === 'stale' ? tag('stale', 'warn') : ''}${blocks > 0 ? level('block') : ''}${warnings > 0 ? html` <span class="tag warn">${plural(warnings, 'warning')}</span>` : ''}</p>
<p class="excerpt-text">${justification.slice(0, 200)}</p>
<p class="quiet">${author}, ${time(created)}</p>
</li>`;
}

function heldItem({ id, qualifiedId, heldBecause }: Skill): Html {
  return html`<li class="card">
<p class="line"><a class="title" href="${skillAddress(qualifiedId)}">${id}</a> ${level('block')}</p>
<p>${heldBecause}</p>
</li>`;
}

/** What is to be looked at first: what would be held, then warnings; what is stale last. */
function riskOf({ checks, state }: Proposal): number {
  if (state === 'stale') return -1;
  const of = (how: string): number => checks.filter(({ level: one }) => one === how).length;
  return of('block') * 1000 + of('warn');
}
