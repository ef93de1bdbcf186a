/** The review page: what the command `review` needs. */
export { type ReviewServerOptions, type ReviewServing, serveReview } from './server.ts';
