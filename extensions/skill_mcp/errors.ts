import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { withoutPaths } from '../../kernel/host.ts';

export { invalidArgument } from '../../lib/errors/index.ts';

/** Thrown when the server starts. */
export type McpDoorErrorCode = 'INVALID_ARGUMENT' | 'MCP_LISTEN_FAILED' | 'MCP_TOKEN_MISSING';

/** Secret that clients send as a bearer token. */
export const TOKEN_NAME: string = 'SKILL_MCP_TOKEN';

export function tokenMissing(host: string): CodedError<McpDoorErrorCode> {
  return new CodedError(
    'MCP_TOKEN_MISSING',
    `Other machines can connect to ${host}, so a bearer token is required. Set ${TOKEN_NAME} in the environment or in the ` +
      '.env file of the root (which is read when the root is approved), issue one for an agent (skill-registry mcp token ' +
      'add <id>), or listen on 127.0.0.1.',
    { host },
  );
}

export function listenFailed(host: string, port: number, cause: unknown): CodedError<McpDoorErrorCode> {
  const { code } = cause as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'the port is taken' : describeError(cause);
  const message = `Cannot listen on ${host}, port ${port}: ${reason}. Give another port (0 takes a free one) or host.`;
  return new CodedError('MCP_LISTEN_FAILED', message, { host, port }, cause);
}

/** Removes paths of this machine. */
export function toProtocolError(error: unknown): unknown {
  if (error instanceof ProtocolError) return error;
  const message = withoutPaths(error);
  if (!isCodedError(error)) return new ProtocolError(ProtocolErrorCode.InternalError, message);
  return new ProtocolError(ProtocolErrorCode.InternalError, `${error.code}: ${message}`, { code: error.code });
}
