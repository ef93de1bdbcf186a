import { heldOfRoot } from '../../../kernel/host.ts';
import { type Decision, describeSubject, openTrust } from '../../../lib/trust/index.ts';
import type { UsedSource } from '../../skill_registry/api.ts';
import { invalidArgument } from '../errors.ts';
import { actorOf, fieldsOf, isRefused, orRefusal } from '../forms.ts';
import { type Html, html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { form, formatTime, hiddenField, note, plural, reasonField, table } from '../html/parts.ts';
import type { Review, ReviewApp, ReviewContext } from '../review.ts';

export function addDecisions(app: ReviewApp, review: Review): void {
  app.get('/decisions', (context) => show(context, review));

  app.post('/decisions/root/:action{allow|revoke}', async (context) => {
    const reason = (await fieldsOf(context)).optional('reason');
    const action = context.req.param('action') === 'allow' ? 'allow' : 'revoke';
    openTrust().decide({ kind: 'root', path: review.root, action, ...actorOf(review, reason) });
    review.changed();
    return context.redirect('/decisions', 303);
  });

  app.post('/decisions/source/:action{allow|revoke}', async (context) => {
    const fields = await fieldsOf(context);
    const source = fields.text('source');
    const action = context.req.param('action') === 'allow' ? 'allow' : 'revoke';
    const isKnown = (await review.registry.origin.sources()).some((one) => one.source === source);
    if (!isKnown) throw invalidArgument(`No skill of this root comes from ${JSON.stringify(source)}.`);
    openTrust().decide({ kind: 'source', path: source, action, ...actorOf(review, fields.optional('reason')) });
    await review.registry.refresh();
    review.changed();
    return context.redirect('/decisions', 303);
  });
}

// --- internal ---

/** The newest are shown. */
const MAX_SHOWN = 200;

async function show(context: ReviewContext, review: Review): Promise<Response> {
  const trust = openTrust();
  const trouble = trust.trouble();
  const decisions = [...trust.decisions()].reverse();
  const sources = await orRefusal(review.registry.origin.sources());
  const main = html`<h1>Decisions</h1>
${trouble === undefined ? '' : note(html`<p>The decisions of this user are ignored: ${trouble}</p>`, 'block')}
<h2>This root</h2>
${rootPart(context, review, trust.allows('root', review.root))}
<h2>Where its skills come from</h2>
${isRefused(sources) ? note(html`<p>${sources.refused.message}</p>`, 'warn') : sourcesPart(context, sources)}
<h2>What was decided on this machine</h2>
${decisions.length === 0 ? html`<p class="empty">Nothing yet.</p>` : decisionTable(decisions.slice(0, MAX_SHOWN))}
${decisions.length > MAX_SHOWN ? html`<p class="quiet">The newest ${MAX_SHOWN} of ${plural(decisions.length, 'decision')}; skill-registry trust list has all.</p>` : ''}`;
  return context.html(page(context, review, { title: 'Decisions', at: 'inbox', main }));
}

function rootPart(context: ReviewContext, { root }: Review, isAllowed: boolean): Html {
  const held = isAllowed ? [] : heldOfRoot(root);
  const what = isAllowed
    ? 'Approved: its extensions, packages, addresses and .env take effect.'
    : 'Not approved: its extensions, packages, addresses and .env have no effect.';
  const wouldTake =
    held.length > 0 ? html`<p>When the root is approved, this takes effect: ${held.join('; ')}</p>` : '';
  return html`<p><code>${root}</code></p><p>${what}</p>${wouldTake}
${decide(context, `/decisions/root/${isAllowed ? 'revoke' : 'allow'}`, isAllowed ? 'Revoke this root' : 'Approve this root', { id: 'root', about: 'this root' })}
<p class="quiet">What runs now uses this after its next start.</p>`;
}

function sourcesPart(context: ReviewContext, sources: readonly UsedSource[]): Html {
  if (sources.length === 0) return html`<p class="empty">No skill was brought in from elsewhere.</p>`;
  const items = sources.map(({ source, skills, decision }, index) => {
    const isRevoked = decision?.action === 'revoke';
    const decisionText = decision
      ? html`${isRevoked ? 'Revoked' : 'Approved'} by ${decision.by}, ${formatTime(decision.at)} UTC${decision.reason === undefined ? '' : `: ${decision.reason}`}`
      : 'Nobody has decided about this source; the approval of the root counts.';
    return html`<li class="card"><p class="line"><b>${source}</b></p>
${skills.length > 0 ? html`<p>${skills.join(', ')}</p>` : ''}
<p class="quiet">${decisionText}</p>
${decide(context, `/decisions/source/${isRevoked ? 'allow' : 'revoke'}`, isRevoked ? 'Approve this source' : 'Revoke this source', { id: `${index}`, about: source }, hiddenField('source', source))}
</li>`;
  });
  return html`<ul class="cards">${items}</ul>
<p class="quiet">What runs now uses a decision about a source of the config after its next start.</p>`;
}

/** `id` and `about` name the field of the reason; each is unique on the page. */
function decide(
  context: ReviewContext,
  action: string,
  label: string,
  { id, about }: { readonly id: string; readonly about: string },
  fields: Html | '' = '',
): Html {
  return form(
    context,
    action,
    html`${fields}${reasonField(`why-${id}`, `Why, about ${about}`)}
<div class="actions"><button>${label}</button></div>`,
  );
}

function decisionTable(decisions: readonly Decision[]): Html {
  const rows = decisions.map((one) => [
    ACTIONS[one.action],
    describeSubject(one),
    formatTime(one.at),
    one.by,
    one.path,
    one.reason ?? '',
  ]);
  return table('Decisions', ['Decision', 'What', 'When, UTC', 'Who', 'Where', 'Why'], rows);
}

const ACTIONS: Readonly<Record<Decision['action'], string>> = { allow: 'allowed', revoke: 'revoked' };
