import { CodedError } from '../errors/index.ts';

// Models see these codes unchanged.

/** The message says nothing about the target of the path. */
export function pathTraversal(): CodedError {
  const advice = 'Give a path inside the folder and relative to it, without ".." and without links.';
  return new CodedError('PATH_TRAVERSAL', `Path traversal detected. ${advice}`);
}

export function invalidPath(reason: string): CodedError {
  return new CodedError('INVALID_ARGUMENT', `Invalid path: ${reason}`);
}

export function resourceNotFound(path: string, reason = 'no such file'): CodedError {
  return new CodedError('RESOURCE_NOT_FOUND', `Cannot read "${shorten(path)}": ${reason}.`, { path });
}

export function resourceTooLarge(path: string, size: number, limit: number): CodedError {
  const message = `"${shorten(path)}" has ${size} bytes, more than the limit of ${limit}.`;
  return new CodedError('RESOURCE_TOO_LARGE', message, { path, size, limit });
}

export function writeFailed(path: string, reason: string, cause?: unknown): CodedError {
  const known = SYSTEM_CODES.get(reason);
  const why = known === undefined ? `${reason}.` : `${reason}, ${known}, and repeat this.`;
  return new CodedError('WRITE_FAILED', `Cannot write "${shorten(path)}": ${why}`, { path }, cause);
}

export function fromSystemError(error: unknown, path: string): CodedError {
  const code = (error as NodeJS.ErrnoException).code;
  // O_NOFOLLOW found a link.
  if (code === 'ELOOP' || code === 'EMLINK') return pathTraversal();
  if (code === 'EACCES' || code === 'EPERM') return resourceNotFound(path, 'not permitted');
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return resourceNotFound(path);
  return resourceNotFound(path, `it cannot be opened (${code ?? 'unknown error'})`);
}

// --- internal ---

const NO_RIGHT = 'this user may not write there. Give it the right';
const NO_ROOM = 'there is no room left. Free some space';
const SYSTEM_CODES: ReadonlyMap<string, string> = new Map([
  ['EACCES', NO_RIGHT],
  ['EPERM', NO_RIGHT],
  ['EROFS', 'the file system is read-only. Make it writable'],
  ['ENOSPC', NO_ROOM],
  ['EDQUOT', NO_ROOM],
  ['EFBIG', 'a limit on the size of files is reached. Raise it'],
]);

function shorten(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
