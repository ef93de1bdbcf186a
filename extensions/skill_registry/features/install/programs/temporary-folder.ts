import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { withFallback } from '../../../../../lib/errors/index.ts';

/** The caller removes the folder. Also removes this user's old folders whose processes were killed. */
export function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `skill-registry-from-${process.pid}-`));
  // If it fails, the next call tries again.
  withFallback(removeAbandoned);
  return folder;
}

// --- internal ---

/** Fetching takes minutes at most. After a day, another process may have the same pid. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

function removeAbandoned(): void {
  const { uid } = userInfo();
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = /^skill-registry-from-(\d{1,10})-\w{6}$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const folder = join(tmpdir(), name);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    // Never follows links: `rmSync` removes links inside the folder, not their targets.
    if (!stats?.isDirectory() || (uid !== -1 && stats.uid !== uid)) continue;
    if (isRunning(Number(pid)) && Date.now() - stats.mtimeMs < ABANDONED_MS) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
