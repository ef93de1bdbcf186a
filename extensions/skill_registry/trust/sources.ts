import { CodedError, type Problem } from 'skill-registry/kernel';
import { oneLine } from '../../../lib/text/index.ts';
import { type Decision, openTrust, type Trust } from '../../../lib/trust/index.ts';

/** What a person decided last about a source; undefined: nothing. @param source - As `sourceKey` names it. */
export function decisionAbout(source: string, trust: Pick<Trust, 'decisions'> = openTrust()): Decision | undefined {
  return trust.decisions().find(({ kind, path }) => kind === 'source' && path === source);
}

/** Who revoked a source and when; undefined when nobody has. */
export function whyRevoked(source: string): string | undefined {
  const decision = decisionAbout(source);
  if (decision?.action !== 'revoke') return undefined;
  const { by, at, reason } = decision;
  const why = reason === undefined ? '' : ` (${oneLine(reason, 200)})`;
  return `${by} revoked it on ${at.slice(0, 10)}${why}, so nothing is taken from it. To take from it again: skill-registry trust allow ${JSON.stringify(source)}`;
}

/** @throws SOURCE_REVOKED. */
export function assertNotRevoked(source: string): void {
  const reason = whyRevoked(source);
  if (reason !== undefined) throw new CodedError('SOURCE_REVOKED', `${source}: ${reason}.`, { source });
}

/** For a source of the config. */
export function revokedProblem(id: string, location: string, reason: string): Problem {
  const message = `The source "${id}" is not asked: ${reason}, or remove it from \`sources\`.`;
  return { code: 'SOURCE_REVOKED', severity: 'warning', file: location, message, details: { source: location } };
}
