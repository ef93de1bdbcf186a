import { type CodedError, isCodedError } from 'skill-registry/kernel';
import { showHidden } from '../../../lib/text/index.ts';
import type { Proposal } from '../../skill_registry/api.ts';
import { shownChanged } from '../errors.ts';
import { actorOf, assertIdTyped, decision, fieldsOf, isRefused, orRefusal, shownDigest } from '../forms.ts';
import { html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { note, proposalAddress } from '../html/parts.ts';
import type { Review, ReviewApp, ReviewContext } from '../review.ts';
import { editorMain } from './proposal-editor.ts';
import { type ActionResult, proposalMain } from './proposal-parts.ts';

export function addProposal(app: ReviewApp, review: Review): void {
  const { admin, proposals } = review.registry;

  app.get('/proposals/:id', async (context) => {
    const { id } = await proposals.get(context.req.param('id'));
    if (id !== context.req.param('id')) return context.redirect(proposalAddress(id));
    return show(context, review, id, { done: context.req.query('done') });
  });

  app.get('/proposals/:id/difference', async (context) => {
    const { diff } = await proposals.get(context.req.param('id'));
    return context.text(showHidden(diff));
  });

  app.post('/proposals/:id/approve', async (context) => {
    const id = context.req.param('id');
    const form = await fieldsOf(context);
    const reason = form.optional('reason');
    const shown = {
      version: form.text('version'),
      blocks: form.text('blocks'),
      typedId: form.optional('typed_id'),
    };
    const typed = { note: reason };
    const work = approveShown(review, id, shown, reason);
    return decision(context, review, work, (refused) => show(context, review, id, { refused, typed }));
  });

  app.post('/proposals/:id/reject', async (context) => {
    const id = context.req.param('id');
    const form = await fieldsOf(context);
    const reason = form.optional('reason');
    if (reason === undefined) return show(context, review, id, { reasonMissing: true });
    const actor = { ...actorOf(review, reason), version: form.text('version') };
    const work = proposals.reject(id, actor).then(() => `${proposalAddress(id)}?done=rejected`);
    return decision(context, review, work, (refused) => show(context, review, id, { refused, typed: { reason } }));
  });

  app.post('/proposals/:id/purge', async (context) => {
    const id = context.req.param('id');
    const work = proposals.purge([id], { by: review.by }).then(() => `${proposalAddress(id)}?done=purged`);
    return decision(context, review, work, (refused) => show(context, review, id, { refused }));
  });

  app.post('/proposals/:id/edit', async (context) => {
    const id = context.req.param('id');
    const form = await fieldsOf(context);
    // Browsers send CRLF; the registry uses the line ends of the file.
    const content = form.text('content').replace(/\r\n?/g, '\n');
    const edit = { content, by: review.by, version: form.text('version') };
    const edited = await orRefusal(proposals.edit(id, edit));
    if (isRefused(edited))
      return editor(context, review, await proposals.get(id), { refused: edited.refused, content });
    review.changed();
    if (form.optional('next') !== 'approve') return context.redirect(`${proposalAddress(id)}?done=edited`, 303);
    // The person has not seen findings in the new text: approve it only when there are none of level `block`.
    const { blocks } = await admin.blockFindingsAfter({ proposalId: id });
    if (blocks.length > 0) return context.redirect(`${proposalAddress(id)}?done=look`, 303);
    const work = approveShown(review, id, { version: edited.version, blocks: '' });
    return decision(context, review, work, (refused) => show(context, review, id, { refused }));
  });

  app.get('/proposals/:id/edit', async (context) =>
    editor(context, review, await proposals.get(context.req.param('id')), {}),
  );
}

// --- internal ---

interface Shown {
  readonly version: string;
  /** From `shownDigest`. */
  readonly blocks: string;
  readonly typedId?: string | undefined;
}

/** Approves only the shown version with the shown findings. Returns the address of the next page. */
async function approveShown(
  { registry, ...review }: Review,
  id: string,
  { version, blocks: shown, typedId }: Shown,
  reason?: string,
): Promise<string> {
  const { admin, proposals } = registry;
  const change = { proposalId: id };
  const now = await admin.blockFindingsAfter(change);
  const { skillId } = await proposals.get(id);
  // Where it does not apply, `approve` throws the reason.
  if (now.digest !== null && shownDigest(now) !== shown) throw shownChanged('What an inspection finds in this skill');
  assertIdTyped(skillId, now.blocks, typedId);
  const actor = actorOf(review, reason);
  const { merged } = await proposals.approve(id, { ...actor, version, inspected: now.digest });
  await admin.allowShown(change, now, actor);
  return `${proposalAddress(id)}?done=${merged ? 'merged' : 'approved'}`;
}

async function show(context: ReviewContext, review: Review, id: string, answer: ActionResult): Promise<Response> {
  const proposal = await review.registry.proposals.get(id);
  const main = await proposalMain(context, review, proposal, answer);
  const status = answer.refused ? 409 : answer.reasonMissing ? 400 : 200;
  const title = `${proposal.skillId}, ${proposal.state}`;
  return context.html(page(context, review, { title, at: 'inbox', main }), status);
}

async function editor(
  context: ReviewContext,
  review: Review,
  proposal: Proposal,
  { refused, content }: { readonly refused?: CodedError; readonly content?: string },
): Promise<Response> {
  const proposed = await review.registry.proposals.text(proposal.id).catch((error: unknown) => {
    if (isCodedError(error)) return error;
    throw error;
  });
  const main = isCodedError(proposed)
    ? html`<h1>${proposal.skillId}</h1>
${note(html`<p>${proposed.message}</p>`, 'warn')}
${content === undefined ? '' : html`<h2>What you wrote</h2><pre class="wrapped">${content}</pre>`}
<p><a href="${proposalAddress(proposal.id)}">Back to the proposal</a></p>`
    : editorMain(context, proposal, proposed, { refused, content });
  const status = refused || isCodedError(proposed) ? 409 : 200;
  return context.html(page(context, review, { title: `Edit ${proposal.skillId}`, at: 'inbox', main }), status);
}
