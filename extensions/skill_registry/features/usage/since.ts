import { invalidArgument } from '../../core/skill/errors.ts';

export const DAY_MS = 86_400_000;

/** Nothing older is kept. */
export const KEPT_DAYS = 180;

/** Milliseconds since 1970, at most `KEPT_DAYS` before `now`. @throws INVALID_ARGUMENT. */
export function readSince(since: string, now: number): number {
  const [, count, unit] = /^(\d{1,6})([hdw])$/.exec(since.trim()) ?? [];
  const time = unit === undefined ? dateOf(since.trim()) : now - Number(count) * UNITS[unit as keyof typeof UNITS];
  if (Number.isNaN(time))
    throw invalidArgument(`since must be ${EXPECTED}; got ${JSON.stringify(since.slice(0, 60))}.`);
  if (time > now) throw invalidArgument(`since must be ${EXPECTED}, not in the future; got ${JSON.stringify(since)}.`);
  return Math.max(time, now - KEPT_DAYS * DAY_MS);
}

/** `2026-11-22`, in UTC. */
export function dayOf(time: number): string {
  const day = Math.floor(time / DAY_MS);
  // Asked at each load, and the same for a day.
  if (last.day !== day) last = { day, text: new Date(time).toISOString().slice(0, 10) };
  return last.text;
}

// --- internal ---

let last = { day: Number.NaN, text: '' };
const UNITS = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const EXPECTED = 'an age such as 12h, 30d or 2w, or a date such as 2026-11-22 or 2026-11-22T08:00:00Z';
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** `NaN` for no date, also for 30 February, which `Date` would accept. */
function dateOf(text: string): number {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return Number.NaN;
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return isDay ? Date.parse(text) : Number.NaN;
}
