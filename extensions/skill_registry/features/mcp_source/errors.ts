import { CodedError, type Problem } from 'skill-registry/kernel';
import { plural } from '../../../../lib/text/index.ts';

export type McpErrorCode = 'MCP_SERVER_FAILED' | 'MCP_FILE_REFUSED';

export interface McpFailure {
  readonly code: 'MCP_SERVER_FAILED' | 'MCP_CIRCLE' | 'MCP_SECRET_MISSING';
  readonly reason: string;
  readonly since: number;
  readonly times: number;
  /** Milliseconds since the epoch. */
  readonly retryAt: number;
}

/** For agents: without the reason, which may reveal paths of this machine. */
export function serverFailed(source: string, since: number): CodedError<McpErrorCode> {
  const message = `The MCP server "${source}" has not been usable since ${timeOf(since)}, so its files cannot be read now. Try again later, or tell the user; skill-registry doctor says why.`;
  return new CodedError('MCP_SERVER_FAILED', message, { source });
}

export function readFailed(source: string, path: string): CodedError<McpErrorCode> {
  const message = `The MCP server "${source}" did not give "${path}": it took too long or answered with an error. Try again later, or tell the user.`;
  return new CodedError('MCP_SERVER_FAILED', message, { source, path });
}

export function fileRefused(source: string, path: string, why: string, remedy: string): CodedError<McpErrorCode> {
  const message = `"${path}" of the MCP server "${source}" is not handed out: ${why}. ${remedy}`;
  return new CodedError('MCP_FILE_REFUSED', message, { source, path });
}

export function failureProblem(source: string, location: string, failure: McpFailure, skills: number): Problem {
  const { code, reason, since } = failure;
  const isLeft = code === 'MCP_SERVER_FAILED' && skills > 0;
  const left = isLeft
    ? ` It still lists its last ${plural(skills, 'skill')}; no file of it can be read until then.`
    : '';
  const message = `The MCP server "${source}" ${EFFECTS[code](reason, timeOf(since))}${left}`;
  const details = { source, since: new Date(since).toISOString() };
  return { code, severity: 'error', file: location, message, details };
}

export function noAnswerYet(source: string, location: string): Problem {
  const message = `The MCP server "${source}" has not listed its skills yet. They appear when it does; until then the others are used.`;
  return { code: 'MCP_SERVER_FAILED', severity: 'warning', file: location, message, details: { source } };
}

// --- internal ---

const EFFECTS: Readonly<Record<McpFailure['code'], (reason: string, since: string) => string>> = {
  MCP_SERVER_FAILED: (reason, since) =>
    `has not been usable since ${since}: ${reason}. It is tried again at intervals; start it, correct the source, or remove it.`,
  MCP_CIRCLE: (reason) => `is not used: ${reason}. Remove the source, or let it name another server.`,
  MCP_SECRET_MISSING: (reason) =>
    `is not contacted: ${reason}. Set it in the environment or in the .env file of the root; a program gives it with getSecret.`,
};

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
