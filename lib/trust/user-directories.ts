import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where decisions of this user are kept: `skill-registry` in `$XDG_STATE_HOME`, else in `~/.local/state` (Windows:
 * `%LOCALAPPDATA%`). It need not exist.
 *
 * @param environment - Of the process, never of a root. Default: that of this process.
 */
export function userStateDirectory(environment?: Environment): string {
  return userDirectory('XDG_STATE_HOME', ['.local', 'state'], environment);
}

/** As `userStateDirectory`, for what can be made anew: `$XDG_CACHE_HOME`, else `~/.cache` (Windows: `%LOCALAPPDATA%\\cache`). */
export function userCacheDirectory(environment?: Environment): string {
  return userDirectory('XDG_CACHE_HOME', ['.cache'], environment);
}

// --- internal ---

function userDirectory(
  variable: 'XDG_STATE_HOME' | 'XDG_CACHE_HOME',
  below: readonly string[],
  // biome-ignore lint/style/noProcessEnv: the user's own directories are named by this very environment
  environment: Environment = process.env,
): string {
  const given = environment[variable];
  // The XDG specification says to ignore a relative path.
  if (given && isAbsolute(given)) return join(given, 'skill-registry');
  const local = process.platform === 'win32' ? environment.LOCALAPPDATA : undefined;
  if (local) return join(local, 'skill-registry', ...(variable === 'XDG_CACHE_HOME' ? ['cache'] : []));
  return join(homedir(), ...below, 'skill-registry');
}
