import { join } from 'node:path';
import type { Log, UntrustedConfig } from '../contract.ts';
import { describeError, eventUndeclared, extensionNotDeclared, extensionNotRunning } from '../errors.ts';
import { createEventBus } from '../offers/offers.ts';
import type { FoundExtension } from './discover.ts';
import { type ExtensionRecord, problemOf, provides } from './extension-record.ts';
import type { ExtensionContexts, KernelState } from './kernel-state.ts';
import { mergeConfig, type OwnerConfig, readOwnerConfig } from './settings.ts';

export function createExtensionContexts(kernel: KernelState): ExtensionContexts {
  const bus = createEventBus((owner, event, error) => {
    const record = kernel.records.get(owner);
    const what = `failed to handle the event "${event}": ${describeError(error)}`;
    if (record) kernel.messages.report(problemOf(record.found, 'EVENT_HANDLER_FAILED', what));
  });
  const controllers = new Map<string, AbortController>();
  const owners = new Map<string, OwnerConfig['values']>();
  return {
    contextOf({ manifest, dir }) {
      const { id } = manifest;
      const { root, messages, getSecret, requestRestart } = kernel;
      const config = configOf(manifest, kernel, owners);
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
          return runningInstance<T>(kernel.records, other);
        },
        getSecret,
        signal: controller.signal,
        requestRestart,
        kernel: kernel.api,
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
  { root, options, records, messages }: KernelState,
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
  return mergeConfig(manifest.config, root.trusted ? owner.values : untrusted, options.config?.[id] ?? {});
}
