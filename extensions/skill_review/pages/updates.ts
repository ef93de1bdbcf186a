import { randomBytes } from 'node:crypto';
import { showHidden } from '../../../lib/text/index.ts';
import type { ChangedSkill, SkillUpdate, UpdatePlan } from '../../skill_registry/api.ts';
import { pageNotFound, shownChanged } from '../errors.ts';
import { actorOf, fieldsOf, isRefused, orRefusal } from '../forms.ts';
import { difference, viewLink, viewOf } from '../html/difference.ts';
import { type Html, html, type Piece } from '../html/html.ts';
import { page } from '../html/layout.ts';
import {
  findings,
  form,
  formatTime,
  hiddenField,
  note,
  proposalAddress,
  refusal,
  skillAddress,
  tag,
} from '../html/parts.ts';
import type { Review, ReviewApp, ReviewContext } from '../review.ts';

export interface Updates {
  checked(): { readonly plan: UpdatePlan; readonly at: string } | undefined;
}

interface Checked {
  readonly plan: UpdatePlan;
  readonly at: string;
  /** Sent by the form, so that only the shown changes are applied. */
  readonly key: string;
}

/** Uses no network before the person presses a button. */
export function addUpdates(app: ReviewApp, review: Review): Updates {
  const { origin } = review.registry;
  let last: Checked | undefined;

  app.get('/updates', (context) => show(context, review, last));

  app.get('/updates/difference', (context) => {
    const found = last?.plan.skills.find(({ id }) => id === context.req.query('id'));
    if (!found) throw pageNotFound();
    return context.text(showHidden(found.diff));
  });

  app.post('/updates/check', async (context) => {
    const id = (await fieldsOf(context)).optional('id');
    const plan = await orRefusal(origin.update(id === undefined ? undefined : [id]));
    if (isRefused(plan)) return show(context, review, last, refusal(plan.refused, 'changed'), 409);
    last = { plan, at: new Date().toISOString(), key: randomBytes(12).toString('base64url') };
    review.changed();
    return context.redirect('/updates', 303);
  });

  app.post('/updates/apply', async (context) => {
    const key = (await fieldsOf(context)).text('key');
    const checked = last;
    if (checked?.key !== key)
      return show(context, review, last, refusal(shownChanged('What was found'), 'changed'), 409);
    last = undefined;
    const outcome = await orRefusal(checked.plan.apply(actorOf(review)));
    review.changed();
    if (!isRefused(outcome)) return show(context, review, undefined, doneNote(outcome));
    const { code, details, message } = outcome.refused;
    const others = code === 'SKILL_BLOCKED' ? (details.changed as readonly ChangedSkill[]) : [];
    if (others.length === 0) return show(context, review, undefined, refusal({ message }, 'changed'), 409);
    return show(context, review, undefined, html`${doneNote(others)}${note(html`<p>${message}</p>`, 'block')}`);
  });

  return { checked: () => last };
}

// --- internal ---

function doneNote(changed: readonly ChangedSkill[]): Html {
  const done = changed.map(
    ({ id, proposals }) =>
      html`<li><a href="${skillAddress(id)}">${id}</a> is updated${proposals.map((one) => html`; <a href="${proposalAddress(one)}">a conflict waits for you</a>`)}</li>`,
  );
  return note(html`<ul>${done}</ul>`);
}

function show(
  context: ReviewContext,
  review: Review,
  last: Checked | undefined,
  said?: Html | '',
  status: 200 | 409 = 200,
): Response | Promise<Response> {
  const view = viewOf(context.req.query('view'));
  const outdated = last?.plan.skills.filter(({ state }) => state === 'outdated') ?? [];
  const others = last?.plan.skills.filter(({ state }) => state !== 'outdated') ?? [];
  const check = form(context, '/updates/check', html`<button>${last ? 'Ask again' : 'Look for updates'}</button>`);
  const main = html`<h1>Updates</h1>
${said ?? ''}
${last ? html`<p class="quiet">Asked ${formatTime(last.at)} UTC.</p>` : html`<p>Asks the origins of installed skills. Nothing is written by asking.</p>`}
${check}
${last && outdated.length === 0 ? html`<p class="empty">There is nothing newer.</p>` : ''}
${outdated.length > 0 ? html`<div class="heading"><h2>What would change</h2>${viewLink('/updates', view)}</div>` : ''}
${outdated.map((one) => skillPart(one, view))}
${last && outdated.some(isPlain) ? applyPart(context, last, outdated.filter(isPlain)) : ''}
${others.length > 0 ? html`<h2>The others</h2><ul>${others.map(otherItem)}</ul>` : ''}`;
  return context.html(page(context, review, { title: 'Updates', at: 'inbox', main }), status);
}

function applyPart(context: ReviewContext, { key }: Checked, outdated: readonly SkillUpdate[]): Html {
  const alone = outdated.map(({ id }) =>
    form(context, '/updates/check', html`${hiddenField('id', id)}<button>Only ${id}</button>`),
  );
  return html`<h2>Decide</h2>
${form(context, '/updates/apply', html`${hiddenField('key', key)}<div class="actions"><button class="main">Update ${outdated.length === 1 ? (outdated[0] as SkillUpdate).id : `all ${outdated.length}`}</button></div>`)}
${outdated.length > 1 ? html`<div class="actions">${alone}</div>` : ''}`;
}

/** False with a finding of level `block` that nobody allowed. */
const isPlain = ({ blocked }: SkillUpdate): boolean => blocked === undefined;

function skillPart(
  { id, source, drifted, files, findings: found, blocked, diff }: SkillUpdate,
  view: 'inline' | 'split',
): Html {
  const serious = found.filter(({ level }) => level !== 'info');
  const changes = files.map(({ path, change }) => html`<li><code>${path}</code> ${change}</li>`);
  return html`<h3><a href="${skillAddress(id)}">${id}</a> ${drifted ? tag('changed here', 'warn') : ''}</h3>
<p class="quiet">From ${source}</p>
<ul>${changes}</ul>
${serious.length > 0 ? findings(serious) : ''}
${blocked === undefined ? '' : note(html`<p>This looks like an attack, and this page does not install it. A person who has read it is asked by <code>skill-registry update ${id}</code>.</p>`, 'block')}
${diff === '' ? '' : difference(diff, { view, whole: `/updates/difference?id=${encodeURIComponent(id)}` })}`;
}

function otherItem({ id, state, reason, source }: SkillUpdate): Piece {
  return html`<li>${id}: ${state}${reason === undefined ? '' : `, ${reason}`} <span class="quiet">${source}</span></li>`;
}
