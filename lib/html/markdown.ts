import type { Token, Tokens } from 'marked';
import { withFallback } from '../errors/index.ts';
import type { MarkdownReader } from '../markdown/index.ts';
import { type Html, html } from './html.ts';

/** Limit for rendering; the rest is text behind a link. */
export const MAX_RENDERED: number = 128 * 1024;

/**
 * Shows HTML of the author as text and an image as its words and address. Links lead only to `http:`, `https:` and
 * `mailto:`. The address follows link words that do not name it.
 */
export async function markdownToHtml(reader: MarkdownReader, markdown: string): Promise<Html> {
  const text = markdown.slice(0, MAX_RENDERED);
  const tokens = await reader.read(text);
  if (tokens === undefined)
    return html`<p class="quiet">This text takes too long to read as Markdown, so it is shown as it is.</p><pre class="wrapped">${text}</pre>`;
  return html`<div class="markdown">${tokens.map((token) => block(token, 0))}</div>`;
}

/** Undefined for an address that a link may not open. */
export function safeAddress(href: string): string | undefined {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return undefined;
  return withFallback(() => new URL(href).href);
}

// --- internal ---

/** Deeper lists and quotations are shown as source text. */
const DEEPEST = 30;

function block(token: Token, depth: number): Html | '' {
  if (depth > DEEPEST) return html`<pre class="wrapped">${token.raw}</pre>`;
  const inner = (): readonly Html[] => spans(token, depth);
  switch (token.type) {
    case 'space':
    case 'def':
    // The list item shows the box.
    case 'checkbox':
      return '';
    case 'heading':
      return heading(Math.min((token as Tokens.Heading).depth + 2, 6), inner());
    case 'code':
      return html`<pre tabindex="0"><code>${(token as Tokens.Code).text}</code></pre>`;
    case 'blockquote':
      return html`<blockquote>${blocks((token as Tokens.Blockquote).tokens, depth)}</blockquote>`;
    case 'list':
      return list(token as Tokens.List, depth);
    case 'table':
      return table(token as Tokens.Table, depth);
    case 'hr':
      return html`<hr>`;
    case 'paragraph':
      return html`<p>${inner()}</p>`;
    case 'text':
      return html`${inner()} `;
    default:
      return html`<pre class="wrapped inert">${token.raw}</pre>`;
  }
}

function blocks(tokens: readonly Token[], depth: number): readonly (Html | '')[] {
  return tokens.map((token) => block(token, depth + 1));
}

function heading(level: number, text: readonly Html[]): Html {
  return html`<h${level}>${text}</h${level}>`;
}

function list({ ordered, start, items }: Tokens.List, depth: number): Html {
  const entries = items.map(({ task, checked, tokens }) => {
    const box = task
      ? html`<span role="img" aria-label="${checked ? 'done' : 'to do'}">${checked ? '☑' : '☐'}</span> `
      : '';
    return html`<li${task ? html` class="task"` : ''}>${box}${blocks(tokens, depth)}</li>`;
  });
  if (!ordered) return html`<ul>${entries}</ul>`;
  return html`<ol start="${Number(start) || 1}">${entries}</ol>`;
}

function table({ header, rows }: Tokens.Table, depth: number): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
<thead><tr>${header.map((cell) => html`<th scope="col">${spans(cell, depth)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${spans(cell, depth)}</td>`)}</tr>`)}</tbody>
</table></div>`;
}

function spans(token: Token | Tokens.TableCell, depth: number): readonly Html[] {
  const tokens = 'tokens' in token ? token.tokens : undefined;
  if (!tokens || depth > DEEPEST) return [html`${decoded('text' in token ? String(token.text) : '')}`];
  return tokens.map((one) => span(one, depth + 1));
}

function span(token: Token, depth: number): Html {
  switch (token.type) {
    case 'strong':
      return html`<strong>${spans(token, depth)}</strong>`;
    case 'em':
      return html`<em>${spans(token, depth)}</em>`;
    case 'del':
      return html`<s>${spans(token, depth)}</s>`;
    case 'codespan':
      return html`<code>${(token as Tokens.Codespan).text}</code>`;
    case 'checkbox':
      return html``;
    case 'br':
      return html`<br>`;
    case 'link':
      return link(token as Tokens.Link, depth);
    case 'image':
      return html`<span class="inert">[image: ${token.text || 'no words'} — <code>${token.href}</code>]</span>`;
    case 'text':
    case 'escape':
      return html`${spans(token, depth)}`;
    default:
      return html`<code class="inert">${token.raw}</code>`;
  }
}

function link(token: Tokens.Link, depth: number): Html {
  const address = safeAddress(token.href);
  const words = spans(token, depth);
  if (address === undefined) return html`${words} <code class="inert">(${token.href})</code>`;
  const isSaid = token.text === token.href || `mailto:${token.text}` === token.href;
  const beside = isSaid ? '' : html` <span class="address">(${address})</span>`;
  return html`<a href="${address}" rel="noopener noreferrer nofollow">${words}</a>${beside}`;
}

/** The parser does not decode entities. */
function decoded(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '');
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };
