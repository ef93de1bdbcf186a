import type { Stats } from 'node:fs';

/** What the system says of a file, short enough to keep for each of very many. */
export interface SeenFile {
  /** Equal as long as size, times and inode are. */
  readonly stamp: string;
  /**
   * It had not been changed for two seconds when it was looked at. A file that was may change once more without a trace (same
   * size, same tick of the clock).
   */
  readonly settled: boolean;
}

/** @param at - Not later than the stats were taken; milliseconds since the epoch. */
export function seenFile({ size, mtimeMs, ctimeMs, ino }: Stats, at: number): SeenFile {
  return { stamp: `${size} ${mtimeMs} ${ctimeMs} ${ino}`, settled: Math.max(mtimeMs, ctimeMs) < at - QUIET_MS };
}

// --- internal ---

const QUIET_MS = 2_000;
