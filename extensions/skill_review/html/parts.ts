import type { Finding, FindingLevel } from '../../skill_registry/api.ts';
import type { ReviewContext } from '../review.ts';
import { type Html, html, type Piece, verbatim } from './html.ts';

/** Includes the CSRF token of the session. */
export function form(context: ReviewContext, action: string, content: Piece, attributes: Html | '' = ''): Html {
  return html`<form method="post" action="${action}"${attributes}>
<input type="hidden" name="csrf" value="${context.get('csrf')}">
${content}
</form>`;
}

/** The form sends the value back unchanged. */
export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${verbatim(value)}">`;
}

/** Nobody allows an attack with one click. @param what - For example `To approve it`. */
export function idField(what: string, skillId: string): Html {
  return html`<label for="typed-id">${what}, type the id of the skill: <code>${skillId}</code></label>
<input id="typed-id" name="typed_id" required autocomplete="off" autocapitalize="off" spellcheck="false">`;
}

export function levelTag(value: FindingLevel): Html {
  return html`<span class="tag ${value}">${value}</span>`;
}

export function tag(text: string, kind = ''): Html {
  return html`<span class="tag ${kind}">${text}</span>`;
}

/** UTC, to the minute. @param iso - ISO 8601. */
export function formatTime(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
}

export function findings(found: readonly Finding[]): Html {
  const items = found.map(
    ({ rule, level: how, file, line, message, excerpt }) => html`<li>
${levelTag(how)} <b>${message}</b> <span class="quiet">${rule} in <code>${file}${line === undefined ? '' : `:${line}`}</code></span>
${excerpt === '' ? '' : html`<pre class="excerpt">${excerpt}</pre>`}
</li>`,
  );
  return html`<ul class="findings">${items}</ul>`;
}

export function note(text: Piece, kind: 'done' | 'warn' | 'block' = 'done'): Html {
  return html`<div class="note ${kind}" role="status">${text}</div>`;
}

/** @param id - Unique on the page. */
export function reasonField(id = 'reason', label = 'Reason, for people who ask later'): Html {
  return html`<label for="${id}">${label}</label><input id="${id}" name="reason" maxlength="2000" autocomplete="off">`;
}

/** @param what - What did not happen: `changed`. */
export function refusal(refused: { readonly message: string } | undefined, what: string): Html | '' {
  return refused ? note(html`<p><b>Nothing was ${what}.</b> ${refused.message}</p>`, 'block') : '';
}

export type Cell = string | number | Html;

/** Scrolls when it is too wide. The first cell names the row. */
export function table(
  title: string,
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  kind: '' | 'fit' = '',
): Html {
  const isNumber = (cell: Cell | undefined): boolean => typeof cell === 'number' || /^\d+ %$/.test(String(cell));
  const classOf = (cell: Cell | undefined): Html | '' => (isNumber(cell) ? html` class="number"` : '');
  const head = header.map((text, at) => {
    if (text !== '') return html`<th scope="col"${classOf(rows[0]?.[at])}>${text}</th>`;
    return kind === 'fit' ? html`<td class="bars"></td>` : html`<td></td>`;
  });
  const body = rows.map(([name = '', ...cells]) => {
    const rest = cells.map(
      (cell) => html`<td${classOf(cell)}>${typeof cell === 'number' ? formatNumber(cell) : cell}</td>`,
    );
    return html`<tr><th scope="row"${classOf(name)}>${name}</th>${rest}</tr>
`;
  });
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table${kind ? html` class="${kind}"` : ''}>
<thead><tr>${head}</tr></thead>
<tbody>${body}</tbody>
</table></div>`;
}

export function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}

export function plural(value: number, word: string): string {
  return `${formatNumber(value)} ${word}${value === 1 ? '' : 's'}`;
}

export function skillAddress(id: string): string {
  return `/skills/${encodeURIComponent(id)}`;
}

export function proposalAddress(id: string): string {
  return `/proposals/${encodeURIComponent(id)}`;
}
