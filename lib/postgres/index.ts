import type { Options, PostgresType, Sql, TransactionSql } from 'postgres';
import { CodedError, invalidArgument, withFallback } from '../errors/index.ts';

export type { Sql, TransactionSql } from 'postgres';

/**
 * Connects when it is first asked. An address without a password takes that of PGPASSWORD.
 * @param address - `postgres://user@host:port/database`; no message has it.
 * @throws STORE_UNAVAILABLE where the driver is not installed; INVALID_ARGUMENT for what is no such address.
 */
export async function openPostgres(address: string, options: Options<Record<string, PostgresType>>): Promise<Sql> {
  const { default: postgres } = await import('postgres').catch((cause: unknown) => {
    const message =
      'The driver for PostgreSQL is not installed. Where skill-registry is installed: npm install postgres@3.4.9';
    throw new CodedError('STORE_UNAVAILABLE', message, {}, cause);
  });
  // What the driver says of a wrong address has the address, and that may have a password.
  const opened = withFallback(() => postgres(address, { onnotice: () => undefined, ...options }));
  if (opened) return opened;
  throw invalidArgument('The address of the database is none: postgres://USER@HOST:PORT/DATABASE.');
}

/** As `begin` of the driver, which would roll back a lost connection, too: 3.4.9 ends the whole process with that. */
export async function inTransaction<T>(sql: Sql, work: (sql: TransactionSql) => Promise<T>): Promise<T> {
  const result = await sql.begin(async (own) => ({
    of: await work(own).catch((error: unknown) => {
      // `begin` itself is rejected when the connection is closed.
      if (LOST.test(String(Object(error).code))) return new Promise<never>(() => undefined);
      throw error;
    }),
  }));
  return result.of;
}

export type PostgresFailure =
  /** It may answer later. */
  | 'away'
  /** Who connects or asks may not. */
  | 'refused'
  /** A text has what the database does not keep. */
  | 'text'
  /** A table is not there. */
  | 'none'
  | 'other';

/** Undefined for other errors. */
export function postgresFailure(error: unknown): PostgresFailure | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const code = String(error.code);
  if (LOST.test(code)) return 'away';
  if (error.name !== 'PostgresError') return undefined;
  return CLASSES.find(([codes]) => codes.test(code))?.[1] ?? 'other';
}

// --- internal ---

const LOST = /^(?:CONNECT_|CONNECTION_|ECONN|ENOTFOUND$|EAI_|ETIMEDOUT$|EPIPE$|EHOST|ENET)/;

/** postgresql.org/docs/current/errcodes-appendix.html */
const CLASSES = [
  // 25006: a server that only reads, as a copy does.
  [/^(?:08|25P0|25006|40|53|55|57)/, 'away'],
  [/^(?:28|42501|3D)/, 'refused'],
  [/^22(?:021|P05)/, 'text'],
  [/^(?:42P01|3F)/, 'none'],
] as const;
