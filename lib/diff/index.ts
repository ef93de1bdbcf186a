export {
  adoptLineEndings,
  endOf,
  joinLines,
  LINE_ENDS,
  type LineEnd,
  splitLines,
  usualEnd,
  withoutLineEnd,
} from './lines.ts';
export { mergeTexts } from './merge-texts.ts';
export { type Comparison, LineSearch, MAX_FOUND } from './search-lines.ts';
export { unifiedDiff } from './write-diff.ts';
