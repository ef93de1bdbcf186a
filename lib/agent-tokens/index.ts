import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { realPathOf } from '../files/index.ts';
import { openTrust } from '../trust/index.ts';

export interface AgentToken {
  readonly agent: string;
  /** The beginning of its digest. */
  readonly id: string;
  /** ISO 8601, UTC; of its revocation, if it is revoked. */
  readonly at: string;
  readonly by: string;
  readonly revoked: boolean;
}

export interface CheckedToken {
  /** Whom it opens the door to; absent for any other token. */
  readonly agent?: string;
  /** It was issued to an agent; it may be revoked. */
  readonly isOfAgent: boolean;
  /** A token was issued for this root at some time, or that cannot be known. */
  readonly wasIssued: boolean;
}

/** The bearer tokens of agents for the server of one root. Kept are digests, with the other decisions of this user. */
export interface AgentTokens {
  /** As of now: another process may have issued or revoked one. */
  check(token: string | undefined): CheckedToken;
  list(): readonly AgentToken[];
  /** @returns `token`: shown once. @throws TRUST_UNUSABLE. */
  add(agent: string, by: string): { readonly token: string; readonly id: string };
  /** @param id - Default: every token of the agent. @returns what was revoked now. @throws TRUST_UNUSABLE. */
  revoke(agent: string, by: string, id?: string): readonly AgentToken[];
}

export function openAgentTokens(root: string): AgentTokens {
  const trust = openTrust();
  const path = realPathOf(root) ?? root;
  const issued = () => trust.decisions().flatMap((one) => (one.kind === 'token' && one.path === path ? one : []));
  /** The file may be lost while a server runs, which must not open its paths. */
  let wasIssued = false;
  const list = (): readonly (AgentToken & { readonly digest: string })[] =>
    issued().map(({ agent, digest, at, by, action }) => {
      return { agent, id: digest.slice(0, ID_LENGTH), at, by, revoked: action === 'revoke', digest };
    });
  return {
    check(token) {
      const rows = issued();
      wasIssued ||= rows.length > 0 || trust.trouble() !== undefined;
      const given = digestOf(token ?? '');
      // Compares with each, so that the time says nothing about the others.
      const same = rows.filter(({ digest }) => isSame(given, digest));
      const valid = same.find(({ action }) => action === 'allow');
      return { ...(valid && { agent: valid.agent }), isOfAgent: same.length > 0, wasIssued };
    },
    list: () => list().map(({ digest: _, ...row }) => row),
    add(agent, by) {
      const token = `skr_${randomBytes(32).toString('base64url')}`;
      const digest = digestOf(token);
      trust.decide({ kind: 'token', path, agent, digest, action: 'allow', by });
      return { token, id: digest.slice(0, ID_LENGTH) };
    },
    revoke(agent, by, id) {
      const rows = list().filter((one) => one.agent === agent && !one.revoked && (id === undefined || one.id === id));
      return rows.map(({ digest, ...row }) => {
        trust.decide({ kind: 'token', path, agent, digest, action: 'revoke', by });
        return row;
      });
    },
  };
}

/** In constant time for secrets of any length. */
export function isSameSecret(given: string, secret: string): boolean {
  return isSame(digestOf(given), digestOf(secret));
}

// --- internal ---

const ID_LENGTH = 8;

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Of two digests. */
function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
