import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * Makes a folder for what is fetched, in the system's folder for temporary files. Whoever made it removes it; those of
 * this user whose processes were killed are removed here.
 */
export function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `skill-registry-from-${process.pid}-`));
  try {
    removeAbandoned();
  } catch {
    // The next call tries it again.
  }
  return folder;
}

// --- internal ---

/** The longest that anything is fetched is some minutes. A process of that number may be another one by now. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

function removeAbandoned(): void {
  const { uid } = userInfo();
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = /^skill-registry-from-(\d{1,10})-\w{6}$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const folder = join(tmpdir(), name);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    // A link is no folder of ours, wherever it leads. Links inside are removed, and not followed.
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
    // Another user's process cannot be asked.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
