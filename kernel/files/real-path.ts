import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** @returns undefined when it does not exist. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Where a path leads, or will lead once what is missing of it has been made; also through links that lead nowhere yet. */
export function futureRealPath(path: string, hops = 40): string {
  const real = realPathOf(path);
  if (real !== undefined || dirname(path) === path || hops === 0) return real ?? path;
  const parent = futureRealPath(dirname(path), hops);
  const target = linkTarget(path);
  return target === undefined ? join(parent, basename(path)) : futureRealPath(resolve(parent, target), hops - 1);
}

// --- internal ---

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
