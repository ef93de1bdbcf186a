export type { SqliteDatabase } from './database.ts';
export { sqliteFailure } from './failure.ts';
export { openSqlite, whyNoSqlite } from './open.ts';
