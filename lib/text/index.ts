export { hasColour, inColour } from './colours.ts';
export { delimited } from './delimited.ts';
export { forTerminal, type Window } from './for-terminal.ts';
export {
  codeOf,
  hiddenCharacters,
  nameShownAs,
  notation,
  oneLine,
  showEnd,
  showHidden,
  showName,
} from './hidden-characters.ts';
export {
  findHiddenText,
  tagText,
  withNote,
  withoutHidden,
} from './hidden-text.ts';
export { codePoints, foldLine, matchesOf, needsFolding, shorten } from './line.ts';
export { didYouMean, nearestIds } from './nearest.ts';
export { aboutTokens, countedWords, foldWords, formatTable, printable } from './terminal-text.ts';
export { countTokens, countTokensInSlices, loadTokenCounter } from './tokens.ts';
export { toWire, toWireDeep, type Wire } from './wire.ts';
