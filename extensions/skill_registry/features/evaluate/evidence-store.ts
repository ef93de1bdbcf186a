import { withFallback } from '../../../../lib/errors/index.ts';
import { isRecord } from '../../core/config/readers.ts';
import type { SqliteDatabase } from '../../core/store/open-database.ts';
import type { Claim, EvaluationResult } from './types.ts';

/** With digests of what else the result depends on. */
export interface KeptResult {
  readonly result: EvaluationResult;
  /** Of the rules and of the other skills. */
  readonly surroundings: string;
  /** Empty without outputs. */
  readonly outputs: string;
}

const TEXTS = ['about', 'at', 'text', 'by'] as const satisfies (keyof Claim)[];
/** Per skill; older ones are deleted. */
const MAX_KEPT = 200;

/** Replaces the result of the same content and suite. */
export function keepResult(database: SqliteDatabase, key: string, kept: KeptResult): void {
  const { digest, suite, at } = kept.result;
  write(database, key, 'result', digest, suite ?? '', at, JSON.stringify(kept));
}

export function resultOf(
  database: SqliteDatabase,
  key: string,
  { digest, suite }: Pick<EvaluationResult, 'digest' | 'suite'>,
): KeptResult | undefined {
  const sql = "SELECT content FROM evidence WHERE place = ? AND kind = 'result' AND digest = ? AND about = ?";
  return kept(database.prepare<{ content: string }>(sql).get(key, digest, suite ?? '')?.content);
}

export function lastResult(database: SqliteDatabase, key: string): EvaluationResult | undefined {
  const sql = "SELECT content FROM evidence WHERE place = ? AND kind = 'result' ORDER BY seq DESC LIMIT 1";
  return kept(database.prepare<{ content: string }>(sql).get(key)?.content)?.result;
}

/** Does nothing when the same claim is stored. */
export function keepClaim(database: SqliteDatabase, key: string, claim: Claim): void {
  const { about, at, digest } = claim;
  const before = claimsOf(database, key).find((one) => one.about === about && one.digest === digest);
  if (before && before.text === claim.text && JSON.stringify(before.summary) === JSON.stringify(claim.summary)) return;
  write(database, key, 'claim', digest ?? '', about, at, JSON.stringify(claim));
}

/** Newest first. */
export function claimsOf(database: SqliteDatabase, key: string): readonly Claim[] {
  const sql = "SELECT content FROM evidence WHERE place = ? AND kind = 'claim' ORDER BY seq DESC";
  return database
    .prepare<{ content: string }>(sql)
    .all(key)
    .map(({ content }) => withFallback((): unknown => JSON.parse(content)))
    .filter((value): value is Claim => isRecord(value) && TEXTS.every((key) => typeof value[key] === 'string'));
}

// --- internal ---

function write(
  database: SqliteDatabase,
  ...row: readonly [key: string, kind: 'result' | 'claim', digest: string, about: string, at: string, content: string]
): void {
  const put = 'INSERT OR REPLACE INTO evidence (place, kind, digest, about, at, content) VALUES (?, ?, ?, ?, ?, ?)';
  const newest = 'SELECT seq FROM evidence WHERE place = ? ORDER BY seq DESC LIMIT ?';
  database.transaction(() => {
    database.prepare(put).run(...row);
    const [key] = row;
    database.prepare(`DELETE FROM evidence WHERE place = ? AND seq NOT IN (${newest})`).run(key, key, MAX_KEPT);
  });
}

/** undefined for content that no release has written. */
function kept(content: string | undefined): KeptResult | undefined {
  const value = withFallback((): unknown => JSON.parse(content ?? 'null'));
  if (!isRecord(value) || !isRecord(value.result)) return undefined;
  const { totals, validity, tokens, triggers, cases, problems } = value.result;
  const isWhole =
    [totals, validity, tokens].every(isRecord) &&
    (triggers === null || (isRecord(triggers) && Array.isArray(triggers.queries))) &&
    [(validity as { errors?: unknown }).errors, cases, problems].every(Array.isArray) &&
    (cases as readonly unknown[]).every((one) => isRecord(one) && Array.isArray(one.assertions));
  return isWhole ? (value as unknown as KeptResult) : undefined;
}
