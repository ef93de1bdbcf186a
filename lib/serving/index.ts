import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';

export interface ServeOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Name or address. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Time for a request to arrive, in seconds. Default: 30. */
  readonly requestSeconds?: number;
  /** When the server fails, for example without free file descriptors for new connections. */
  readonly onError: (error: Error) => void;
}

export interface Served {
  readonly server: Server;
  readonly port: number;
  /** Waits up to a second for running requests, then closes all. @param finish - Ends what keeps connections open. */
  close(finish: () => void | Promise<void>): Promise<void>;
}

/** @throws the error of `listen`, with its `code`. */
export async function serve({ fetch, host, port, requestSeconds = 30, onError }: ServeOptions): Promise<Served> {
  const ms = requestSeconds * 1000;
  const serverOptions = { requestTimeout: ms, headersTimeout: ms, connectionsCheckingInterval: 1000 };
  const server = createAdaptorServer({ fetch, serverOptions }) as Server;
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', onError);
  let closing: Promise<void> | undefined;
  const close = async (finish: () => void | Promise<void>): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await finish();
    server.closeIdleConnections();
    await atMost(GRACE_MS, closed);
    server.closeAllConnections();
    await closed;
  };
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close(finish) {
      closing ??= close(finish);
      return closing;
    },
  };
}

export const GRACE_MS: number = 1_000;

/** The timer does not keep the process running. */
export async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, new Promise((resolve) => setTimeout(resolve, milliseconds).unref())]);
}
