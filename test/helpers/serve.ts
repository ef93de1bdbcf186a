import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** An HTTP server on loopback, until the test has finished. @returns its address, without a slash at its end. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves files by their paths; `undefined` is 404. */
export async function serveFiles(fileAt: (path: string) => string | Uint8Array | undefined): Promise<string> {
  return serve((request, response) => {
    const content = fileAt(decodeURIComponent(request.url ?? ''));
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
}

/** Git's smart protocol over HTTP, for the repositories below a folder. */
export async function serveGit(folder: string): Promise<string> {
  return serve((request, response) => cgi(folder, request, response));
}

// --- internal ---

function cgi(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '', 'http://x');
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
    },
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk) => chunks.push(chunk));
  backend.on('close', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const headers = new Map(
      answer
        .toString('latin1', 0, end)
        .split('\r\n')
        .map((line) => line.split(': ', 2) as [string, string]),
    );
    const status = Number(headers.get('Status')?.slice(0, 3) ?? 200);
    headers.delete('Status');
    response.writeHead(status, Object.fromEntries(headers)).end(answer.subarray(end + 4));
  });
}
