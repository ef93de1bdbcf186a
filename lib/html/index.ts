export { address, formatNumber, formatTime, plural } from './formats.ts';
export { type Html, html, type Piece, verbatim } from './html.ts';
export { MAX_RENDERED, markdownToHtml, safeAddress } from './markdown.ts';
