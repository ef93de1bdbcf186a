import { allHeld, type HeldExtension } from '../../../kernel/host.ts';
import type { Proposal, SkillTrust, SkillUpdate } from '../../skill_registry/api.ts';
import { type Html, html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { form, formatTime, levelTag, note, plural, proposalAddress, skillAddress, tag } from '../html/parts.ts';
import type { Review, ReviewApp } from '../review.ts';
import { extensionAddress } from './extension.ts';
import { problemsLine } from './problems.ts';
import type { Updates } from './updates.ts';

/** Everything that waits for a person, highest risk first. */
export function addInbox(app: ReviewApp, review: Review, updates: Updates): void {
  const { registry } = review;

  app.get('/', async (context) => {
    const { proposals, unreadable, held } = await registry.admin.waiting();
    // Stale proposals cannot be approved as they are, so they come last.
    const [stale, open] = [true, false].map((is) => proposals.filter(({ state }) => (state === 'stale') === is));
    const { held: extensions, unreadable: broken } = waitingExtensions(review);
    const checked = updates.checked();
    const outdated = checked?.plan.skills.filter(({ state }) => state === 'outdated') ?? [];
    const waiting = proposals.length + held.length + extensions.length + broken.length + outdated.length;
    const main = html`<h1>Inbox</h1>
<div id="waiting" data-live>
${unreadable === null ? '' : note(html`<p>The proposals cannot be read. ${unreadable}</p>`, 'block')}
${waiting === 0 && unreadable === null ? html`<p class="empty">Nothing waits for you.</p>` : ''}
${broken.map(({ message }) => note(html`<p>${message}</p>`, 'warn'))}
${section('Extensions that agents wrote', extensions.map(extensionItem))}
${section('Held skills', held.map(heldItem))}
${section('Proposals', [...(open ?? []), ...(stale ?? [])].map(proposalItem))}
${section('Updates', outdated.map(updateItem))}
${problemsLine(review)}
</div>
<div class="after">
${form(context, '/updates/check', html`<button>Look for updates</button>`)}
<p class="quiet">${checked === undefined ? 'Asks the origins of installed skills.' : html`Last asked ${formatTime(checked.at)} UTC: <a href="/updates">what it found</a>.`}</p>
<p class="quiet"><a href="/proposals">All proposals, decided ones too</a></p>
<p class="quiet"><a href="/decisions">What was decided, and what this root takes skills from</a></p>
</div>`;
    return context.html(page(context, review, { title: 'Inbox', at: 'inbox', main, live: 'refresh' }));
  });

  app.get('/proposals', async (context) => {
    const proposals = await registry.proposals.list('all', { limit: MAX_LISTED });
    const main = html`<h1>Proposals</h1>
<div id="proposals" data-live>
${proposals.length === 0 ? html`<p class="empty">There are none.</p>` : section('Newest first', proposals.map(proposalItem))}
</div>
${proposals.length === MAX_LISTED ? note(html`<p>Only the newest ${MAX_LISTED} are listed.</p>`, 'warn') : ''}`;
    return context.html(page(context, review, { title: 'Proposals', at: 'inbox', main, live: 'refresh' }));
  });
}

// --- internal ---

const MAX_LISTED = 200;

/** Empty when their folder links out of an unapproved root. */
function waitingExtensions({ root, isHeldReadable }: Review): ReturnType<typeof allHeld> {
  return isHeldReadable() ? allHeld(root) : { held: [], unreadable: [] };
}

function section(title: string, items: readonly Html[]): Html | '' {
  if (items.length === 0) return '';
  return html`<h2>${title} <span class="count">${items.length}</span></h2>
<ul class="cards">${items}</ul>`;
}

function proposalItem(proposal: Proposal): Html {
  const { id, kind, skillId, path, state, author, created, checks, justification } = proposal;
  const what = { update: `${skillId}/${path}`, create: `New skill ${skillId}`, delete: `Remove ${skillId}` }[kind];
  const blocks = checks.filter((check) => check.level === 'block').length;
  const warnings = checks.filter((check) => check.level === 'warn').length;
  return html`<li class="card">
<p class="line"><a class="title" href="${proposalAddress(id)}">${what}</a>
${state === 'open' ? '' : tag(state, state === 'stale' ? 'warn' : state === 'approved' ? 'done' : 'block')}
${blocks > 0 ? levelTag('block') : ''}
${warnings > 0 ? tag(plural(warnings, 'warning'), 'warn') : ''}
${checks.some((check) => check.kind === 'description') ? tag('description', 'warn') : ''}</p>
<p>${justification.slice(0, 240)}</p>
<p class="quiet">${author}, ${formatTime(created)} UTC</p>
</li>`;
}

function heldItem({ skillId, qualifiedId, heldBecause, findings }: SkillTrust): Html {
  const blocks = findings.filter((finding) => finding.level === 'block').length;
  return html`<li class="card">
<p class="line"><a class="title" href="${skillAddress(qualifiedId)}">${skillId}</a> ${levelTag('block')}</p>
<p>${heldBecause}</p>
<p class="quiet">${plural(blocks, 'finding')} of level block; no agent is given it</p>
</li>`;
}

function extensionItem({ name, by, files }: HeldExtension): Html {
  return html`<li class="card">
<p class="line"><a class="title" href="${extensionAddress(name)}">extensions/${name}</a> ${tag('code', 'block')}</p>
<p class="quiet">${plural(files.length, 'file')} written by ${by.join(', ')}; no part of it runs before a person approves it</p>
</li>`;
}

function updateItem({ id, source, files, drifted, findings }: SkillUpdate): Html {
  const blocks = findings.filter((finding) => finding.level === 'block').length;
  return html`<li class="card">
<p class="line"><a class="title" href="/updates">${id}</a> ${blocks > 0 ? levelTag('block') : ''} ${drifted ? tag('changed here', 'warn') : ''}</p>
<p class="quiet">${plural(files.length, 'file')} from ${source}</p>
</li>`;
}
