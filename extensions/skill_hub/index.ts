export { serveHub } from './server.ts';
