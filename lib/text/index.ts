export { hasColour, inColour } from './colours.ts';
export { delimited } from './delimited.ts';
export { forTerminal, type TerminalWindow } from './for-terminal.ts';
export {
  codePointText,
  hiddenCharacters,
  nameShownAs,
  notation,
  oneLine,
  showHidden,
  showName,
  showTrailingBlank,
} from './hidden-characters.ts';
export { findKeys, withoutKeys } from './keys.ts';
export {
  codePoints,
  decodedAddress,
  foldLine,
  formatNumber,
  type Level,
  levelWord,
  listed,
  matchesOf,
  needsFolding,
  plural,
  shorten,
} from './line.ts';
export { didYouMean, nearestIds } from './nearest.ts';
export { countedWords, estimateTokens, formatTable, printable, shellWord, wrapWords } from './terminal-text.ts';
export { countTokens, countTokensInSlices, loadTokenCounter } from './tokens.ts';
export { toWire, toWireDeep, type Wire } from './wire.ts';
export { findHiddenText, tagText, withNote, withoutHidden } from './without-hidden.ts';
