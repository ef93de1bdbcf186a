import type { CodedError } from 'skill-registry/kernel';
import {
  hiddenField,
  orRefusal,
  type Page,
  pageNotFound,
  reasonField,
  refusal,
  shownChanged,
} from '../../../../lib/forms/index.ts';
import { address, formatTime, type Html, html, plural } from '../../../../lib/html/index.ts';
import { showHidden } from '../../../../lib/text/index.ts';
import { differenceView } from '../../../../lib/widgets/index.ts';
import type { ReviewPages, ReviewRequest } from '../../core/review.ts';
import { assertIdTyped, attackNote, idField } from '../guard/shown-findings.ts';
import type { ChangeToApprove, Decider, InspectedChange, Revision } from './types.ts';

export const historyPages: ReviewPages = {
  get: {
    '/skills/:id/history': (request) => list(request),
    '/skills/:id/history/:revision': revisionPage,
    '/skills/:id/history/:revision/difference': async (request) => ({
      text: showHidden((await changeOf(request)).diff),
    }),
    '/skills/:id/rollback/:revision': (request) => rollbackPage(request),
    '/skills/:id/rollback/:revision/difference': async (request) => ({
      text: showHidden((await wayBack(request)).diff),
    }),
  },
  post: {
    '/skills/:id/restore'(request) {
      const { id, registry } = request;
      const work = change(request, { restoredId: id }, (actor) => registry.history.restore(id, actor), 'restored');
      return request.decide(work, (refused) => list(request, refused));
    },
    '/skills/:id/rollback/:revision'(request) {
      const { id, registry } = request;
      const revision = request.param('revision');
      const make = (actor: Decider): Promise<Revision> => registry.history.rollback(id, revision, actor);
      const work = change(request, { skillId: id, revision }, make, 'rollback');
      return request.decide(work, (refused) => rollbackPage(request, refused));
    },
  },
  tabs: [{ path: '/history', text: 'History', ofRemoved: true }],
  done: {
    rollback: 'Rolled back. It has this text from now on.',
    restored: 'Restored. It is in the catalog again.',
  },
};

/** Goes into a form, so that a decision about an attack is made on the very files that were shown. */
export function shownDigest({ blocks, digest }: InspectedChange): string {
  return blocks.length === 0 ? '' : String(digest);
}

// --- internal ---

/** Makes the change that was shown, and allows what was found in it. @returns the address of the next page. */
async function change(
  { actor, field, id, optional, registry, skill }: ReviewRequest,
  wanted: ChangeToApprove,
  make: (actor: Decider) => Promise<Revision>,
  done: string,
): Promise<string> {
  const { admin, history } = registry;
  const inspected = await admin.blockFindingsAfter(wanted);
  const present = 'revision' in wanted ? String((await history.revisions(id)).at(-1)?.number) : undefined;
  const isOther = present !== undefined && present !== field('present');
  if (isOther || shownDigest(inspected) !== field('blocks')) throw shownChanged(`The skill "${id}"`);
  assertIdTyped(skill?.id ?? id, inspected.blocks, optional('typed_id'));
  await make({ ...actor, inspected: inspected.digest });
  await admin.allowShown(wanted, inspected, actor);
  return `${address('skills', id)}?done=${done}`;
}

/** A revision with what it changed. @throws PAGE_NOT_FOUND */
async function changeOf({ id, param, registry: { history } }: ReviewRequest) {
  const revisions = await history.revisions(id);
  const at = revisions.findIndex(({ number }) => String(number) === param('revision'));
  const [before, one] = [revisions[at - 1], revisions[at]];
  if (one === undefined) throw pageNotFound();
  const diff = before === undefined ? '' : await history.diff(id, before.number, one.number);
  return { before, one, diff, isPresent: one === revisions.at(-1) };
}

/** What rolling back to a revision changes. */
async function wayBack({ id, param, registry: { history } }: ReviewRequest) {
  const present = (await history.revisions(id)).at(-1);
  return { present, diff: present ? await history.diff(id, present.number, param('revision')) : '' };
}

async function revisionPage(request: ReviewRequest): Promise<Page> {
  const [id, revision] = [request.id, request.param('revision')];
  const { before, one, diff, isPresent } = await changeOf(request);
  const view = differenceView(request.query('view'), request.path);
  const files = one.files.map(
    ({ path, size }) => html`<li><code>${path}</code> <span class="quiet">${plural(size, 'byte')}</span></li>`,
  );
  const main = html`${request.skillHead('/history')}
${view.heading(html`Revision ${revision}${before && html`, against revision ${before.number}`}`)}
${madeBy(one)}
${before === undefined ? html`<p>It is the first that is known.</p><ul>${files}</ul>` : view.show(diff, address('skills', id, 'history', revision, 'difference'))}
${isPresent || !request.skill ? '' : html`<p><a class="button" href="${address('skills', id, 'rollback', revision)}">Roll back to this</a></p>`}`;
  return { title: `Revision ${revision} of ${id}`, at: '/catalog', main };
}

