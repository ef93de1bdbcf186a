import type { Page } from '../../lib/forms/index.ts';
import { type Html, html } from '../../lib/html/index.ts';
import type { Review, ReviewContext } from './review.ts';

/** Of the folder assets/. */
export const STYLES: readonly string[] = ['base.css', 'parts.css', 'forms.css', 'charts.css', 'reading.css'];

export function page(context: ReviewContext, review: Review, { title, at, main, live = 'notice' }: Page): Html {
  const [inbox = HOME, ...others] = NAVIGATION.filter(({ address }) => !review.isOfTeam || address !== '/decisions');
  const entries = [inbox, ...review.features.flatMap(({ navigation = [] }) => navigation), ...others].map(
    ({ address, text }) =>
      html`<li><a href="${address}"${at === address ? html` aria-current="page"` : ''}>${text}</a></li>\n`,
  );
  const body = html`<header class="top">
<div class="wide">
<a class="brand" href="/">Skill review</a>
<nav aria-label="Pages"><ul>
${entries}</ul></nav>
</div>
</header>
<div class="changed wide" role="status" data-changed hidden>Something has changed since this page was read. <a href="${addressOf(context)}">Read it again</a></div>
<main id="main" class="wide" tabindex="-1">
${main}
</main>
<footer class="wide">Decisions here are made as <b>${context.get('by')}</b>, in <code>${review.root}</code>.${review.isOfTeam ? html` <a href="/enter">Log out, or another space</a>` : ''}</footer>`;
  return shell(title, body, html` data-live="${live}" data-count="${review.count()}"`);
}

/** Says how to get access, and shows nothing of the registry. */
export function refusalPage(reason: string): Html {
  return shell(
    'Not let in',
    html`<main id="main" class="wide refusal">
<h1>Not let in</h1>
<p>${reason}</p>
<p>Open the address that <code>skill-registry review</code> printed when it was started. It works until that command ends; start it again for a new one.</p>
</main>`,
  );
}

// --- internal ---

const HOME = { address: '/', text: 'Inbox' };
const NAVIGATION = [
  HOME,
  { address: '/catalog', text: 'Catalog' },
  { address: '/problems', text: 'Problems' },
  { address: '/decisions', text: 'Decisions' },
];

function shell(title: string, body: Html, attributes: Html | '' = ''): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Skill review</title>
${STYLES.map((name) => html`<link rel="stylesheet" href="/assets/${name}">\n`)}<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<script type="module" src="/assets/review.js"></script>
</head>
<body${attributes}>
<a class="skip" href="#main">Skip to the content</a>
${body}
</body>
</html>
`;
}

/** Exactly one leading slash: after `//` a browser would read the name of another host. */
function addressOf({ req }: ReviewContext): string {
  const at = req.url.indexOf('?');
  return `/${req.path.replace(/^[/\\]+/, '')}${at === -1 ? '' : req.url.slice(at)}`;
}
