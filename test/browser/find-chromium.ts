import { existsSync } from 'node:fs';

/** Debian's chromium, or what SKILL_CHROMIUM names. @throws when there is none. */
export function findChromium(): string {
  const found = [process.env.SKILL_CHROMIUM, '/usr/bin/chromium'].find(
    (path) => path !== undefined && existsSync(path),
  );
  if (found) return found;
  throw new Error('There is no chromium. Install it (apt-get install -y chromium), or name one in SKILL_CHROMIUM.');
}
