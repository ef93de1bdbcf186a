export { type HubServing, type ServeHubOptions, serveHub } from './server.ts';
