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
export { codePoints, foldLine, hasInvisible, shorten } from './line.ts';
export { matchesOf } from './matches.ts';
export { formatTable, printable } from './text-table.ts';
export { countTokens, loadTokenCounter } from './tokens.ts';
