import { CodedError } from '../errors/index.ts';

/** Codes of all failures with a file below a base folder. Models see them unchanged. */
export type FileErrorCode =
  | 'INVALID_ARGUMENT'
  | 'PATH_TRAVERSAL'
  | 'RESOURCE_NOT_FOUND'
  | 'RESOURCE_TOO_LARGE'
  | 'WRITE_FAILED';

/** The message says nothing about the target of the path. */
export function pathTraversal(): CodedError<FileErrorCode> {
  return new CodedError('PATH_TRAVERSAL', 'Path traversal detected');
}

export function invalidPath(reason: string): CodedError<FileErrorCode> {
  return new CodedError('INVALID_ARGUMENT', `Invalid path: ${reason}`);
}

export function resourceNotFound(path: string, reason = 'no such file'): CodedError<FileErrorCode> {
  return new CodedError('RESOURCE_NOT_FOUND', `Cannot read "${shorten(path)}": ${reason}.`, { path });
}

export function resourceTooLarge(path: string, size: number, limit: number): CodedError<FileErrorCode> {
  const message = `"${shorten(path)}" has ${size} bytes, more than the limit of ${limit}.`;
  return new CodedError('RESOURCE_TOO_LARGE', message, { path, size, limit });
}

export function writeFailed(path: string, reason: string, cause?: unknown): CodedError<FileErrorCode> {
  return new CodedError('WRITE_FAILED', `Cannot write "${shorten(path)}": ${reason}.`, { path }, cause);
}

/** The error for a caller that gave `path`, from an error of the file system. */
export function fromSystemError(error: unknown, path: string): CodedError<FileErrorCode> {
  const code = (error as NodeJS.ErrnoException).code;
  // The path is a symbolic link, and O_NOFOLLOW was given.
  if (code === 'ELOOP' || code === 'EMLINK') return pathTraversal();
  if (code === 'EACCES' || code === 'EPERM') return resourceNotFound(path, 'not permitted');
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return resourceNotFound(path);
  return resourceNotFound(path, `it cannot be opened (${code ?? 'unknown error'})`);
}

// --- internal ---

/** The whole path is in the details of the error. */
function shorten(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
