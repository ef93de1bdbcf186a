import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { CodedError, describeError, withFallback } from '../errors/index.ts';
import { realPathOf } from '../files/index.ts';

export type Subject =
  /** Its code, addresses and settings. `path`: real path. */
  | { readonly kind: 'root'; readonly path: string }
  /** Where skills come from. `path`: an address, `npm:<name>`, or an absolute path. */
  | { readonly kind: 'source'; readonly path: string }
  /** Where a secret may be sent, in which header. `path`: `https://host#authorization=NAME`. */
  | { readonly kind: 'secret'; readonly path: string }
  /** An extension of agents. Only a record: what counts are its files. `digest`: of what was shown. */
  | { readonly kind: 'extension'; readonly path: string; readonly digest: string | null }
  /** A skill off (`revoke`) or on for an agent; null: all. Only a record: the config of the root `path` counts. */
  | { readonly kind: 'switch'; readonly path: string; readonly skill: string; readonly agent: string | null }
  /** A bearer token of an agent, for the server of the root `path`. `digest`: of the token, which is not kept. */
  | { readonly kind: 'token'; readonly path: string; readonly agent: string; readonly digest: string }
  /** A skill's files, in any place. `path`: where they were. */
  | { readonly kind: 'content'; readonly path: string; readonly digest: string }
  /** One finding, across edits. `path`: real path of the skill's folder, or of its single file. */
  | { readonly kind: 'finding'; readonly path: string; readonly rule: string; readonly excerpt: string };

export type Decision = Subject & {
  readonly action: 'allow' | 'revoke';
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly by: string;
  readonly reason?: string;
};

export type NewDecision = Subject & Pick<Decision, 'action' | 'by'> & { readonly reason?: string | undefined };

/** The decisions of one user, outside every root. */
export interface Trust {
  readonly file: string;
  /** By the last decision. False when the folder does not exist. */
  allows(kind: 'root', path: string): boolean;
  /** The last one about each subject, oldest first. */
  decisions(): readonly Decision[];
  /** Why the file is ignored; undefined when it is used or does not exist. */
  trouble(): string | undefined;
  /** Synced to disk on return. @throws TRUST_UNUSABLE when the file cannot be written, or would be ignored. */
  decide(decision: NewDecision): void;
}

/**
 * One JSON object per line, read at each call, because another process may have added one. Counts only when it is a
 * regular file of this user that nobody else can write, in such a folder. Default: in `userStateDirectory()`.
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
      const trouble = whyIgnored(fstatSync(descriptor), directory);
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
        // These are names, even if a file has the same name.
        path: (['source', 'secret'].includes(decision.kind) ? undefined : realPathOf(decision.path)) ?? decision.path,
        at: new Date().toISOString(),
      });
      try {
        append(file, line);
      } catch (error) {
        throw trustUnusable(file, decision.kind, error);
      }
    },
  };
}

/** Why a file of this user cannot approve anything; undefined: it can, or does not exist. @param file - Absolute. */
export function whyNotTrusted(file: string): string | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats) return undefined;
  return stats.isSymbolicLink() ? 'it is a link' : whyOthers(stats, dirname(file));
}

/** `skill-registry` in `$XDG_STATE_HOME`, else in `~/.local/state` (Windows: `%LOCALAPPDATA%`). It may not exist. */
export function userStateDirectory(): string {
  return userDirectory('XDG_STATE_HOME', '.local/state');
}

/** For data that can be rebuilt: `$XDG_CACHE_HOME`, else `~/.cache` (Windows: `cache` in `userStateDirectory()`). */
export function userCacheDirectory(): string {
  return userDirectory('XDG_CACHE_HOME', '.cache');
}

/** In a few words for people: `root`, `tea off for brewer`. */
export function describeSubject(decision: Decision): string {
  if (decision.kind === 'content') return `content ${decision.digest.slice(0, 19)}`;
  if (decision.kind === 'token') return `token ${decision.digest.slice(0, 8)} of ${decision.agent}`;
  if (decision.kind === 'finding') return `${decision.rule} ${decision.excerpt}`;
  if (decision.kind !== 'switch') return decision.kind;
  const whom = decision.agent === null ? '' : ` for ${decision.agent}`;
  return `${decision.skill} ${decision.action === 'allow' ? 'on' : 'off'}${whom}`;
}

/** On this machine. */
export function isDecided(kind: Decision['kind'], path: string): boolean {
  return openTrust()
    .decisions()
    .some((one) => one.kind === kind && one.path === path);
}

