/** The review page: what the command `review` needs. */
export { type ReviewOptions, type ReviewServing, serveReview } from './server.ts';
