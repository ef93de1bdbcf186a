import { formatNumber, type Html, html, type Piece, verbatim } from '../html/index.ts';
import { type Level, levelWord } from '../text/index.ts';

export function levelTag(level: Level): Html {
  return tag(levelWord(level), level);
}

export function tag(text: string, kind = ''): Html {
  return html`<span class="tag ${kind}">${text}</span>`;
}

export function note(text: Piece, kind: 'done' | 'warn' | 'block' = 'done'): Html {
  return html`<div class="note ${kind}" role="status">${text}</div>`;
}

/** A list with its number of items; nothing without items. */
export function cards(title: string, items: readonly Html[], above: Piece = ''): Html | '' {
  if (items.length === 0) return '';
  return html`<h2>${title} <span class="count">${items.length}</span></h2>
${above}<ul class="cards">${items}</ul>
`;
}

/** Names and values; those without a value are left out. */
export function factList(facts: readonly (readonly [string, Piece])[]): Html {
  const shown = facts.filter(([, value]) => value !== '');
  return html`<dl class="facts">${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** A field whose values are given. @param options - Value and text. */
export function selection(
  name: string,
  label: string,
  options: readonly (readonly [string, string])[],
  chosen: string,
): Html {
  const items = options.map(
    ([value, text]) =>
      html`<option value="${verbatim(value)}"${value === chosen ? html` selected` : ''}>${text}</option>`,
  );
  return html`<div><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${items}</select></div>`;
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
