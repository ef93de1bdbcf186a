import type { CodedError } from 'skill-registry/kernel';
import { showHidden } from '../../../lib/text/index.ts';
import type { InspectedChange, Revision } from '../../skill_registry/api.ts';
import { pageNotFound, shownChanged } from '../errors.ts';
import { actorOf, assertIdTyped, fieldsOf, isRefused, orRefusal, shownDigest } from '../forms.ts';
import { difference, viewLink, viewOf } from '../html/difference.ts';
import { type Html, html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import {
  findings,
  form,
  formatTime,
  hiddenField,
  idField,
  note,
  plural,
  proposalAddress,
  skillAddress,
} from '../html/parts.ts';
import type { Review, ReviewApp, ReviewContext } from '../review.ts';
import { skillHead, skillOf } from './skill-parts.ts';

export function addSkillHistory(app: ReviewApp, review: Review): void {
  const { registry } = review;
  const { admin, history } = registry;
  const historyOf = (id: string): string => `${skillAddress(id)}/history`;

  app.get('/skills/:id/history', (context) => list(context, review, context.req.param('id')));

  app.post('/skills/:id/restore', async (context) => {
    const id = context.req.param('id');
    const fields = await fieldsOf(context);
    const restore = async (): Promise<void> => {
      const change = { restoredId: id };
      const inspected = await admin.blockFindingsAfter(change);
      if (shownDigest(inspected) !== fields.text('blocks')) throw shownChanged(`The skill "${id}"`);
      assertIdTyped(id, inspected.blocks, fields.optional('typed_id'));
      const actor = actorOf(review, fields.optional('reason'));
      await history.restore(id, { ...actor, inspected: inspected.digest });
      await admin.allowShown(change, inspected, actor);
    };
    const outcome = await orRefusal(restore());
    if (isRefused(outcome)) return list(context, review, id, outcome.refused);
    review.changed();
    return context.redirect(`${skillAddress(id)}?done=restored`, 303);
  });

  app.get('/skills/:id/history/:revision', async (context) => {
    const { id, revision } = context.req.param();
    const revisions = await history.revisions(id);
    const at = revisions.findIndex(({ number }) => String(number) === revision);
    const [before, one] = [revisions[at - 1], revisions[at]];
    if (one === undefined) throw pageNotFound();
    const diff = before === undefined ? '' : await history.diff(id, before.number, one.number);
    const isPresent = one === revisions.at(-1);
    const view = viewOf(context.req.query('view'));
    const main = html`${skillHead(id, skillOf(registry.snapshot(), id), 'history')}
<div class="heading"><h2>Revision ${revision}${before ? html`, against revision ${before.number}` : ''}</h2>${viewLink(context.req.path, view)}</div>
${madeBy(one)}
${before === undefined ? html`<p>It is the first that is known.</p>${fileList(one)}` : difference(diff, { view, whole: `${historyOf(id)}/${encodeURIComponent(revision)}/difference` })}
${isPresent || skillOf(registry.snapshot(), id) === undefined ? '' : html`<p><a class="button" href="${skillAddress(id)}/rollback/${encodeURIComponent(revision)}">Roll back to this</a></p>`}`;
    return context.html(page(context, review, { title: `Revision ${revision} of ${id}`, at: 'catalog', main }));
  });

  app.get('/skills/:id/history/:revision/difference', async (context) => {
    const { id, revision } = context.req.param();
    const revisions = await history.revisions(id);
    const at = revisions.findIndex(({ number }) => String(number) === revision);
    const [before, one] = [revisions[at - 1], revisions[at]];
    if (one === undefined) throw pageNotFound();
    return context.text(before === undefined ? '' : showHidden(await history.diff(id, before.number, one.number)));
  });

  app.get('/skills/:id/rollback/:revision', (context) =>
    rollbackPage(context, review, context.req.param('id'), context.req.param('revision')),
  );

  app.get('/skills/:id/rollback/:revision/difference', async (context) => {
    const { id, revision } = context.req.param();
    const present = (await history.revisions(id)).at(-1);
    return context.text(present === undefined ? '' : showHidden(await history.diff(id, present.number, revision)));
  });

  app.post('/skills/:id/rollback/:revision', async (context) => {
    const { id, revision } = context.req.param();
    const fields = await fieldsOf(context);
    const reason = fields.optional('reason');
    const rollBack = async (): Promise<void> => {
      const change = { skillId: id, revision };
      const inspected = await admin.blockFindingsAfter(change);
      const present = (await history.revisions(id)).at(-1);
      if (String(present?.number) !== fields.text('present') || shownDigest(inspected) !== fields.text('blocks'))
        throw shownChanged(`The skill "${id}"`);
      assertIdTyped(idOf(registry, id), inspected.blocks, fields.optional('typed_id'));
      const actor = actorOf(review, reason);
      await history.rollback(id, revision, { ...actor, inspected: inspected.digest });
      await admin.allowShown(change, inspected, actor);
    };
    const outcome = await orRefusal(rollBack());
    if (isRefused(outcome)) return rollbackPage(context, review, id, revision, outcome.refused);
    review.changed();
    return context.redirect(`${skillAddress(id)}?done=rollback`, 303);
  });
}

// --- internal ---

const MAX_REVISIONS = 500;

/** Accepts an id or a qualified id. */
function idOf({ snapshot }: Review['registry'], named: string): string {
  return skillOf(snapshot(), named)?.id ?? named;
}

async function list(context: ReviewContext, review: Review, id: string, refused?: CodedError): Promise<Response> {
  const skill = skillOf(review.registry.snapshot(), id);
  const revisions = await review.registry.history.revisions(id);
  const rows = revisions
    .slice(-MAX_REVISIONS)
    .reverse()
    .map((one) => row(id, one));
  // `restore` reports why it cannot run.
  const nothing = { blocks: [], digest: null };
  const found = skill ? nothing : await orRefusal(review.registry.admin.blockFindingsAfter({ restoredId: id }));
  const inspected = isRefused(found) ? nothing : found;
  const restore = confirm(context, `${skillAddress(id)}/restore`, id, inspected, 'Restore');
  const main = html`${skillHead(id, skill, 'history')}
${refused ? note(html`<p><b>Nothing was changed.</b> ${refused.message}</p>`, 'block') : ''}
${skill ? '' : html`<h2>It was removed</h2><p>Its files are in the archive, and can be brought back.</p>${restore}`}
<h2>${plural(revisions.length, 'revision')}</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Revisions"><table><thead><tr><th scope="col" class="number">Revision</th><th scope="col">When (UTC)</th><th scope="col">What</th><th scope="col">By</th><th scope="col">Why</th></tr></thead><tbody>
${rows}</tbody></table></div>
${revisions.length > MAX_REVISIONS ? html`<p class="quiet">Older ones: <code>skill-registry history ${id}</code></p>` : ''}`;
  return context.html(page(context, review, { title: `History of ${id}`, at: 'catalog', main }), refused ? 409 : 200);
}

function row(id: string, { number, at, kind, by, reason, proposal }: Revision): Html {
  return html`<tr><th scope="row" class="number"><a href="${skillAddress(id)}/history/${number}">${number}</a></th><td>${formatTime(at)}</td><td>${kind}</td><td>${by}</td>
<td>${proposal === null ? '' : html`<a href="${proposalAddress(proposal)}">proposal</a>${reason === null ? '' : ': '}`}${reason ?? ''}</td></tr>
`;
}

function madeBy({ kind, by, at, reason, proposal, digest }: Revision): Html {
  return html`<p>${kind} by <b>${by}</b>, ${formatTime(at)} UTC${proposal === null ? '' : html`, from <a href="${proposalAddress(proposal)}">a proposal</a>`}. <code class="quiet">${digest.slice(0, 19)}</code></p>
${reason === null ? '' : html`<p class="said">${reason}</p>`}`;
}

function fileList({ files }: Revision): Html {
  return html`<ul>${files.map(({ path, size }) => html`<li><code>${path}</code> <span class="quiet">${plural(size, 'byte')}</span></li>`)}</ul>`;
}

async function rollbackPage(
  context: ReviewContext,
  review: Review,
  id: string,
  revision: string,
  refused?: CodedError,
): Promise<Response> {
  const { admin, history, snapshot } = review.registry;
  const present = (await history.revisions(id)).at(-1);
  const diff = present === undefined ? '' : await history.diff(id, present.number, revision);
  const inspected = await admin.blockFindingsAfter({ skillId: id, revision });
  const view = viewOf(context.req.query('view'));
  const address = `${skillAddress(id)}/rollback/${encodeURIComponent(revision)}`;
  const main = html`${skillHead(id, skillOf(snapshot(), id), 'history')}
${refused ? note(html`<p><b>Nothing was changed.</b> ${refused.message}</p>`, 'block') : ''}
<div class="heading"><h2>Roll back to revision ${revision}?</h2>${viewLink(address, view)}</div>
<p>This is what would change. It becomes a new revision; nothing is lost.</p>
${difference(diff, { view, whole: `${address}/difference` })}
${diff === '' ? '' : confirm(context, address, idOf(review.registry, id), inspected, 'Roll back', present)}
<p><a href="${skillAddress(id)}/history">Back to the history</a></p>`;
  const title = `Roll back ${id}`;
  return context.html(page(context, review, { title, at: 'catalog', main }), refused ? 409 : 200);
}

function confirm(
  context: ReviewContext,
  address: string,
  skillId: string,
  inspected: InspectedChange,
  action: 'Roll back' | 'Restore',
  present?: Revision,
): Html {
  const warning = html`<h2 class="inside">A person would call this an attack</h2><p>${action === 'Restore' ? 'Restoring' : 'Rolling back'} also allows it, so the id of the skill has to be typed.</p>${findings(inspected.blocks)}`;
  const isAttack = inspected.blocks.length > 0;
  return html`${isAttack ? note(warning, 'block') : ''}
${form(
  context,
  address,
  html`${present ? hiddenField('present', String(present.number)) : ''}${hiddenField('blocks', shownDigest(inspected))}
<label for="reason">Reason, for people who ask later</label><input id="reason" name="reason" maxlength="2000" autocomplete="off">
${isAttack ? idField(`To ${action === 'Restore' ? 'restore it' : 'roll it back'}`, skillId) : ''}
<div class="actions">${isAttack ? html`<a class="button main" href="/">Leave it as it is</a><button>${action}, and allow what was found</button>` : html`<button class="main">${action}</button>`}</div>`,
)}`;
}
