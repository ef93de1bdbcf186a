import { type Html, html } from './html.ts';

/** UTC, to the minute. @param iso - ISO 8601. */
export function formatTime(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
}

export function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}

export function plural(value: number, word: string): string {
  return `${formatNumber(value)} ${word}${value === 1 ? '' : 's'}`;
}

/** Each part is one segment: `/skills/tea/history`. */
export function address(...parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}
