import { randomBytes } from 'node:crypto';
import { digestOf } from '../../../../../lib/digest/index.ts';
import type { HubPrincipal } from '../../../../skill_hub/api.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { grantNamed } from '../config.ts';
import type { HubStore } from '../store/hub-store.ts';
import { hubName, principalOf } from './people.ts';

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
  const { days, by } = wanted;
  const grant = grantNamed(wanted);
  const { person } = hubName(wanted.person);
  if (days !== undefined && !(days >= 1 && days <= 3650)) throw invalidArgument('--days takes 1 to 3650.');
  const secret = `skh_${randomBytes(32).toString('base64url')}`;
  const hash = digestOf(secret);
  const id = hash.slice('sha256:'.length, 'sha256:'.length + ID_LENGTH);
  const expires = days === undefined ? null : new Date(Date.now() + days * DAY_MS).toISOString();
  await store.addToken({ id, ...grant, person, created_by: by, expires }, hash);
  return { secret, id };
}

/** Only its digest is compared, in the store: the time of an answer says nothing about a secret. */
export async function tokenOf(store: HubStore, secret: string): Promise<HubPrincipal | undefined> {
  const token = /^skh_[\w-]{43}$/.test(secret) ? await store.tokenOf(digestOf(secret)) : undefined;
  return token && principalOf(token.id, token.person, token);
}

// --- internal ---

const ID_LENGTH = 12;
const DAY_MS = 86_400_000;
