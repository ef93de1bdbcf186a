import { randomBytes } from 'node:crypto';
import { digestOf } from '../../../../../lib/digest/index.ts';
import type { HubGrant, HubPrincipal } from '../../../../skill_hub/api.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { nameKey } from '../../history/journal/writer.ts';
import { grantNamed } from '../config.ts';
import { type HubName, type HubPerson, type HubStore, ROLES } from '../store/hub-store.ts';

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
export async function principalOf(store: HubStore, secret: string): Promise<HubPrincipal | undefined> {
  const token = /^skh_[\w-]{43}$/.test(secret) ? await store.tokenOf(digestOf(secret)) : undefined;
  return token && principalWith(token.id, token.person, token);
}

/** @throws INVALID_ARGUMENT for a name that could be read as another one. */
export function hubName(person: string): HubName {
  if (/^person:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*[^\p{Cc}\p{Cf}\p{Z}]$/u.test(person) && person.length <= 150)
    return { key: nameKey(person), person };
  throw invalidArgument('A person has a name of at most 140 characters, without control characters.');
}

/** As `HubService.principalsOf`. @param unknown - What somebody may who is not in the list. */
export async function principalsOf(
  store: HubStore,
  { key, person }: HubName,
  granted?: readonly HubGrant[],
  unknown: readonly HubGrant[] = [],
): Promise<readonly HubPrincipal[]> {
  const listed = await store.people(key);
  if (listed.some(({ role }) => role === null)) return [];
  // Who is only written like somebody in the list is nobody.
  const own = listed.filter((one): one is HubPerson & HubGrant => one.person === person);
  const grants = granted ?? (listed.length > 0 ? own : unknown);
  const best = new Map<string, HubPrincipal>();
  for (const grant of grants) {
    const principal = principalWith(person, person, grant);
    if (!best.get(grant.space)?.may.includes(grant.role)) best.set(grant.space, principal);
  }
  return [...best.values()];
}

// --- internal ---

const ID_LENGTH = 12;
const DAY_MS = 86_400_000;

function principalWith(id: string, person: string, { space, role }: HubGrant): HubPrincipal {
  return { id, person, space, role, may: ROLES.slice(0, ROLES.indexOf(role) + 1) };
}
