import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { readMapping } from '../../../../../kernel/host.ts';
import type { Options } from '../../../../../lib/command-line/index.ts';
import { makePrivateFolder, readNamedFile } from '../../../../../lib/files/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { isRecord } from '../../../core/config/readers.ts';
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

/** `hub.four_eyes` of the config. A config that cannot be read must not end it. @throws CONFIG_INVALID. */
export function isFourEyes(data: string): boolean {
  const file = join(data, 'data', 'skill_registry', 'config.yaml');
  if (!existsSync(file)) return false;
  const read = readMapping(readNamedFile(file, MAX_CONFIG, { own: true }).toString('utf8'));
  if ('reason' in read && read.isEmpty) return false;
  const { hub = {} } = 'values' in read ? read.values : { hub: undefined };
  const { four_eyes: fourEyes = false, ...others } = isRecord(hub) ? hub : { four_eyes: null };
  if ('values' in read && typeof fourEyes === 'boolean' && Object.keys(others).length === 0) return fourEyes;
  const message = `${file} cannot be read, or has something else than \`hub: { four_eyes: true }\` or false under \`hub\`. Correct it; until then nothing is served.`;
  throw new CodedError('CONFIG_INVALID', message, { file });
}

// --- internal ---

const MAX_CONFIG = 1_048_576;
