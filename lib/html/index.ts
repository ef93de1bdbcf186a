export { address, formatNumber, formatTime, type Html, html, type Piece, plural, verbatim } from './html.ts';
export { MAX_RENDERED, markdownToHtml, safeAddress } from './markdown.ts';
