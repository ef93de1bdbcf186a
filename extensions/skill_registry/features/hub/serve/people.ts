import type { HubGrant, HubPrincipal } from '../../../../skill_hub/api.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { nameKey } from '../../history/journal/writer.ts';
import { type HubName, type HubPerson, type HubStore, ROLES } from '../store/hub-store.ts';

export function principalOf(id: string, person: string, { space, role }: HubGrant): HubPrincipal {
  return { id, person, space, role, may: ROLES.slice(0, ROLES.indexOf(role) + 1) };
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
    const principal = principalOf(person, person, grant);
    if (!best.get(grant.space)?.may.includes(grant.role)) best.set(grant.space, principal);
  }
  return [...best.values()];
}
