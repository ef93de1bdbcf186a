export { invalidArgument, orRefusal, pageNotFound, shownChanged } from './errors.ts';
export { decideForm, hiddenField, reasonField, refusal } from './fields.ts';
export type { Answer, Page } from './page.ts';