const MAX_REVISIONS = 500;

async function list(request: ReviewRequest, refused?: CodedError): Promise<Page> {
  const { id, skill } = request;
  const { admin, history } = request.registry;
  const revisions = await history.revisions(id);
  const rows = revisions
    .slice(-MAX_REVISIONS)
    .reverse()
    .map((one) => row(id, one));
  // `restore` reports why it cannot run.
  const found = skill ? undefined : await orRefusal(admin.blockFindingsAfter({ restoredId: id }));
  const inspected = found?.value ?? { blocks: [], digest: null };
  const restore = confirm(request, address('skills', id, 'restore'), inspected, 'Restore');
  const main = html`${request.skillHead('/history')}
${refusal(refused, 'changed')}
${skill ? '' : html`<h2>It was removed</h2><p>Its files are in the archive, and can be brought back.</p>${restore}`}
<h2>${plural(revisions.length, 'revision')}</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Revisions"><table><thead><tr><th scope="col" class="number">Revision</th><th scope="col">When (UTC)</th><th scope="col">What</th><th scope="col">By</th><th scope="col">Why</th></tr></thead><tbody>
${rows}</tbody></table></div>
${revisions.length > MAX_REVISIONS ? html`<p class="quiet">Older ones: <code>skill-registry history ${id}</code></p>` : ''}`;
  return { title: `History of ${id}`, at: '/catalog', main, status: refused ? 409 : 200 };
}

function row(id: string, { number, at, kind, by, reason, proposal }: Revision): Html {
  return html`<tr><th scope="row" class="number"><a href="${address('skills', id, 'history', number)}">${number}</a></th><td>${formatTime(at)}</td><td>${kind}</td><td>${by}</td>
<td>${proposal === null ? '' : html`<a href="${address('proposals', proposal)}">proposal</a>${reason === null ? '' : ': '}`}${reason ?? ''}</td></tr>
`;
}

function madeBy({ kind, by, at, reason, proposal, digest }: Revision): Html {
  return html`<p>${kind} by <b>${by}</b>, ${formatTime(at)} UTC${proposal === null ? '' : html`, from <a href="${address('proposals', proposal)}">a proposal</a>`}. <code class="quiet">${digest.slice(0, 19)}</code></p>
${reason === null ? '' : html`<p class="said">${reason}</p>`}`;
}

async function rollbackPage(request: ReviewRequest, refused?: CodedError): Promise<Page> {
  const [id, revision] = [request.id, request.param('revision')];
  const { present, diff } = await wayBack(request);
  const inspected = await request.registry.admin.blockFindingsAfter({ skillId: id, revision });
  const here = address('skills', id, 'rollback', revision);
  const view = differenceView(request.query('view'), here);
  const main = html`${request.skillHead('/history')}
${refusal(refused, 'changed')}
${view.heading(`Roll back to revision ${revision}?`)}
<p>This is what would change. It becomes a new revision; nothing is lost.</p>
${view.show(diff, `${here}/difference`)}
${diff === '' ? '' : confirm(request, here, inspected, 'Roll back', present)}
<p><a href="${address('skills', id, 'history')}">Back to the history</a></p>`;
  return { title: `Roll back ${id}`, at: '/catalog', main, status: refused ? 409 : 200 };
}

function confirm(
  request: ReviewRequest,
  to: string,
  inspected: InspectedChange,
  action: 'Roll back' | 'Restore',
  present?: Revision,
): Html {
  const isAttack = inspected.blocks.length > 0;
  return html`${attackNote(action === 'Restore' ? 'Restoring' : 'Rolling back', inspected.blocks)}
${request.form(
  to,
  html`${present ? hiddenField('present', String(present.number)) : ''}${hiddenField('blocks', shownDigest(inspected))}
${reasonField()}
${isAttack ? idField(`To ${action === 'Restore' ? 'restore it' : 'roll it back'}`, request.skill?.id ?? request.id) : ''}
<div class="actions">${isAttack ? html`<a class="button main" href="/">Leave it as it is</a><button>${action}, and allow what was found</button>` : html`<button class="main">${action}</button>`}</div>`,
)}`;
}
