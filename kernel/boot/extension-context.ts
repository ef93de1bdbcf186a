import { join } from 'node:path';
import type { ExtensionContext, KernelApi, Log } from '../contract.ts';
import { describeError, eventUndeclared, extensionNotDeclared, extensionNotRunning } from '../errors.ts';
import { createEventBus } from '../offers/offers.ts';
import type { FoundExtension } from './discover.ts';
import { type ExtensionRecord, problemOf, readsUntrustedConfig } from './extension-record.ts';
import type { Messages } from './messages.ts';
import { mergeConfig, type OwnerConfig, readOwnerConfig } from './settings.ts';
import type { Root } from './untrusted-root.ts';

/** What all contexts share. */
export interface ContextSurroundings {
  readonly root: Root;
  /** By extension id; laid over everything else. */
  readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly records: ReadonlyMap<string, ExtensionRecord>;
  readonly messages: Messages;
  readonly kernel: KernelApi;
  getSecret(name: string): string | undefined;
  requestRestart(): void;
}

export interface ExtensionContexts {
  /** What one extension is handed by `initialize`. */
  contextOf(found: FoundExtension): ExtensionContext;
  /** Ends the subscriptions of an extension that has stopped or failed, and aborts its signal. */
  release(id: string): void;
}

export function createExtensionContexts(surroundings: ContextSurroundings): ExtensionContexts {
  const { root, records, messages } = surroundings;
  const bus = createEventBus((owner, event, error) => {
    const record = records.get(owner);
    const what = `failed to handle the event "${event}": ${describeError(error)}`;
    if (record) messages.report(problemOf(record.found, 'EVENT_HANDLER_FAILED', what));
  });
  const lives = new Map<string, AbortController>();
  /** What the owner's config files said when they were sound last, by extension. */
  const owners = new Map<string, OwnerConfig['values']>();
  return {
    contextOf({ manifest, dir }) {
      const { id } = manifest;
      const config = configOf(manifest, surroundings, owners);
      const life = new AbortController();
      lives.set(id, life);
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
          const record = records.get(other);
          if (record?.state !== 'RUNNING' || record.instance === undefined) throw extensionNotRunning(other);
          return record.instance as T;
        },
        getSecret: surroundings.getSecret,
        signal: life.signal,
        requestRestart: surroundings.requestRestart,
        kernel: surroundings.kernel,
      };
    },
    release(id) {
      bus.unsubscribeAll(id);
      lives.get(id)?.abort();
    },
  };
}

// --- internal ---

/** The manifest's config, overlaid by the owner's file and by what `boot` was given. */
function configOf(
  manifest: FoundExtension['manifest'],
  { root, config, records, messages }: ContextSurroundings,
  owners: Map<string, OwnerConfig['values']>,
): Readonly<Record<string, unknown>> {
  const { id } = manifest;
  const owner = readOwnerConfig(root.dir, id, owners.get(id));
  if (owner.problems.length === 0) owners.set(id, owner.values);
  owner.problems.forEach(messages.report);
  const values = root.trusted ? owner.values : untrustedValues(records.get(id)?.instance, owner.values, root.dir);
  return mergeConfig(manifest.config, values, config[id] ?? {});
}

/** What an extension takes of a config.yaml that nobody approved. */
function untrustedValues(instance: unknown, values: OwnerConfig['values'], rootDir: string): OwnerConfig['values'] {
  return readsUntrustedConfig(instance) ? instance.configOfUntrustedRoot(values, rootDir).values : {};
}
