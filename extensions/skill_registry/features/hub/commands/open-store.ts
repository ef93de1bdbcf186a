import { join, resolve } from 'node:path';
import { invalidArgument, type Options } from '../../../../../lib/command-line/index.ts';
import { makePrivateFolder } from '../../../../../lib/files/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import type { HubStore } from '../store/hub-store.ts';
import { PostgresStore } from '../store/postgres.ts';
import { SqliteStore } from '../store/sqlite.ts';

export interface HubOptions extends Options {
  readonly data?: string;
  /** Of PostgreSQL; see `addressOf`. Default: SQLite in `data`. */
  readonly store?: string;
}

/** Absolute; the folder is made. */
export function dataFile(data: string): string {
  const folder = join(data, 'data', 'hub');
  makePrivateFolder(data);
  makePrivateFolder(join(data, 'data'));
  makePrivateFolder(folder);
  return join(folder, 'hub.db');
}

/** @throws INVALID_ARGUMENT without `--data`. */
export function rootOf({ data }: HubOptions, { cwd }: CommandTerminal): string {
  if (data !== undefined) return resolve(cwd, data);
  throw invalidArgument('Say where the folder of the hub is: --data DIR.');
}

/**
 * As given, or from the environment: `--store '${NAME}'`. Everybody on the machine can see a password in an argument.
 * @throws INVALID_ARGUMENT.
 */
export function addressOf(given: string, { environment }: CommandTerminal): string {
  const [, name] = /^\$\{(\w+)\}$/.exec(given) ?? [];
  const address = name === undefined ? given : environment[name];
  if (!address || !/^postgres(?:ql)?:\/\//.test(address))
    throw invalidArgument(`--store takes postgres://USER@HOST:PORT/DATABASE, or '\${NAME}' of a variable that has it.`);
  if (name !== undefined || !/^[^?]*\/\/[^?@]*:[^?@]*@|[?&]pass/.test(address)) return address;
  throw invalidArgument(
    `A password in the address is seen in the list of processes. Set PGPASSWORD, or take --store '\${NAME}' of a variable.`,
  );
}

/** Closed when the command ends. @throws STORE_UNAVAILABLE, HUB_SCHEMA. */
export async function openStore(options: HubOptions, terminal: CommandTerminal): Promise<HubStore> {
  const store = await openEngine(options, terminal);
  terminal.atEnd(() => store.close());
  return store;
}

/** For `serve`. @throws also HUB_ROLE. */
export async function openStoreToServe(options: HubOptions, terminal: CommandTerminal): Promise<HubStore> {
  const store = await openEngine(options, terminal);
  if (!('assertOnlyAdds' in store)) return store;
  try {
    await store.assertOnlyAdds();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

// --- internal ---

async function openEngine(options: HubOptions, terminal: CommandTerminal): Promise<SqliteStore | PostgresStore> {
  if (options.store === undefined) return new SqliteStore(dataFile(rootOf(options, terminal)));
  return PostgresStore.open(addressOf(options.store, terminal));
}
