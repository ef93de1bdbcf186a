import { CodedError, describeError } from 'skill-registry/kernel';
import { openPostgres, postgresFailure, type Sql } from '../../../../../lib/postgres/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { migrationFrom, RIGHTS, VERSION } from './postgres-schema.ts';

/** @throws STORE_UNAVAILABLE; HUB_SCHEMA for the tables of another release, or none. */
export async function openTables(address: string): Promise<Sql> {
  const sql = await connect(address);
  try {
    const found = await versionIn(sql);
    if (found === VERSION) return sql;
    const remedy = found > VERSION ? 'Use the release that made them.' : 'Run hub migrate, as their owner.';
    const message = `The database has version ${found} of the tables of a hub, and this release needs ${VERSION}.`;
    throw new CodedError('HUB_SCHEMA', `${message} ${remedy}`);
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
}

/** Whoever has taken over a hub must not be able to rewrite its audit. @throws HUB_ROLE. */
export async function assertOnlyAdds(sql: Sql): Promise<void> {
  type Rights = { readonly name: string } & Readonly<Record<'above' | 'owner' | 'changes', boolean>>;
  const rows = await coded(sql.unsafe<Rights[]>(RIGHTS));
  const found = rows.find(({ above, owner, changes }) => above || owner || changes);
  if (!found) return;
  const { name, above, owner } = found;
  const may = above ? 'may do everything' : owner ? 'owns the tables or the database' : 'may change rows of the audit';
  const message = `A hub does not run as a role that is, or can become, "${name}", which ${may}: its audit could be rewritten. Make a role for hubs (CREATE ROLE hub LOGIN, and a password), give it what it needs with hub migrate --role hub, as the owner, and name it in the address.`;
  throw new CodedError('HUB_ROLE', message, { role: name });
}

/** @param role - Of the hubs: it must be there. @returns what was done. @throws HUB_SCHEMA, INVALID_ARGUMENT. */
export async function migrate(address: string, role: string | undefined): Promise<string> {
  if (role !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(role))
    throw invalidArgument('The name of a role has lower-case letters, digits and underscores, at most 63.');
  const sql = await connect(address);
  try {
    const from = await versionIn(sql);
    if (from > VERSION) throw new CodedError('HUB_SCHEMA', `The tables are those of a later release (${from}).`);
    const [schema] = await coded(sql<{ own: boolean }[]>`SELECT pg_has_role(nspowner, 'USAGE') AS own FROM pg_namespace
      WHERE nspname = 'skill_hub'`);
    // A GRANT of another role does nothing, and is no error.
    if (schema?.own === false)
      throw invalidArgument('hub migrate needs the role that owns the tables: name it in --store.');
    const text = migrationFrom(from, role);
    if (text !== '') await coded(sql.begin((all) => all.unsafe(text)));
    return text;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** @throws STORE_UNAVAILABLE for what the database refuses. */
export function coded<T>(work: PromiseLike<T>): PromiseLike<T> {
  return work.then(undefined, (error: unknown) => {
    if (postgresFailure(error) === undefined) throw error;
    const message = `The database of the hub cannot be used: ${describeError(error)}.`;
    throw new CodedError('STORE_UNAVAILABLE', message, {}, error);
  });
}

// --- internal ---

function connect(address: string): Promise<Sql> {
  return openPostgres(address, {
    fetch_types: false,
    connect_timeout: 5,
    // By default up to 20 seconds, while a request waits.
    backoff: () => 0.3,
    connection: {
      application_name: 'skill-registry',
      search_path: 'skill_hub',
      statement_timeout: 30_000,
      lock_timeout: 15_000,
      // A hub that was stopped in the middle must not keep the others waiting.
      idle_in_transaction_session_timeout: 5000,
    },
  });
}

async function versionIn(sql: Sql): Promise<number> {
  const [there] = await coded(sql<{ found: boolean }[]>`SELECT to_regclass('skill_hub.hub') IS NOT NULL AS found`);
  if (!there?.found) return 0;
  const [row] = await coded(sql<{ version: number }[]>`SELECT version FROM skill_hub.hub`);
  return row?.version ?? 0;
}
