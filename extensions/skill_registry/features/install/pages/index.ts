import { isCodedError } from 'skill-registry/kernel';
import {
  type Answer,
  decideForm,
  hiddenField,
  invalidArgument,
  orRefusal,
  reasonField,
  shownChanged,
} from '../../../../../lib/forms/index.ts';
import { address, formatTime, type Html, html } from '../../../../../lib/html/index.ts';
import { openTrust } from '../../../../../lib/trust/index.ts';
import { note } from '../../../../../lib/widgets/index.ts';
import type { ReviewPages, ReviewRequest } from '../../../core/review.ts';
import type { LockedSkill, UsedSource } from '../types.ts';
import { updatePages } from './updates.ts';

export function installPages(): ReviewPages {
  const { get, post, inbox } = updatePages();
  return {
    get,
    post: {
      ...post,
      '/decisions/source/:action{allow|revoke}': decideSource,
      '/skills/:id/remove': (request) => request.decide(remove(request), request.skillPage),
    },
    inbox,
    decisions: sourcesPart,
    skillFacts: async (request) => [['Origin', await originOf(request).catch(nothingKnown)]],
    parts: [{ page: '/skills/:id', show: async (request) => removeForm(request) }],
  };
}

// --- internal ---

async function remove({ actor, field, id, registry, skill }: ReviewRequest): Promise<string> {
  if (skill?.digest !== field('digest')) throw shownChanged(`The skill "${id}"`);
  await registry.origin.remove(id, actor);
  return address('skills', id, 'history');
}

async function originOf({ registry, skill }: ReviewRequest): Promise<string> {
  const locked = (await registry.origin.verify()).find((one) => one.id === skill?.id);
  if (!locked) return '';
  return `${locked.source}: ${STATES[locked.state]}${locked.reason === undefined ? '' : `, ${locked.reason}`}`;
}

const STATES: Readonly<Record<LockedSkill['state'], string>> = {
  same: 'as it was installed',
  drifted: 'changed here since it was installed',
  absent: 'not here',
  broken: 'its entry in the lock is broken',
  unlinked: 'as it was installed, without its links',
};

function nothingKnown(error: unknown): string {
  if (isCodedError(error)) return '';
  throw error;
}

function removeForm({ form, id, skill }: ReviewRequest): Html {
  return html`<details><summary>Remove it</summary>${form(
    address('skills', id, 'remove'),
    html`${hiddenField('digest', skill?.digest ?? '')}<p>Its folder is archived, and its lock entry is deleted. The skill can be restored.</p>
${reasonField('why-removed', 'Why it is removed')}
<div class="actions"><button>Remove it</button></div>`,
  )}</details>`;
}

/** Part of the page of decisions: which sources the skills of this root come from. */
async function sourcesPart(request: ReviewRequest): Promise<Html> {
  const { refused, value } = await orRefusal(request.registry.origin.sources());
  return html`<h2>Where its skills come from</h2>
${refused ? note(html`<p>${refused.message}</p>`, 'warn') : sourceList(request, value)}`;
}

async function decideSource({ actor, changed, field, param, registry }: ReviewRequest): Promise<Answer> {
  const source = field('source');
  const action = param('action') === 'allow' ? 'allow' : 'revoke';
  const isKnown = (await registry.origin.sources()).some((one) => one.source === source);
  if (!isKnown) throw invalidArgument(`No skill of this root comes from ${JSON.stringify(source)}.`);
  openTrust().decide({ kind: 'source', path: source, action, ...actor });
  await registry.refresh();
  await changed();
  return { redirect: '/decisions' };
}

function sourceList(request: ReviewRequest, sources: readonly UsedSource[]): Html {
  if (sources.length === 0) return html`<p class="empty">No skill was brought in from elsewhere.</p>`;
  const items = sources.map(({ source, skills, decision }, index) => {
    const isRevoked = decision?.action === 'revoke';
    const decisionText = decision
      ? html`${isRevoked ? 'Revoked' : 'Approved'} by ${decision.by}, ${formatTime(decision.at)} UTC${decision.reason === undefined ? '' : `: ${decision.reason}`}`
      : 'Nobody has decided about this source; the approval of the root counts.';
    return html`<li class="card"><p class="line"><b>${source}</b></p>
${skills.length > 0 ? html`<p>${skills.join(', ')}</p>` : ''}
<p class="quiet">${decisionText}</p>
${request.form(`/decisions/source/${isRevoked ? 'allow' : 'revoke'}`, html`${hiddenField('source', source)}${decideForm(isRevoked ? 'Approve this source' : 'Revoke this source', `${index}`, source)}`)}
</li>`;
  });
  return html`<ul class="cards">${items}</ul>
<p class="quiet">What runs now uses a decision about a source of the config after its next start.</p>`;
}
