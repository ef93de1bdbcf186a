import { CodedError, describeError } from 'skill-registry/kernel';
import { createSecrets } from '../../../../../kernel/host.ts';
import { EXIT, type ExitStatus, invalidArgument } from '../../../../../lib/command-line/index.ts';
import { makePrivateFolder } from '../../../../../lib/files/index.ts';
import { isLoopback } from '../../../../../lib/loopback/index.ts';
import type { HubRequest } from '../../../../skill_hub/api.ts';
import type { CommandTerminal as Terminal } from '../../../core/command-line.ts';
import type { TeamPages } from '../../../core/review.ts';
import { entranceOf, readHubConfig, unknownOf } from '../config.ts';
import { asCoded, createService } from '../serve/service.ts';
import { type HubOptions, openStoreToServe, rootOf } from './open-store.ts';

interface ServeOptions extends HubOptions {
  readonly host: string;
  readonly port: number;
}

/** Runs until a signal, and ends within ten seconds of it. */
export async function serve(options: ServeOptions, terminal: Terminal): Promise<ExitStatus> {
  const { host, port } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw invalidArgument('--port takes 0 to 65535.');
  const stop = nextSignal();
  const root = rootOf(options, terminal);
  makePrivateFolder(root);
  const config = readHubConfig(root);
  const entrance = entranceOf(config, createSecrets(root, terminal.environment));
  const { serveHub } = await import('../../../../skill_hub/index.ts');
  const store = await openStoreToServe(options, terminal);
  const service = createService({ store, fourEyes: config.four_eyes, root, unknown: unknownOf(config) });
  const log = (event: string, fields: object): void =>
    terminal.say(JSON.stringify({ time: new Date().toISOString(), event, ...fields }));
  const onError = (error: Error): void => log('error', { message: describeError(error) });
  // What only reads is counted, and printed when it was refused: polls alone would fill a disk, and every machine asks
  // each minute for a policy that may not be there.
  const onRequest = (request: HubRequest): void => {
    const { method, status } = request;
    if (method !== 'GET' || (status >= 400 && status !== 404)) log('request', request);
  };
  const pages = new Map<string, Promise<TeamPages>>();
  const pagesOf = (space: string): Promise<TeamPages> => {
    const opened =
      pages.get(space) ??
      service
        .registryOf(space)
        .then((registry) => terminal.openTeamPages({ registry, name: `the space ${space}`, onError }));
    pages.set(space, opened);
    opened.catch(() => pages.delete(space));
    return opened;
  };
  try {
    const serving = await serveHub({ service, entrance, pagesOf, host, port, asCoded, onError, onRequest }).catch(
      (error: unknown) => {
        const message = `Cannot listen on ${host}, port ${port}: ${describeError(error)}. Give another port; 0 takes a free one.`;
        throw new CodedError('HUB_LISTEN_FAILED', message, { host, port }, error);
      },
    );
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${serving.port}`;
    terminal.print({ url, four_eyes: config.four_eyes }, () => url);
    log('start', { url, four_eyes: config.four_eyes });
    if (!isLoopback(new URL(url).hostname))
      log('notice', {
        message:
          'Other machines can reach this address, and HTTP is not encrypted: let only a proxy with TLS reach it.',
      });
    if ((await store.tokens()).length === 0)
      log('notice', {
        message:
          'Nobody has a token yet: skill-registry hub token add --space team --role admin --person NAME, with the same --data or --store',
      });
    log('stop', { signal: await stop });
    await serving.close();
  } finally {
    for (const opened of pages.values()) (await opened.catch(() => undefined))?.close();
    await service.close();
  }
  return EXIT.done;
}

// --- internal ---

/** Less than ten seconds, after which a supervisor ends it by force. */
const MOST_MS = 8_000;

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => {
        setTimeout(() => process.exit(EXIT.problem), MOST_MS).unref();
        resolve(signal);
      });
  });
}
