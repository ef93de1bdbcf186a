import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { withFallback } from '../errors/index.ts';
import { statsOf } from './open-contained.ts';

/** Nothing lists, reads or publishes files with such names. */
export const TEMPORARY = '.skill-registry-';

/** The last digits are a check of the others: no file has such a name by chance. */
export function temporaryName(): string {
  const random = randomBytes(6).toString('hex');
  return `${TEMPORARY}${random}${checkOf(random)}.tmp`;
}

/** Also for names of earlier releases. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith(TEMPORARY) || /^\.[0-9a-f]{18}\.tmp$/.test(name);
}

/**
 * Removes temporary files of killed processes: regular files of this user, over an hour old, named by `temporaryName`.
 * At most hourly for each folder. Never throws. @param folder - How to reach it. @param key - Its stable path.
 */
export function removeAbandoned(folder: string, key: string): void {
  const now = Date.now();
  if (now - (lookedThrough.get(key) ?? 0) < ABANDONED_AFTER_MS) return;
  if (lookedThrough.size >= MAX_FOLDERS) lookedThrough.clear();
  lookedThrough.set(key, now);
  withFallback(() => {
    for (const name of readdirSync(folder))
      if (isMadeHere(name) && isAbandoned(join(folder, name), now)) unlinkSync(join(folder, name));
  });
}

// --- internal ---

const ABANDONED_AFTER_MS = 3_600_000;
/** Above this, some folders are searched again. */
const MAX_FOLDERS = 1_000;
const lookedThrough = new Map<string, number>();

function checkOf(random: string): string {
  return createHash('sha256').update(random).digest('hex').slice(0, 8);
}

function isMadeHere(name: string): boolean {
  const [, random = '', check] = /^\.skill-registry-([0-9a-f]{12})([0-9a-f]{8})\.tmp$/.exec(name) ?? [];
  return check === checkOf(random);
}

function isAbandoned(file: string, now: number): boolean {
  const stats = statsOf(file);
  if (!stats?.isFile() || now - stats.mtimeMs <= ABANDONED_AFTER_MS) return false;
  return process.getuid === undefined || stats.uid === process.getuid();
}
