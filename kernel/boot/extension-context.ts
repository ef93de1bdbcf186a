import { join } from 'node:path';
import type { ExtensionContext, KernelApi, Log, UntrustedConfig } from '../contract.ts';
import { describeError, eventUndeclared, extensionNotDeclared, extensionNotRunning } from '../errors.ts';
import { createEventBus } from '../offers/offers.ts';
import type { FoundExtension } from './discover.ts';
import { type ExtensionRecord, problemOf, provides } from './extension-record.ts';
import type { Messages } from './messages.ts';
import { mergeConfig, type OwnerConfig, readOwnerConfig } from './settings.ts';
import type { Root } from './untrusted-root.ts';

export interface SharedContext {
  readonly root: Root;
  /** By extension id. Overrides every other config. */
  readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly records: ReadonlyMap<string, ExtensionRecord>;
  readonly messages: Messages;
  readonly kernel: KernelApi;
  getSecret(name: string): string | undefined;
  requestRestart(): void;
}

export interface ExtensionContexts {
  contextOf(found: FoundExtension): ExtensionContext;
  /** Call it when an extension has stopped or failed: ends its subscriptions and aborts its signal. */
  release(id: string): void;
}

export function createExtensionContexts(shared: SharedContext): ExtensionContexts {
  const { root, records, messages } = shared;
  const bus = createEventBus((owner, event, error) => {
    const record = records.get(owner);
    const what = `failed to handle the event "${event}": ${describeError(error)}`;
    if (record) messages.report(problemOf(record.found, 'EVENT_HANDLER_FAILED', what));
  });
  const controllers = new Map<string, AbortController>();
  const owners = new Map<string, OwnerConfig['values']>();
  return {
    contextOf({ manifest, dir }) {
      const { id } = manifest;
      const config = configOf(manifest, shared, owners);
      const controller = new AbortController();
      controllers.set(id, controller);
      const write = (level: keyof Log) => (message: string) => messages.log({ level, extensionId: id, message });
      return {
        id,
        config,
        rootDir: root.dir,
        trusted: root.trusted,
        extensionDir: dir,
        dataDir: join(root.dir, 'data', id),
        log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
        events: {
          emit(event, payload) {
            if (manifest.events && !manifest.events.emits.includes(event)) throw eventUndeclared(id, event);
            bus.emit(event, payload);
          },
          subscribe: (event, handler) => bus.subscribe(id, event, handler),
        },
        notifyUser: messages.notifyUser,
        getExtension<T>(other: string): T {
          if (!manifest.depends_on.includes(other)) throw extensionNotDeclared(id, other);
          return runningInstance<T>(records, other);
        },
        getSecret: shared.getSecret,
        signal: controller.signal,
        requestRestart: shared.requestRestart,
        kernel: shared.kernel,
      };
    },
    release(id) {
      bus.unsubscribeAll(id);
      controllers.get(id)?.abort();
    },
  };
}

/** @throws EXTENSION_NOT_RUNNING. */
export function runningInstance<T>(records: ReadonlyMap<string, ExtensionRecord>, id: string): T {
  const record = records.get(id);
  const isRunning = record?.state === 'RUNNING';
  if (!isRunning || record.instance === undefined) throw extensionNotRunning(id, isRunning);
  return record.instance as T;
}

// --- internal ---

function configOf(
  manifest: FoundExtension['manifest'],
  { root, config, records, messages }: SharedContext,
  owners: Map<string, OwnerConfig['values']>,
): Readonly<Record<string, unknown>> {
  const { id } = manifest;
  const owner = readOwnerConfig(root.dir, id, owners.get(id));
  if (owner.problems.length === 0) owners.set(id, owner.values);
  owner.problems.forEach(messages.report);
  const instance = records.get(id)?.instance;
  // In a root that is not approved, the extension says which settings may take effect.
  const untrusted = provides<UntrustedConfig>(instance, 'configOfUntrustedRoot')
    ? instance.configOfUntrustedRoot(owner.values, root.dir).values
    : {};
  return mergeConfig(manifest.config, root.trusted ? owner.values : untrusted, config[id] ?? {});
}
