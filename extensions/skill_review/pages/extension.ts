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
import { hiddenField, orRefusal, type Page, refusal } from '../../../lib/forms/index.ts';
import { address, type Html, html } from '../../../lib/html/index.ts';
import { differenceView, note, parseDifference } from '../../../lib/widgets/index.ts';
import type { CorePages, CoreRequest } from '../review.ts';

export const extensionPages: CorePages = {
  get: {
    '/extensions/:id': (request) => show(request),
    '/extensions/:id/difference': async (request) => ({
      text: await describeHeld(heldNamed(request), ownExtensionIds()),
    }),
  },
  post: {
    async '/extensions/:id/:action{approve|revoke}'(request) {
      const isApproved = request.param('action') === 'approve';
      const { refused } = await orRefusal(decide(request, isApproved, request.field('digest')));
      if (refused) return show(request, refused);
      await request.changed();
      const title = `extensions/${request.id}`;
      const main = html`<h1>${title}</h1>
${note(html`<p>${isApproved ? 'Approved. The next start or restart loads it, when its root is approved.' : 'Revoked. The waiting code was deleted.'}</p>`)}
<p><a href="/">Back to the inbox</a></p>`;
      return { title, at: '/', main };
    },
  },
};

// --- internal ---

function heldNamed({ id, root, isHeldReadable }: CoreRequest): HeldExtension {
  const held = isHeldReadable() ? heldExtension(root, id) : undefined;
  if (held) return held;
  throw extensionNotHeld(id, isHeldReadable() ? heldExtensions(root) : []);
}

/** Revoking here deletes only waiting code, never an approved extension. */
async function decide(request: CoreRequest, isApproved: boolean, digest: string): Promise<void> {
  const { actor, id } = request;
  const held = heldNamed(request);
  if (!isApproved && held.digest !== digest)
    throw new CodedError('EXTENSION_CHANGED', `extensions/${id} has changed since this page was shown. Look again.`);
  const root = { dir: request.root, trusted: request.isTrusted() };
  if (isApproved) approveExtension(root, id, digest);
  else revokeExtension(root, id);
  recordExtensionDecision(request.root, id, { action: isApproved ? 'allow' : 'revoke', digest, ...actor });
}

async function show(request: CoreRequest, refused?: CodedError): Promise<Page> {
  const name = request.id;
  const held = heldNamed(request);
  const here = address('extensions', name);
  const view = differenceView(request.query('view'), here);
  const read = parseDifference(await describeHeld(held, ownExtensionIds()));
  const isAllShown = read.leftOut === 0 && !read.cut;
  const formFor = (action: string, button: Html): Html =>
    request.form(`${here}/${action}`, html`${hiddenField('digest', held.digest)}<div class="actions">${button}</div>`);
  const main = html`<h1>extensions/${name}</h1>
${refusal(refused, 'done')}
${note(html`<p><b>An extension runs as you and may do everything you may do.</b> It was written by ${held.by.join(', ')}. The code below waits; no part of it runs before a person approves it.</p>`, 'block')}
${view.heading('Difference')}
${view.show(read, `${here}/difference`)}
<h2>Decide</h2>
${isAllShown ? '' : html`<p>This page does not show all of it, so it cannot be approved here. The command shows everything:</p><pre tabindex="0">skill-registry approvals allow extensions/${name}</pre>`}
<div class="decide">
${isAllShown ? html`<div>${formFor('approve', html`<button class="main">Approve these bytes</button>`)}</div>` : ''}
<div>${formFor('revoke', html`<button>Delete the waiting code</button>`)}</div>
</div>`;
  return { title: `extensions/${name}`, at: '/', main, status: refused ? 409 : 200 };
}
