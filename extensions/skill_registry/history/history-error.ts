import { describeError, isCodedError } from 'skill-registry/kernel';
import { sqliteFailure } from '../../../lib/sqlite/index.ts';
import { storeUnavailable } from '../skill/errors.ts';
import { openDatabase, type SqliteDatabase } from '../store/open-database.ts';
import { type HistoryRefusal, historyDamaged, historyRefused } from './errors.ts';

/** What SQLite refuses, as far as somebody can do something about it. */
export function sqliteRefusal(error: unknown): Exclude<HistoryRefusal, 'other'> | 'damaged' | undefined {
  const failure = sqliteFailure(error);
  return failure === 'unavailable' || failure === 'constraint' || failure === 'other' ? undefined : failure;
}

/**
 * What an error means to somebody who asked for the history. Only an integrity check says that it is damaged. What is no error
 * of the database stays as it is.
 *
 * @param file - Of the history. @param opening - The file that is being opened, it or a copy: then also what the system says is
 *   about it, and anything else.
 * @returns HISTORY_BUSY, WRITE_FAILED, STORE_UNAVAILABLE, HISTORY_DAMAGED; or the error.
 */
export function historyError(file: string, error: unknown, opening?: string): unknown {
  if (isCodedError(error)) return error;
  if (sqliteFailure(error) === 'unavailable') return storeUnavailable(describeError(error));
  const refusal = sqliteRefusal(error) ?? (opening === undefined ? undefined : (systemRefusal(error) ?? 'other'));
  if (refusal === undefined) return error;
  if (refusal !== 'damaged') return historyRefused(refusal, file, error);
  const damage = damageOf(opening ?? file);
  return damage === undefined ? historyRefused('other', file, error) : historyDamaged(file, damage);
}

/** Looks at every page; done once before the first write of a process. @throws HISTORY_DAMAGED, or what SQLite says. */
export function assertSound(database: SqliteDatabase, file: string): void {
  const verdict = verdictOn(database, 'quick_check');
  if (verdict !== 'ok') throw historyDamaged(file, verdict);
}

// --- internal ---

function systemRefusal(error: unknown): HistoryRefusal | undefined {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code);
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return 'full';
  if (['EROFS', 'EACCES', 'EPERM'].includes(code)) return 'readonly';
  if (code === 'EIO') return 'io';
  return /^E[A-Z]+$/.test(code) ? 'cantopen' : undefined;
}

/** What an integrity check says against a file; undefined when it finds nothing, or cannot be made. */
function damageOf(file: string): string | undefined {
  let database: SqliteDatabase | undefined;
  try {
    database = openDatabase(file);
    const verdict = verdictOn(database, 'integrity_check');
    return verdict === 'ok' ? undefined : verdict;
  } catch (error) {
    return sqliteRefusal(error) === 'damaged' ? describeError(error) : undefined;
  } finally {
    database?.close();
  }
}

/** `ok`, or what is wrong. A check fails itself where it comes upon what cannot be read as a database at all. */
function verdictOn(database: SqliteDatabase, check: 'quick_check' | 'integrity_check'): string {
  try {
    const row = database.prepare(`PRAGMA ${check}(1)`).get() as Readonly<Record<string, unknown>>;
    return String(Object.values(row)[0]);
  } catch (error) {
    if (sqliteRefusal(error) === 'damaged') return describeError(error);
    throw error;
  }
}
