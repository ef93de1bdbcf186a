export {
  codeOf,
  escapeHidden,
  hiddenCharacters,
  notation,
  oneLine,
  readEscaped,
  showEnd,
  showHidden,
} from './hidden-characters.ts';
export { codePoints, foldLine, hasInvisible, matchesOf, shorten } from './line.ts';
export { formatTable, printable } from './terminal-text.ts';
export { countTokens, loadTokenCounter } from './tokens.ts';
export { toWire, type Wire } from './wire.ts';
