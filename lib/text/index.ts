export { delimited } from './delimited.ts';
export {
  codeOf,
  hiddenCharacters,
  notation,
  oneLine,
  showEnd,
  showHidden,
} from './hidden-characters.ts';
export {
  findHiddenText,
  tagText,
  withNote,
  withoutHidden,
} from './hidden-text.ts';
export { codePoints, foldLine, hasInvisible, matchesOf, shorten } from './line.ts';
export { formatTable, printable } from './terminal-text.ts';
export { countTokens, loadTokenCounter } from './tokens.ts';
export { toWire, type Wire } from './wire.ts';
