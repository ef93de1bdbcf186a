export type { SqliteDatabase } from './engines.ts';
export { sqliteFailure } from './failure.ts';
export { openSqlite, whyNoSqlite } from './open.ts';
