import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AtEnd } from './temp-folder.ts';

/** A web server on this machine that serves a folder, as any does. */
export interface PageServer {
  /** Address of the folder, without a slash at its end. */
  readonly url: string;
  /** `<status> <path>` of every answer, oldest first. */
  readonly answers: string[];
  /** Answers instead of the folder, until it is undefined again; false: as usual. */
  answer: ((path: string, response: ServerResponse, request: IncomingMessage) => boolean) | undefined;
  /** Nothing listens on the address any more. */
  away(): Promise<void>;
  /** Listens on the same address again. */
  back(): Promise<void>;
}

export async function servePage(folder: string, atEnd: AtEnd = onTestFinished): Promise<PageServer> {
  const page: { -readonly [Key in keyof PageServer]: PageServer[Key] } = {
    url: '',
    answers: [],
    answer: undefined,
    async away() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async back() {
      server = await listen(Number(new URL(page.url).port));
    },
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    response.on('finish', () => {
      // Each page is asked for it, and most have none.
      const isNone = response.statusCode === 404 && path.endsWith('/policy.json');
      if (!isNone) page.answers.push(`${response.statusCode} ${path}`);
    });
    if (page.answer?.(path, response, request)) return;
    serveFile(join(folder, path), request, response);
  };
  const listen = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const next = createServer(onRequest);
      next.on('error', reject);
      next.listen(port, '127.0.0.1', () => resolve(next));
    });
  let server = await listen(0);
  page.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  atEnd(() => page.away());
  return page;
}

// --- internal ---

function serveFile(file: string, request: IncomingMessage, response: ServerResponse): void {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  const bytes = readFileSync(file);
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
  if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
  else response.writeHead(200, { etag }).end(bytes);
}
