import { type Answer, decideForm, hiddenField, invalidArgument, orRefusal } from '../../../../../lib/forms/index.ts';
import { formatTime, type Html, html } from '../../../../../lib/html/index.ts';
import { openTrust } from '../../../../../lib/trust/index.ts';
import { note } from '../../../../../lib/widgets/index.ts';
import type { ReviewRequest } from '../../../core/review.ts';
import type { UsedSource } from '../types.ts';

/** Part of the page of decisions: which sources the skills of this root come from. */
export async function sourcesPart(request: ReviewRequest): Promise<Html> {
  const { refused, value } = await orRefusal(request.registry.origin.sources());
  return html`<h2>Where its skills come from</h2>
${refused ? note(html`<p>${refused.message}</p>`, 'warn') : sourceList(request, value)}`;
}

export async function decideSource({ actor, changed, field, param, registry }: ReviewRequest): Promise<Answer> {
  const source = field('source');
  const action = param('action') === 'allow' ? 'allow' : 'revoke';
  const isKnown = (await registry.origin.sources()).some((one) => one.source === source);
  if (!isKnown) throw invalidArgument(`No skill of this root comes from ${JSON.stringify(source)}.`);
  openTrust().decide({ kind: 'source', path: source, action, ...actor });
  await registry.refresh();
  changed();
  return { redirect: '/decisions' };
}

// --- internal ---

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
