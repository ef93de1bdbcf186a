import { join } from 'node:path';
import type { Events, Log, UntrustedConfig } from '../contract.ts';
import { describeError, eventUndeclared, extensionNotDeclared, extensionNotRunning } from '../errors.ts';
import type { FoundExtension } from './discover.ts';
import { type ExtensionRecord, problemOf, provides } from './extension-record.ts';
import type { ExtensionContexts, KernelState } from './kernel-state.ts';
import type { Messages } from './messages.ts';
import { mergeConfig, type OwnerConfig, readOwnerConfig } from './settings.ts';

export function createExtensionContexts(kernel: KernelState): ExtensionContexts {
  const subscriptions = new Set<Subscription>();
  const controllers = new Map<string, AbortController>();
  const owners = new Map<string, OwnerConfig['values']>();
  return {
    contextOf(found) {
      const { manifest, dir } = found;
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
            for (const one of [...subscriptions].filter((one) => one.event === event))
              void handle(one, payload, messages);
          },
          subscribe(event, handler) {
            const subscription = { found, event, handler };
            subscriptions.add(subscription);
            return () => subscriptions.delete(subscription);
          },
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
      for (const one of subscriptions) if (one.found.manifest.id === id) subscriptions.delete(one);
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

interface Subscription {
  readonly found: FoundExtension;
  readonly event: string;
  readonly handler: Parameters<Events['subscribe']>[1];
}

async function handle({ found, event, handler }: Subscription, payload: unknown, { report }: Messages): Promise<void> {
  try {
    await handler(payload);
  } catch (error) {
    const what = `failed to handle the event "${event}": ${describeError(error)}`;
    report(problemOf(found, 'EVENT_HANDLER_FAILED', what));
  }
}

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