// --- internal ---

const MAX_BYTES = 16_777_216;

/** Who can write or replace the file could approve in the user's name. */
function whyIgnored(file: Stats, directory: string): string | undefined {
  if (!file.isFile()) return 'it is not a regular file';
  if (file.size > MAX_BYTES) return `it has ${file.size} bytes, more than ${MAX_BYTES}`;
  return whyOthers(file, directory);
}

function whyOthers(file: Stats, directory: string): string | undefined {
  const folder = statSync(directory);
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (file.uid !== uid) return 'it belongs to another user';
  if (folder.uid !== uid) return 'its folder belongs to another user';
  if (file.mode & 0o022) return 'others can write it (chmod 600 it)';
  return folder.mode & 0o022 ? 'others can write its folder (chmod 700 it)' : undefined;
}

/** Skips invalid lines: a crash may have cut one off. */
function lastDecisions(text: string): readonly Decision[] {
  const last = new Map<string, Decision>();
  for (const line of text.split('\n')) {
    const decision = parse(line);
    if (!decision) continue;
    const subject = subjectOf(decision);
    last.delete(subject);
    last.set(subject, decision);
  }
  return [...last.values()];
}

function parse(line: string): Decision | undefined {
  const decision = withFallback(() => JSON.parse(line) as Partial<Decision> | null, null);
  const keys = KEYS.get(decision?.kind ?? 'root') ?? ['unknown'];
  const isValid =
    (decision?.action === 'allow' || decision?.action === 'revoke') &&
    [...keys, 'at', 'by'].every((key) => typeof (decision as Readonly<Record<string, unknown>>)[key] === 'string');
  return isValid ? (decision as Decision) : undefined;
}

const KEYS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    root: ['kind', 'path'],
    source: ['path'],
    secret: ['path'],
    extension: ['path'],
    switch: ['path', 'skill'],
    token: ['path', 'agent', 'digest'],
    content: ['path', 'digest'],
    finding: ['path', 'rule', 'excerpt'],
  }),
);

function subjectOf(subject: Subject): string {
  const { kind, path } = subject;
  if (kind === 'switch') return JSON.stringify([kind, path, subject.skill, subject.agent]);
  if (kind === 'token') return JSON.stringify([kind, path, subject.agent, subject.digest]);
  if (kind === 'content') return JSON.stringify([kind, subject.digest]);
  return JSON.stringify(kind === 'finding' ? [kind, path, subject.rule, subject.excerpt] : [kind, path]);
}

function append(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = openSync(file, flags, 0o600);
  try {
    const stats = fstatSync(descriptor);
    const trouble = whyIgnored(stats, dirname(file));
    if (trouble) throw new Error(trouble);
    // One write: lines of two processes never mix. Ends a line that a crash has cut off.
    const bytes = Buffer.from(`${endsWithNewline(descriptor, stats.size) ? '' : '\n'}${line}\n`);
    const size = stats.size + bytes.length;
    if (size > MAX_BYTES) throw new Error(`it would have ${size} bytes, more than ${MAX_BYTES}`);
    const written = writeSync(descriptor, bytes);
    // A full disk may take a part without an error. Only the line feed may be missing.
    if (written < bytes.length - 1) throw new Error(`the disk took only ${written} of ${bytes.length} bytes of it`);
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

function trustUnusable(file: string, kind: Subject['kind'], cause: unknown): CodedError {
  const where = `cannot be recorded in ${file}: ${describeError(cause)}. Correct that`;
  const message =
    kind === 'extension' || kind === 'switch'
      ? `It is done, but who did it ${where}.`
      : `The decision ${where} and decide again: it has no effect.`;
  const other = " Or give --trust to each command that should run the root's code; --trust records nothing.";
  return new CodedError('TRUST_UNUSABLE', kind === 'root' ? message + other : message, { file }, cause);
}

function userDirectory(variable: 'XDG_STATE_HOME' | 'XDG_CACHE_HOME', below: string): string {
  // biome-ignore lint/style/noProcessEnv: the environment of the process, never .env of a root, names these directories
  const environment = process.env;
  const given = environment[variable];
  // The XDG specification says to ignore a relative path.
  if (given && isAbsolute(given)) return join(given, 'skill-registry');
  const local = process.platform === 'win32' ? environment.LOCALAPPDATA : undefined;
  if (local) return join(local, 'skill-registry', ...(variable === 'XDG_CACHE_HOME' ? ['cache'] : []));
  return join(homedir(), below, 'skill-registry');
}
