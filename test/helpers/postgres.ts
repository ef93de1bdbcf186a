import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { migrate } from '../../extensions/skill_registry/features/hub/store/postgres-tables.ts';
import { openPostgres, type Sql } from '../../lib/postgres/index.ts';
import { waitFor } from './wait-for.ts';

export interface Cluster {
  /** Where `psql`, `pg_dump` and others are. */
  readonly binaries: string;
  /** @param database - Default: `postgres`. */
  addressOf(role: 'owner' | 'hub', database?: string): string;
  /** @param how - `QUIT`: at once, without a last word to anybody. Default: `INT`. */
  stop(how?: 'INT' | 'QUIT'): Promise<void>;
  start(): Promise<void>;
}

export interface HubDatabase {
  readonly name: string;
  /** With a password, as that of the hubs. */
  readonly address: string;
  /** As the owner, who may do everything. */
  readonly owner: string;
}

/** Tests of the block are skipped without PostgreSQL, or fail where SKILL_POSTGRES is `required`. */
export function usePostgres(): void {
  beforeEach(({ skip }) => {
    const isMissing = findBinaries() === undefined;
    if (isMissing && process.env.SKILL_POSTGRES === 'required') throw new Error(NO_POSTGRES);
    skip(isMissing, NO_POSTGRES);
  });
}

let shared: Promise<Cluster> | undefined;

/** One for all tests of this process; it ends with the process, however that ends. */
export function postgresCluster(): Promise<Cluster> {
  shared ??= startCluster();
  return shared;
}

/** A database of its own, with the tables of a hub. */
export async function hubDatabase(cluster?: Cluster): Promise<HubDatabase> {
  const { addressOf } = cluster ?? (await postgresCluster());
  const name = `hub_${randomBytes(6).toString('hex')}`;
  await asOwner(addressOf('owner'), (sql) => sql.unsafe(`CREATE DATABASE ${name}`));
  await migrate(addressOf('owner', name), 'hub');
  return { name, address: addressOf('hub', name), owner: addressOf('owner', name) };
}

/** One connection, for what a hub does not do. */
export async function asOwner<T>(address: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = await openPostgres(address, { max: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

/** With fsync, as a server has it. A server refuses to run as root: there it is another user's. */
export async function startCluster(): Promise<Cluster> {
  const binaries = findBinaries() ?? '';
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-postgres-')));
  const other = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (other.uid !== undefined) chownSync(folder, NOBODY, NOBODY);
  const password = randomBytes(12).toString('hex');
  const [data, passwordFile] = [join(folder, 'data'), join(folder, 'password')];
  writeFileSync(passwordFile, password, { mode: 0o644 });
  const made = ['--no-sync', '-U', 'owner', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8', '-D', data];
  execFileSync(join(binaries, 'initdb'), made, { cwd: folder, stdio: 'ignore', ...other });
  const port = await freePort();
  let running: ChildProcess;
  const addressOf: Cluster['addressOf'] = (role, database = 'postgres') =>
    `postgres://${role}:${password}@127.0.0.1:${port}/${database}`;
  const start = async (): Promise<void> => {
    const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'max_connections=200'];
    const options = settings.flatMap((setting) => ['-c', setting]);
    const command = [join(binaries, 'postgres'), '-D', data, '-p', String(port), ...options];
    // The shell sees the end of this process, also of one that was killed, and takes everything away.
    const script = `"$@" >server.log 2>&1 & read line
      [ -n "$line" ] && { kill -$line $!; wait; exit; }
      kill -QUIT $!; wait; rm -rf data *.log`;
    running = spawn('sh', ['-c', script, 'sh', ...command], {
      ...{ cwd: folder, detached: true, stdio: ['pipe', 'ignore', 'ignore'], ...other },
    });
    running.unref();
    // biome-ignore lint/suspicious/noExplicitAny: a pipe has it.
    (running.stdin as any).unref();
    await waitFor('PostgreSQL', () => asOwner(addressOf('owner'), (sql) => sql`SELECT 1`).catch(() => undefined));
  };
  await start();
  process.once('exit', () => {
    running.stdin?.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
  await asOwner(addressOf('owner'), (sql) => sql.unsafe(`CREATE ROLE hub LOGIN PASSWORD '${password}'`));
  return {
    binaries,
    addressOf,
    start,
    async stop(how = 'INT') {
      const ended = once(running, 'exit');
      running.stdin?.end(`${how}\n`);
      await ended;
    },
  };
}

// --- internal ---

const NO_POSTGRES = 'PostgreSQL is not installed here: apt-get install postgresql';
const NOBODY = 65_534;

function findBinaries(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(root, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) => existsSync(join(folder, 'initdb')));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
