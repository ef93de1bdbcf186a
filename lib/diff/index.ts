export { applyDiff } from './apply-diff.ts';
export { adoptLineEndings } from './lines.ts';
export { mergeTexts } from './merge-texts.ts';
export { unifiedDiff } from './write-diff.ts';
