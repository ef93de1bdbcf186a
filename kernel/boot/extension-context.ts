import { join } from 'node:path';
import type { ExtensionContext, KernelApi, Log } from '../contract.ts';
import { eventUndeclared, extensionNotDeclared, extensionNotRunning } from '../errors.ts';
import type { EventBus } from '../offers/event-bus.ts';
import type { Manifest } from './manifest.ts';

/** One line an extension logged. */
export interface LogEntry {
  readonly level: keyof Log;
  readonly extensionId: string;
  readonly message: string;
}

/** What the kernel shares with all contexts. */
export interface ContextServices {
  readonly rootDir: string;
  readonly trusted: boolean;
  readonly bus: EventBus;
  readonly kernel: KernelApi;
  log(entry: LogEntry): void;
  notifyUser(text: string): void;
  getSecret(name: string): string | undefined;
  /** Aborts when the extension has stopped or failed. */
  lifeOf(id: string): AbortSignal;
  requestRestart(): void;
  /** The object of a running extension. */
  instance(id: string): unknown;
}

/** What one extension is handed by `initialize`. */
export function createExtensionContext(
  manifest: Manifest,
  dir: string,
  config: Readonly<Record<string, unknown>>,
  services: ContextServices,
): ExtensionContext {
  const { id } = manifest;
  const write = (level: keyof Log) => (message: string) => services.log({ level, extensionId: id, message });
  return {
    id,
    config,
    rootDir: services.rootDir,
    trusted: services.trusted,
    extensionDir: dir,
    dataDir: join(services.rootDir, 'data', id),
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    events: {
      emit(event, payload) {
        if (manifest.events && !manifest.events.emits.includes(event)) throw eventUndeclared(id, event);
        services.bus.emit(event, payload);
      },
      subscribe: (event, handler) => services.bus.subscribe(id, event, handler),
    },
    notifyUser: services.notifyUser,
    getExtension<T>(other: string): T {
      if (!manifest.depends_on.includes(other)) throw extensionNotDeclared(id, other);
      const instance = services.instance(other);
      if (instance === undefined) throw extensionNotRunning(other);
      return instance as T;
    },
    getSecret: services.getSecret,
    signal: services.lifeOf(id),
    requestRestart: services.requestRestart,
    kernel: services.kernel,
  };
}
