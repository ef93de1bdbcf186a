export { dayChart, rowBar } from './charts.ts';
export { differenceView, type Remark } from './difference.ts';
export { parseDifference, type ShownDifference } from './parse-difference.ts';
export { type Cell, cards, factList, levelTag, note, selection, table, tag } from './parts.ts';
