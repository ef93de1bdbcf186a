import { allHeld, type HeldExtension } from '../../../kernel/host.ts';
import type { Page } from '../../../lib/forms/index.ts';
import { address, type Html, html, plural } from '../../../lib/html/index.ts';
import { cards, note, tag } from '../../../lib/widgets/index.ts';
import type { CorePages, CoreRequest } from '../review.ts';
import { problemsLine } from './problems.ts';

/** Everything that waits for a person, highest risk first. */
export const inboxPages: CorePages = { get: { '/': show } };

// --- internal ---

async function show(request: CoreRequest): Promise<Page> {
  const parts = (await Promise.all(request.features.map((one) => one.inbox?.(request) ?? []))).flat();
  const unreadable = parts.flatMap((one) => one.unreadable ?? []);
  const { held: extensions, unreadable: broken } = waitingExtensions(request);
  const ofAgents = { title: 'Extensions that agents wrote', items: extensions.map(extensionItem), links: '' };
  const waiting = [ofAgents, ...parts];
  const isEmpty = [broken, unreadable, ...waiting.map(({ items }) => items)].every((some) => some.length === 0);
  const main = html`<h1>Inbox</h1>
<div id="waiting" data-live>
${unreadable}
${isEmpty ? html`<p class="empty">Nothing waits for you.</p>` : ''}
${broken.map(({ message }) => note(html`<p>${message}</p>`, 'warn'))}
${waiting.map(({ title, items, links }) => cards(title, items, links))}
${problemsLine(request)}
</div>
<div class="after">
${parts.map(({ actions }) => actions)}
</div>`;
  return { title: 'Inbox', at: '/', main, live: 'refresh' };
}

/** Empty when their folder links out of an unapproved root. */
function waitingExtensions({ root, isHeldReadable }: CoreRequest): ReturnType<typeof allHeld> {
  return isHeldReadable() ? allHeld(root) : { held: [], unreadable: [] };
}

function extensionItem({ name, by, files }: HeldExtension): Html {
  return html`<li class="card">
<p class="line"><a class="title" href="${address('extensions', name)}">extensions/${name}</a> ${tag('code', 'block')}</p>
<p class="quiet">${plural(files.length, 'file')} written by ${by.join(', ')}; no part of it runs before a person approves it</p>
</li>`;
}
