import type { Review, ReviewContext } from '../review.ts';
import { type Html, html, type Piece } from './html.ts';

export interface Page {
  /** Without the name of the product. */
  readonly title: string;
  /** The selected entry of the navigation. */
  readonly at?: NavigationEntry;
  readonly main: Piece;
  /** `refresh` reads the `data-live` parts again after a change; `notice` (default, for forms) offers to reload. */
  readonly live?: 'refresh' | 'notice';
}

export type NavigationEntry = 'inbox' | 'catalog' | 'usage';

export function page(context: ReviewContext, review: Review, { title, at, main, live = 'notice' }: Page): Html {
  const entry = (name: NavigationEntry, address: string, text: string): Html =>
    html`<li><a href="${address}"${at === name ? html` aria-current="page"` : ''}>${text}</a></li>`;
  const body = html`<header class="top">
<div class="wide">
<a class="brand" href="/">Skill review</a>
<nav aria-label="Pages"><ul>
${entry('inbox', '/', 'Inbox')}
${entry('catalog', '/catalog', 'Catalog')}
${entry('usage', '/usage', 'Usage')}
</ul></nav>
</div>
</header>
<div class="changed wide" role="status" data-changed hidden>Something has changed since this page was read. <a href="${addressOf(context)}">Read it again</a></div>
<main id="main" class="wide" tabindex="-1">
${main}
</main>
<footer class="wide">Decisions here are made as <b>${review.by}</b>, in <code>${review.root}</code>.</footer>`;
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

function shell(title: string, body: Html, attributes: Html | '' = ''): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Skill review</title>
<link rel="stylesheet" href="/assets/base.css">
<link rel="stylesheet" href="/assets/parts.css">
<link rel="stylesheet" href="/assets/forms.css">
<link rel="stylesheet" href="/assets/charts.css">
<link rel="stylesheet" href="/assets/reading.css">
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
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
