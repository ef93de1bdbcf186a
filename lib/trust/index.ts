import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { CodedError, describeError } from '../errors/index.ts';

/** What a person decided about one subject on this machine. */
export interface Decision {
  readonly action: 'allow' | 'revoke';
  /** Code, addresses and settings of a root folder. */
  readonly kind: 'root';
  /** Real path of the folder. */
  readonly path: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Who decided. */
  readonly by: string;
}

/** The decisions of one user, in a file outside every root. */
export interface Trust {
  readonly file: string;
  /** Whether the last decision about the folder is to allow it. A folder that does not exist is not allowed. */
  allows(kind: Decision['kind'], path: string): boolean;
  /** The last decision about each subject, oldest first. */
  decisions(): readonly Decision[];
  /** Why the file is not believed; undefined when it is, or when there is none. */
  trouble(): string | undefined;
  /**
   * Records one decision; on disk when this returns.
   *
   * @throws TRUST_UNUSABLE when the file cannot be written, or would not be believed.
   */
  decide(decision: Omit<Decision, 'at'>): void;
}

/**
 * Opens the decisions of a user. The file is a journal, one JSON object a line, and each question reads it anew: another
 * process may have added a line.
 *
 * It is believed only when it is a regular file of this user that nobody else can write, in a folder of which the same is
 * true. Otherwise, and when it is lost, nothing is allowed.
 *
 * @param directory - Default: `userStateDirectory()`.
 */
export function openTrust(directory: string = userStateDirectory()): Trust {
  const file = join(directory, 'trust.jsonl');
  const read = (): { readonly decisions: readonly Decision[]; readonly trouble?: string } => {
    let descriptor: number;
    try {
      descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return { decisions: [] };
      return { decisions: [], trouble: code === 'ELOOP' ? 'it is a link' : describeError(error) };
    }
    try {
      const trouble = whyNotBelieved(fstatSync(descriptor), directory);
      return trouble ? { decisions: [], trouble } : { decisions: lastDecisions(readFileSync(descriptor, 'utf8')) };
    } finally {
      closeSync(descriptor);
    }
  };
  return {
    file,
    decisions: () => read().decisions,
    trouble: () => read().trouble,
    allows(kind, path) {
      const real = realPathOf(path);
      return read().decisions.some((one) => one.kind === kind && one.path === real && one.action === 'allow');
    },
    decide(decision) {
      const line = JSON.stringify({
        ...decision,
        path: realPathOf(decision.path) ?? decision.path,
        at: new Date().toISOString(),
      });
      try {
        append(file, line);
      } catch (error) {
        throw trustUnusable(file, describeError(error), error);
      }
    },
  };
}

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

/** More than anybody decides. */
const MAX_BYTES = 16_777_216;

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Others who can write the file, or replace it, could approve in the user's name. */
function whyNotBelieved(file: Stats, directory: string): string | undefined {
  if (!file.isFile()) return 'it is no regular file';
  if (file.size > MAX_BYTES) return `it has ${file.size} bytes, more than ${MAX_BYTES}`;
  const folder = statSync(directory);
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (file.uid !== uid) return 'it belongs to another user';
  if (folder.uid !== uid) return 'its folder belongs to another user';
  if (file.mode & 0o022) return 'others can write it (chmod 600 it)';
  return folder.mode & 0o022 ? 'others can write its folder (chmod 700 it)' : undefined;
}

/** A line that cannot be read decides nothing: a crash may have cut it off. */
function lastDecisions(text: string): readonly Decision[] {
  const last = new Map<string, Decision>();
  for (const line of text.split('\n')) {
    const decision = parse(line);
    if (!decision) continue;
    const subject = `${decision.kind}\0${decision.path}`;
    last.delete(subject);
    last.set(subject, decision);
  }
  return [...last.values()];
}

function parse(line: string): Decision | undefined {
  try {
    const one = JSON.parse(line) as Partial<Decision> | null;
    const isSound =
      (one?.action === 'allow' || one?.action === 'revoke') &&
      one.kind === 'root' &&
      [one.path, one.at, one.by].every((value) => typeof value === 'string');
    return isSound ? (one as Decision) : undefined;
  } catch {
    return undefined;
  }
}

function append(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = openSync(file, flags, 0o600);
  try {
    const stats = fstatSync(descriptor);
    const trouble = whyNotBelieved(stats, dirname(file));
    if (trouble) throw new Error(trouble);
    // One write, so that two processes never mix their lines; a line that a crash has cut off is ended first.
    writeSync(descriptor, `${endsWithNewline(descriptor, stats.size) ? '' : '\n'}${line}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function endsWithNewline(descriptor: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last.toString() === '\n';
}

function trustUnusable(file: string, reason: string, cause: unknown): CodedError {
  const message = `The decision cannot be recorded in ${file}: ${reason}. Mend that, or give --trust to each command that is to run what lies there; it records nothing.`;
  return new CodedError('TRUST_UNUSABLE', message, { file }, cause);
}

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
