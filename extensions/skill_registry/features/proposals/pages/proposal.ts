import { type CodedError, isCodedError } from 'skill-registry/kernel';
import { hiddenField, invalidArgument, orRefusal, type Page, shownChanged } from '../../../../../lib/forms/index.ts';
import { address, type Html, html, plural, verbatim } from '../../../../../lib/html/index.ts';
import { findHiddenText, hiddenCharacters, showHidden } from '../../../../../lib/text/index.ts';
import { note } from '../../../../../lib/widgets/index.ts';
import type { ReviewPages, ReviewRequest } from '../../../core/review.ts';
import { assertIdTyped } from '../../guard/shown-findings.ts';
import { shownDigest } from '../../history/pages.ts';
import { riskiestFirst } from '../propose/describe.ts';
import type { Proposal, ProposedText } from '../propose/types.ts';
import { type ActionResult, proposalMain } from './shown-proposal.ts';

export const proposalRoutes: Required<Pick<ReviewPages, 'get' | 'post'>> = {
  get: {
    async '/proposals/:id'(request) {
      const { proposals } = request.registry;
      const { id } = await proposals.get(request.id);
      if (id !== request.id) return { redirect: address('proposals', id) };
      const done = request.query('done');
      const isDecision = done !== undefined && DECISIONS.includes(done);
      return show(request, { done, last: isDecision && (await proposals.get(request.query('last') ?? id)) });
    },
    '/proposals/:id/difference': async ({ id, registry }) => ({
      text: showHidden((await registry.proposals.get(id)).diff),
    }),
    '/proposals/:id/edit': (request) => editor(request),
  },
  post: {
    '/proposals/:id/approve': (request) =>
      decide(request, approveShown(request, request.field('version'), request.field('blocks'))),
    '/proposals/:id/reject': (request) =>
      request.optional('reason') === undefined
        ? show(request, { reasonMissing: true })
        : decide(request, rejectShown(request)),
    /** Somebody has rejected it by mistake, and asks for it as a person. */
    '/proposals/:id/again': (request) => decide(request, proposeAgain(request)),
    '/proposals/:id/purge'(request) {
      const { actor, id, registry } = request;
      return decide(
        request,
        registry.proposals.purge([id], { by: actor.by }).then(() => pageOf(id, 'purged')),
      );
    },
    async '/proposals/:id/edit'(request) {
      const { actor, field, id, optional, registry } = request;
      // Browsers send CRLF; the registry uses the line ends of the file.
      const content = field('content').replace(/\r\n?/g, '\n');
      const edit = { content, by: actor.by, version: field('version') };
      const { refused, value: edited } = await orRefusal(registry.proposals.edit(id, edit));
      if (refused) return editor(request, { refused, content });
      await request.changed();
      if (optional('next') !== 'approve') return { redirect: pageOf(id, 'edited') };
      // The person has not seen findings in the new text: approve it only when there are none of level `block`.
      const { blocks } = await registry.admin.blockFindingsAfter({ proposalId: id });
      if (blocks.length > 0) return { redirect: pageOf(id, 'look') };
      return decide(request, approveShown(request, edited.version, ''));
    },
  },
};

// --- internal ---

function pageOf(id: string, done: string): string {
  return `${address('proposals', id)}?done=${done}`;
}

/** @param work - Gives the address of the next page. */
function decide(request: ReviewRequest, work: Promise<string>): ReturnType<ReviewRequest['decide']> {
  return request.decide(work, (refused) => show(request, { refused }));
}

const DECISIONS: readonly string[] = ['approved', 'merged', 'rejected'];

/** Approves only the shown version with the shown findings. @param shown - `shownDigest`. @returns the next page. */
async function approveShown(request: ReviewRequest, version: string, shown: string): Promise<string> {
  const { actor, id, registry } = request;
  const { admin, proposals } = registry;
  const change = { proposalId: id };
  const now = await admin.blockFindingsAfter(change);
  const { skillId } = await proposals.get(id);
  // Where it does not apply, `approve` throws the reason.
  if (now.digest !== null && shownDigest(now) !== shown) throw shownChanged('What an inspection finds in this skill');
  assertIdTyped(skillId, now.blocks, request.optional('typed_id'));
  const goOn = await wayOn(request);
  const { merged } = await proposals.approve(id, { ...actor, version, inspected: now.digest });
  await admin.allowShown(change, now, actor);
  return goOn(merged ? 'merged' : 'approved');
}

async function rejectShown(request: ReviewRequest): Promise<string> {
  const { actor, field, id, registry } = request;
  const goOn = await wayOn(request);
  await registry.proposals.reject(id, { ...actor, version: field('version') });
  return goOn('rejected');
}

/** Call it before the decision. @returns what makes the address of the next page: of the next that waits, if any. */
async function wayOn({ id, registry }: ReviewRequest): Promise<(done: string) => string> {
  const ids = riskiestFirst(await registry.proposals.list()).map((one) => one.id);
  const next = ids[ids.indexOf(id) + 1] ?? ids.find((one) => one !== id);
  return (done) => (next === undefined ? pageOf(id, done) : `${pageOf(next, done)}&last=${encodeURIComponent(id)}`);
}

