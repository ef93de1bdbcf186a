import { hash } from 'node:crypto';
import type { Problem } from 'skill-registry/kernel';
import type { Cache, CachePart } from '../store/cache.ts';
import type { SkillRegistryConfig, SkillRegistryConfigInput } from './config.ts';

/** Raise the version with anything that changes what `readConfig` makes of the same input. */
export const CONFIGS: CachePart = {
  name: 'read_configs',
  version: 1,
  sql: 'CREATE TABLE read_configs (key TEXT PRIMARY KEY, config TEXT NOT NULL) WITHOUT ROWID;',
};

interface ReadConfig {
  readonly config: SkillRegistryConfig;
  readonly problems: readonly Problem[];
}

/**
 * As `readConfig`. What was made of the same input before is taken from the cache: the library that
 * checks a config takes longer to load than ten thousand skills.
 */
export async function readConfigOnce(
  input: SkillRegistryConfigInput,
  file: string,
  cache: Pick<Cache, 'look' | 'use'>,
): Promise<ReadConfig> {
  const key = keyOf(input, file);
  const known = key === undefined ? undefined : cache.look((database) => find(database, key));
  if (known) return known;
  const { readConfig } = await import('./config.ts');
  const read = readConfig(input, file);
  // Only beside what is kept already: for a config alone no file is made.
  if (key !== undefined && isPlain(read)) cache.look((database) => keep(database, key, read));
  return read;
}

// --- internal ---

type Database = Parameters<Parameters<Cache['look']>[0]>[0];

/** More than anybody uses in turns; then all are forgotten. */
const MAX_KEPT = 100;

function keyOf(input: SkillRegistryConfigInput, file: string): string | undefined {
  return isPlain(input) ? hash('sha256', JSON.stringify([file, input]), 'hex') : undefined;
}

function find(database: Database, key: string): ReadConfig | undefined {
  const row = database.prepare<{ config: string }>('SELECT config FROM read_configs WHERE key = ?').get(key);
  return row && (JSON.parse(row.config) as ReadConfig);
}

function keep(database: Database, key: string, read: ReadConfig): void {
  const kept = database.prepare<{ n: number }>('SELECT count(*) AS n FROM read_configs').get();
  if (kept && kept.n >= MAX_KEPT) database.exec('DELETE FROM read_configs');
  database.prepare('INSERT OR REPLACE INTO read_configs (key, config) VALUES (?, ?)').run(key, JSON.stringify(read));
}

/** Whether JSON gives it back as it is. */
function isPlain(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return false;
  // What is undefined is left out, which is what it means.
  return Object.values(value).every((one) => one === undefined || isPlain(one));
}
