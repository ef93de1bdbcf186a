import { html as template } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { formatNumber, plural, showHidden } from '../text/index.ts';

export { formatNumber, plural };

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** Texts are escaped. */
export type Piece = string | number | Html | false | null | undefined | readonly Piece[];

/**
 * Escapes every text and makes its hidden characters visible (`⟦U+202E⟧`), so that no text of an author is
 * interpreted. Write attributes in double quotes.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return template(strings, ...values.map(visiblePiece));
}

/** Only escapes the text: for form fields, which send it back unchanged. */
export function verbatim(text: string): Html {
  return template`${text}`;
}

/** UTC, to the minute. @param iso - ISO 8601. */
export function formatTime(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
}

/** Each part is one segment: `/skills/tea/history`. */
export function address(...parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

// --- internal ---

function visiblePiece(value: Piece): unknown {
  if (typeof value === 'string') return showHidden(value);
  return Array.isArray(value) ? value.map(visiblePiece) : value;
}
