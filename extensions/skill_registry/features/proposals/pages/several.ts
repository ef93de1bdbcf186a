import { isCodedError } from 'skill-registry/kernel';
import { invalidArgument, type Page, shownChanged } from '../../../../../lib/forms/index.ts';
import { address, type Html, html, verbatim } from '../../../../../lib/html/index.ts';
import { cards, differenceView, note, parseDifference } from '../../../../../lib/widgets/index.ts';
import type { ReviewPages, ReviewRequest } from '../../../core/review.ts';
import { riskiestFirst } from '../propose/describe.ts';
import type { Proposal } from '../propose/types.ts';
import { differenceOf, tagsOf, titleOf } from './shown-proposal.ts';

/** Several decisions at once. What is approved here is checked as when it was shown, each by itself. */
export const severalRoutes: Required<Pick<ReviewPages, 'get' | 'post'>> = {
  get: { '/several': (request) => show(request) },
  post: { '/several/:action{approve|reject}': decideAll },
};

// --- internal ---

/** That may be approved at once. */
const MOST = 10;
const MAX_LISTED = 200;
/** Of one look: each is inspected. */
const MAX_INSPECTED = 50;

/**
 * @param digest - Of `plainChange`, as it was shown.
 * @throws SHOWN_CHANGED when it would write anything else than what was shown; INVALID_ARGUMENT: no plain change
 */
async function approveOne({ actor, registry }: ReviewRequest, id: string, version: string, digest: string) {
  const plain = await registry.admin.plainChange(id);
  if (plain.alone !== undefined) throw invalidArgument(`It has to be looked at alone: ${plain.alone}.`);
  if (plain.digest !== digest || !isWholeShown(await registry.proposals.get(id)))
    throw shownChanged('What it would write');
  return registry.proposals.approve(id, { ...actor, version, inspected: digest });
}

/** One after the other: what is refused stops none of the others. */
async function decideAll(request: ReviewRequest): Promise<Page> {
  const { actor, registry } = request;
  const isApproval = request.param('action') === 'approve';
  const picked = request.all('picked');
  if (!isApproval && request.optional('reason') === undefined)
    throw invalidArgument('Say why they are rejected: go back, and type it.');
  if (picked.length === 0) throw invalidArgument('Nothing is ticked. Go back, and tick what you have read.');
  if (isApproval && picked.length > MOST) throw invalidArgument(`At most ${MOST} are approved at once.`);
  const said: Html[] = [];
  let isRefused = false;
  for (const value of picked) {
    const [id = '', version = '', digest = ''] = value.split(' ');
    const to = address('proposals', id);
    try {
      const { state } = isApproval
        ? await approveOne(request, id, version, digest)
        : await registry.proposals.reject(id, { ...actor, version });
      said.push(html`<li><a href="${to}?done=${state}"><b>${id}</b></a>: ${state}</li>`);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      isRefused = true;
      said.push(html`<li><a href="${to}"><b>${id}</b></a>: nothing was decided. ${error.message}</li>`);
    }
  }
  await request.changed();
  return show(request, note(html`<ul>${said}</ul>`, isRefused ? 'warn' : 'done'), isRefused ? 409 : 200);
}

async function show(request: ReviewRequest, said?: Html, status: 200 | 409 = 200): Promise<Page> {
  const waiting = riskiestFirst(await request.registry.proposals.list()).slice(0, MAX_LISTED);
  const digests = await plainOnes(request, waiting);
  const view = differenceView(undefined, request.path);
  const item = (one: Proposal): Html => {
    const { author, id, justification, version } = one;
    const digest = digests.get(id);
    return html`<li class="card">
<p class="line"><label><input type="checkbox" name="picked" value="${verbatim(`${id} ${version} ${digest ?? ''}`)}"> ${titleOf(one)}</label> ${tagsOf(one)} <a class="quiet" href="${address('proposals', id)}">Look at it alone</a></p>
<p>${justification.slice(0, 240)} <span class="quiet">${author}, version ${version.slice(-8)}</span></p>
${digest === undefined ? '' : view.show(differenceOf(one), address('proposals', id, 'difference'))}
</li>`;
  };
  const lists = [
    cards('May be approved together', waiting.filter(({ id }) => digests.has(id)).map(item)),
    cards('Can only be rejected here', waiting.filter(({ id }) => !digests.has(id)).map(item)),
  ];
  const form = request.form(
    '/several/reject',
    html`${lists}
<section class="decide" aria-label="Decide"><div class="actions"><label class="unseen" for="reason">Why they are rejected</label>
<input id="reason" name="reason" required maxlength="2000" autocomplete="off" placeholder="Why they are rejected">
<button data-key="r">Reject what is ticked</button>
${digests.size > 0 ? html`<button class="main" data-key="a" formaction="/several/approve" formnovalidate>Approve what is ticked</button>` : ''}</div></section>`,
  );
  const main = html`<h1>Several at once</h1>
${said}
<p>Tick what you have read. At most ${MOST} are approved together, and only changes of the words of a SKILL.md in which nothing was found.</p>
${waiting.length === 0 ? html`<p class="empty">No proposal waits.</p>` : form}`;
  return { title: 'Several at once', at: '/proposals', main, status };
}

/** The digest of each that may be approved together. */
async function plainOnes(
  { registry }: ReviewRequest,
  waiting: readonly Proposal[],
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  const harmless = waiting.filter(
    ({ checks, kind }) => kind === 'update' && checks.every(({ level }) => level === 'info'),
  );
  for (const one of harmless.slice(0, MAX_INSPECTED)) {
    if (digests.size === MOST) break;
    const plain = await registry.admin.plainChange(one.id);
    if (plain.alone === undefined && isWholeShown(one)) digests.set(one.id, plain.digest);
  }
  return digests;
}

function isWholeShown({ diff }: Proposal): boolean {
  const { cut, leftOut } = parseDifference(diff);
  return !cut && leftOut === 0;
}
