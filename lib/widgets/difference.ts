import { type Html, html, type Piece } from '../html/index.ts';
import type { Level } from '../text/index.ts';
import { type DiffRow, parseDifference, type ShownDifference } from './parse-difference.ts';
import { levelTag } from './parts.ts';

export interface Remark {
  readonly level: Level;
  readonly text: string;
  /** 1-based, in the new text. */
  readonly line: number;
}

type View = 'inline' | 'split';

/** A difference as the address wants it: one line below the other, or side by side. @param path - Of the page. */
export function differenceView(
  query: string | undefined,
  path: string,
): {
  heading(title: Piece): Html;
  /** @param whole - Address of the whole difference as text. */
  show(diff: string | ShownDifference, whole: string, remarks?: readonly Remark[]): Html;
} {
  const view = query === 'split' ? 'split' : 'inline';
  const [to, text] = view === 'inline' ? [`${path}?view=split`, 'Side by side'] : [path, 'One below the other'];
  return {
    heading: (title) => html`<div class="heading"><h2>${title}</h2><a href="${to}">${text}</a></div>`,
    show: (diff, whole, remarks = []) => difference(view, diff, whole, remarks),
  };
}

// --- internal ---

function difference(view: View, diff: string | ShownDifference, whole: string, remarks: readonly Remark[]): Html {
  const read = typeof diff === 'string' ? parseDifference(diff) : diff;
  if (read.rows.length === 0) return html`<p class="empty">There is no difference.</p>`;
  const byLine = new Map<number, Remark[]>();
  for (const remark of remarks) byLine.set(remark.line, [...(byLine.get(remark.line) ?? []), remark]);
  const isSplit = view === 'split';
  const rows = isSplit ? splitRows(read.rows, byLine) : inlineRows(read.rows, byLine);
  const columns = isSplit ? ['at', '', 'at', ''] : ['at', 'at', 'sign', ''];
  const names = isSplit ? ['Line', 'Before', 'Line', 'After'] : ['Line before', 'Line after', 'Change', 'Text'];
  return html`<div class="diff-frame"><table class="diff ${view}"><caption class="unseen">Difference</caption>
<colgroup>${columns.map((kind) => (kind === '' ? html`<col>` : html`<col class="${kind}">`))}</colgroup>
<thead class="unseen"><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>
${restOf(read, whole)}`;
}

const SIGNS = { same: ' ', del: '−', add: '+' } as const;
const SAID = { same: '', del: 'removed', add: 'added' } as const;

function restOf({ leftOut, cut }: ShownDifference, whole: string): Html {
  const missing = [
    ...(leftOut > 0 ? [`${leftOut} more ${leftOut === 1 ? 'line is' : 'lines are'} not shown`] : []),
    ...(cut ? ['long lines are cut'] : []),
  ];
  const warning = missing.length === 0 ? '' : html`<b>This is not all of it: ${missing.join(', and ')}.</b> `;
  return html`<p class="quiet">${warning}<a href="${whole}">The whole difference as text</a></p>`;
}

function words({ text, parts, kind }: DiffRow): Html {
  if (!parts) return html`${text}`;
  const mark = (part: string): Html => (kind === 'del' ? html`<del>${part}</del>` : html`<ins>${part}</ins>`);
  return html`${parts.map(({ text: part, changed }) => (changed ? mark(part) : part))}`;
}

function remarkRow(remarks: readonly Remark[] | undefined): Html | '' {
  if (!remarks) return '';
  const items = remarks.map(({ level: how, text }) => html`<div>${levelTag(how)} ${text}</div>`);
  return html`<tr class="remark" tabindex="-1" data-finding><td colspan="4">${items}</td></tr>
`;
}

function wideRow({ kind, text }: DiffRow): Html {
  return html`<tr class="wide-${kind}"><td colspan="4">${text}</td></tr>
`;
}

function isLine(row: DiffRow): row is DiffRow & { readonly kind: 'same' | 'del' | 'add' } {
  return row.kind === 'same' || row.kind === 'del' || row.kind === 'add';
}

function inlineRows(rows: readonly DiffRow[], remarks: ReadonlyMap<number, readonly Remark[]>): readonly Html[] {
  return rows.map((row) => {
    if (!isLine(row)) return wideRow(row);
    const { kind, old, next } = row;
    return html`<tr class="${kind}"${next === undefined ? '' : html` id="line-${next}"`}><td class="at">${old}</td><td class="at">${next}</td><td class="sign"><span aria-hidden="true">${SIGNS[kind]}</span><span class="unseen">${SAID[kind]}</span></td><td class="text">${words(row)}</td></tr>
${next === undefined ? '' : remarkRow(remarks.get(next))}`;
  });
}

function splitRows(rows: readonly DiffRow[], remarks: ReadonlyMap<number, readonly Remark[]>): readonly Html[] {
  const shown: Html[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as DiffRow;
    if (!isLine(row)) {
      shown.push(wideRow(row));
      at += 1;
      continue;
    }
    if (row.kind === 'same') {
      shown.push(pair(row, row), remarkRow(remarks.get(row.next as number)) as Html);
      at += 1;
      continue;
    }
    // Puts removed lines beside the added lines that follow, then the notes about line ends.
    const run: DiffRow[] = [];
    while (rows[at]?.kind === 'del' || rows[at]?.kind === 'add' || rows[at]?.kind === 'note')
      run.push(rows[at++] as DiffRow);
    const [removed, added, notes] = (['del', 'add', 'note'] as const).map((kind) =>
      run.filter((one) => one.kind === kind),
    );
    for (let beside = 0; beside < Math.max(removed?.length ?? 0, added?.length ?? 0); beside++) {
      const [left, right] = [removed?.[beside], added?.[beside]];
      shown.push(pair(left, right));
      if (right?.next !== undefined) shown.push(remarkRow(remarks.get(right.next)) as Html);
    }
    shown.push(...(notes ?? []).map(wideRow));
  }
  return shown;
}

function pair(left: DiffRow | undefined, right: DiffRow | undefined): Html {
  const cell = (row: DiffRow | undefined, at: number | undefined): Html =>
    row === undefined
      ? html`<td class="at"></td><td class="text none"></td>`
      : html`<td class="at">${at}</td><td class="text ${row.kind}">${words(row)}</td>`;
  return html`<tr${right?.next === undefined ? '' : html` id="line-${right.next}"`}>${cell(left, left?.old)}${cell(right, right?.next)}</tr>
`;
}
