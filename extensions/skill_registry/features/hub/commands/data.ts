import { join, resolve } from 'node:path';
import type { Options } from '../../../../../lib/command-line/index.ts';
import { makePrivateFolder } from '../../../../../lib/files/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import type { HubStore } from '../store/hub-store.ts';
import { SqliteStore } from '../store/sqlite.ts';

export interface HubOptions extends Options {
  readonly data: string;
}

/** Absolute; the folder is made. */
export function dataFile(data: string): string {
  const folder = join(data, 'data', 'hub');
  makePrivateFolder(data);
  makePrivateFolder(join(data, 'data'));
  makePrivateFolder(folder);
  return join(folder, 'hub.db');
}

/** It is closed when the command ends. */
export function openStore({ data }: HubOptions, terminal: CommandTerminal): HubStore {
  const store = new SqliteStore(dataFile(resolve(terminal.cwd, data)));
  terminal.atEnd(() => store.close());
  return store;
}
