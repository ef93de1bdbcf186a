export { applyDiff } from './apply-diff.ts';
export { adoptLineEndings } from './line-text.ts';
export { mergeTexts } from './merge-text.ts';
export { unifiedDiff } from './unified-diff.ts';
