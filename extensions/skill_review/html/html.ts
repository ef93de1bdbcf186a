import { html as template } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { showHidden } from '../../../lib/text/index.ts';

/** A piece of a page. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** A value in a template: a text, which is escaped, another piece, a list of these, or nothing. */
export type Piece = string | number | Html | false | null | undefined | readonly Piece[];

/**
 * A piece of a page. Every text in it is escaped, and its hidden characters are made visible (`⟦U+202E⟧`), so a text of an
 * author is shown and never interpreted. Attributes stand in double quotes.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return template(strings, ...values.map(visiblePiece));
}

/** A text that is escaped and otherwise stays as it is: for fields of a form, which are sent back. */
export function verbatim(text: string): Html {
  return template`${text}`;
}

// --- internal ---

function visiblePiece(value: Piece): unknown {
  if (typeof value === 'string') return showHidden(value);
  return Array.isArray(value) ? value.map(visiblePiece) : value;
}
