import { CodedError } from 'skill-registry/kernel';
import {
  approveExtension,
  describeHeld,
  extensionNotHeld,
  type HeldExtension,
  heldExtension,
  heldExtensions,
  ownExtensionIds,
  recordExtensionDecision,
  revokeExtension,
} from '../../../kernel/host.ts';
import { actorOf, fieldsOf, isRefused, orRefusal } from '../forms.ts';
import { difference, viewLink, viewOf } from '../html/difference.ts';
import { type Html, html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { parseDifference } from '../html/parse-difference.ts';
import { form, hiddenField, note, refusal } from '../html/parts.ts';
import type { Review, ReviewApp, ReviewContext } from '../review.ts';

export function addExtension(app: ReviewApp, review: Review): void {
  app.get('/extensions/:name', (context) => show(context, review, context.req.param('name')));

  app.get('/extensions/:name/difference', async (context) => {
    const held = heldNamed(review, context.req.param('name'));
    return context.text(await describeHeld(held, ownExtensionIds()));
  });

  app.post('/extensions/:name/:action{approve|revoke}', async (context) => {
    const { name, action } = context.req.param();
    const digest = (await fieldsOf(context)).text('digest');
    const outcome = await orRefusal(decide(review, name, action === 'approve', digest));
    if (isRefused(outcome)) return show(context, review, name, outcome.refused);
    review.changed();
    const title = `extensions/${name}`;
    const main = html`<h1>${title}</h1>
${note(html`<p>${action === 'approve' ? 'Approved. The next start or restart loads it, when its root is approved.' : 'Revoked. The waiting code was deleted.'}</p>`)}
<p><a href="/">Back to the inbox</a></p>`;
    return context.html(page(context, review, { title, at: 'inbox', main }));
  });
}

export function extensionAddress(name: string): string {
  return `/extensions/${encodeURIComponent(name)}`;
}

// --- internal ---

function heldNamed({ root, isHeldReadable }: Review, name: string): HeldExtension {
  const held = isHeldReadable() ? heldExtension(root, name) : undefined;
  if (held) return held;
  throw extensionNotHeld(name, isHeldReadable() ? heldExtensions(root) : []);
}

/** Revoking here deletes only waiting code, never an approved extension. */
async function decide(review: Review, name: string, isApproved: boolean, digest: string): Promise<void> {
  const held = heldNamed(review, name);
  if (!isApproved && held.digest !== digest)
    throw new CodedError('EXTENSION_CHANGED', `extensions/${name} has changed since this page was shown. Look again.`);
  const root = { dir: review.root, trusted: review.isTrusted() };
  if (isApproved) approveExtension(root, name, digest);
  else revokeExtension(root, name);
  recordExtensionDecision(review.root, name, { action: isApproved ? 'allow' : 'revoke', digest, ...actorOf(review) });
}

async function show(context: ReviewContext, review: Review, name: string, refused?: CodedError): Promise<Response> {
  const held = heldNamed(review, name);
  const address = extensionAddress(name);
  const view = viewOf(context.req.query('view'));
  const read = parseDifference(await describeHeld(held, ownExtensionIds()));
  const main = html`<h1>extensions/${name}</h1>
${refusal(refused, 'done')}
${note(html`<p><b>An extension runs as you and may do everything you may do.</b> It was written by ${held.by.join(', ')}. The code below waits; no part of it runs before a person approves it.</p>`, 'block')}
<div class="heading"><h2>Difference</h2>${viewLink(address, view)}</div>
${difference(read, { view, whole: `${address}/difference` })}
<h2>Decide</h2>
${read.leftOut > 0 || read.cut ? html`<p>This page does not show all of it, so it cannot be approved here. The command shows everything:</p><pre tabindex="0">skill-registry extensions approve ${name}</pre>` : ''}
${decideForms(context, address, held.digest, read.leftOut === 0 && !read.cut)}`;
  return context.html(page(context, review, { title: `extensions/${name}`, at: 'inbox', main }), refused ? 409 : 200);
}

function decideForms(context: ReviewContext, address: string, digest: string, isAllShown: boolean): Html {
  const one = (action: string, button: Html): Html =>
    form(context, `${address}/${action}`, html`${hiddenField('digest', digest)}<div class="actions">${button}</div>`);
  return html`<div class="decide">
${isAllShown ? html`<div>${one('approve', html`<button class="main">Approve these bytes</button>`)}</div>` : ''}
<div>${one('revoke', html`<button>Delete the waiting code</button>`)}</div>
</div>`;
}
