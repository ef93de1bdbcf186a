export { openTeamPages, type ReviewServerOptions, type ReviewServing, serveReview } from './server.ts';