/** What was rejected, asked for again by a person: only persons may. */
async function proposeAgain({ actor, id, registry }: ReviewRequest): Promise<string> {
  const { diff, evidence, justification, kind, path, skillId, state } = await registry.proposals.get(id);
  if (state !== 'rejected') throw invalidArgument('Only what was rejected is proposed again.');
  const why = `Proposed again: ${id} was rejected by mistake.\n\n${justification}`.slice(0, 10_000);
  const change = kind === 'delete' ? {} : { path, diff };
  const words = { justification: why, author: actor.by, ...(evidence === null ? {} : { evidence }) };
  const again = await registry.proposals.propose({ skillId, kind, ...change, ...words });
  return pageOf(again.proposalId, 'again');
}

async function show(request: ReviewRequest, answer: ActionResult): Promise<Page> {
  const proposal = await request.registry.proposals.get(request.id);
  const main = await proposalMain(request, proposal, answer);
  const status = answer.refused ? 409 : answer.reasonMissing ? 400 : 200;
  return { title: `${proposal.skillId}, ${proposal.state}`, at: '/proposals', main, status };
}

async function editor(
  request: ReviewRequest,
  { refused, content }: { readonly refused?: CodedError; readonly content?: string } = {},
): Promise<Page> {
  const { proposals } = request.registry;
  const proposal = await proposals.get(request.id);
  const proposed = await proposals.text(proposal.id).catch((error: unknown) => {
    if (isCodedError(error)) return error;
    throw error;
  });
  const main = isCodedError(proposed)
    ? html`<h1>${proposal.skillId}</h1>
${note(html`<p>${proposed.message}</p>`, 'warn')}
${content === undefined ? '' : html`<h2>What you wrote</h2><pre class="wrapped">${content}</pre>`}
<p><a href="${address('proposals', proposal.id)}">Back to the proposal</a></p>`
    : editorMain(request, proposal, proposed, { refused, content });
  const status = refused || isCodedError(proposed) ? 409 : 200;
  return { title: `Edit ${proposal.skillId}`, at: '/proposals', main, status };
}

function editorMain(
  { form }: ReviewRequest,
  { id, skillId, state }: Proposal,
  { path, content: proposed, version }: ProposedText,
  { refused, content }: { readonly refused?: CodedError | undefined; readonly content?: string | undefined },
): Html {
  const head = html`<h1>Edit what is proposed for ${skillId}/${path}</h1>`;
  const back = html`<a href="${address('proposals', id)}">Back to the proposal</a>`;
  const why = whyNotHere(proposed);
  if (why !== undefined)
    return html`${head}<p>${why}</p><pre tabindex="0">skill-registry proposals edit ${id}</pre><p>${back}</p>`;
  const text = content ?? proposed;
  const stale =
    state === 'stale'
      ? note(
          html`<p>The file has changed in the same lines. Both texts are below, between lines of <code>&lt;&lt;&lt;&lt;&lt;&lt;&lt;</code>, <code>=======</code> and <code>&gt;&gt;&gt;&gt;&gt;&gt;&gt;</code>. Keep what is wanted of both, and remove these lines.</p>`,
          'warn',
        )
      : '';
  return html`${head}
${refused ? note(html`<p>${refused.message}</p><p>What you wrote is below. ${refused.code === 'PROPOSAL_CHANGED' ? html`Saving it now replaces the other text: read that first, on ${back}.` : ''}</p>`, 'block') : ''}
${stale}
${hiddenNote(text)}
${form(
  `${address('proposals', id)}/edit`,
  html`${hiddenField('version', version)}
<label for="content">The whole text of ${path}</label>
<textarea class="code" id="content" name="content" rows="28" spellcheck="false" autocapitalize="off" autocomplete="off">
${verbatim(text)}</textarea>
<div class="actions">
<button class="main" name="next" value="look">Save and look at it</button>
<button name="next" value="approve">Save and approve</button>
${back}
</div>`,
)}`;
}

/** A form may need three bytes for one, and browsers become slow with more text. */
const MAX_CHARACTERS = 1_048_576;

/** Undefined when a form can edit the text unchanged. */
function whyNotHere(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return 'This text is too long for a form. Edit it with the command:';
  if (/\r(?!\n)|\0/.test(text)) return 'A form would change characters of this text. Edit it with the command:';
  return undefined;
}

function hiddenNote(text: string): Html | '' {
  const found = [...hiddenCharacters(text)].length;
  if (found === 0) return '';
  const says = findHiddenText(text)?.says ?? '';
  return note(
    html`<p>This text has ${plural(found, 'character')} that cannot be seen here${says === '' ? '' : html`, which say: ${says}`}. The difference on the page of the proposal shows where.</p>`,
    'warn',
  );
}
