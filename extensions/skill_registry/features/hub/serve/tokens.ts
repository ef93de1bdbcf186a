import { randomBytes } from 'node:crypto';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { type HubStore, type HubToken, ROLES, type Role } from '../store/hub-store.ts';
import { SPACE } from '../wire.ts';

export interface WantedToken {
  readonly space: string;
  readonly role: string;
  /** `person:<name>` */
  readonly person: string;
  /** Default: never. */
  readonly days?: number | undefined;
  readonly by: string;
}

/** @returns the secret, which is kept nowhere. @throws INVALID_ARGUMENT. */
export async function addToken(store: HubStore, wanted: WantedToken): Promise<{ secret: string; id: string }> {
  const { space, role, person, days, by } = wanted;
  if (!SPACE.test(space))
    throw invalidArgument('A space has 1-63 lower-case letters, digits and hyphens as its name, first no hyphen.');
  if (!isRole(role)) throw invalidArgument(`The role is one of ${ROLES.join(', ')}.`);
  if (!/^person:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*\S$/u.test(person) || person.length > 150)
    throw invalidArgument(
      'A token belongs to a person: --person NAME, without control characters, at most 140 characters.',
    );
  if (days !== undefined && !(days > 0 && days <= 3650)) throw invalidArgument('--days takes 1 to 3650.');
  const secret = `skh_${randomBytes(32).toString('base64url')}`;
  const hash = hashOf(secret);
  const id = hash.slice('sha256:'.length, 'sha256:'.length + ID_LENGTH);
  const expires = days === undefined ? null : new Date(Date.now() + days * DAY_MS).toISOString();
  await store.addToken({ id, space, role, person, created_by: by, expires }, hash);
  return { secret, id };
}

/** Only its digest is compared, in the store: the time of an answer says nothing about a secret. */
export async function tokenOf(store: HubStore, secret: string): Promise<HubToken | undefined> {
  return /^skh_[\w-]{43}$/.test(secret) ? store.tokenOf(hashOf(secret)) : undefined;
}

// --- internal ---

const ID_LENGTH = 12;
const DAY_MS = 86_400_000;

function hashOf(secret: string): string {
  return digestOf(secret);
}

function isRole(role: string): role is Role {
  return (ROLES as readonly string[]).includes(role);
}
