import { existsSync } from 'node:fs';

/** Debian's chromium, or what SKILL_CHROMIUM names; undefined when there is none. */
export function findChromium(): string | undefined {
  return [process.env.SKILL_CHROMIUM, '/usr/bin/chromium'].find((path) => path !== undefined && existsSync(path));
}

export const NO_CHROMIUM =
  'There is no chromium. Install it (apt-get install -y chromium), or name one in SKILL_CHROMIUM.';
