import { CodedError } from 'skill-registry/kernel';
import type { HubPrincipal } from '../../../../skill_hub/api.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { dayOf, type HubStore, USAGE_DAYS, type UsedSkill } from '../store/hub-store.ts';
import type { SentUsage, UsageCount } from '../wire.ts';

export interface UsageOfSpace {
  /** The first day. */
  readonly since: string;
  readonly usage: readonly UsedSkill[];
}

/** @param days - With today. @throws INVALID_ARGUMENT. */
export async function usageOf(store: HubStore, space: string, days = 30): Promise<UsageOfSpace> {
  if (!Number.isInteger(days) || days < 1 || days > USAGE_DAYS)
    throw invalidArgument(`days is 1 to ${USAGE_DAYS}: counts are kept so long.`);
  const since = dayOf(days - 1);
  return { since, usage: await store.usage(space, since) };
}

/** Takes what machines share. */
export class UsageTaker {
  readonly #store: HubStore;
  /** Of each token, today. */
  readonly #taken = new Map<string, number>();
  #day = '';

  constructor(store: HubStore) {
    this.#store = store;
  }

  /** Leaves out skills that the space never had. @throws INVALID_ARGUMENT for another time, HUB_BUSY. */
  async take(
    { space, person, id: token }: HubPrincipal,
    { counts, ...sent }: SentUsage,
  ): Promise<{ readonly isNew: boolean; readonly answer: { readonly counted: number } }> {
    const [first, last] = [dayOf(OLDEST_DAYS), dayOf(-1)];
    if (counts.some(({ day }) => day < first || day > last))
      throw invalidArgument(`A day is none of the last ${OLDEST_DAYS}. Is the clock of this machine right?`);
    this.#limit(token, counts.length);
    const known: UsageCount[] = [];
    const isKnown = new Map<string, boolean>();
    for (const one of counts) {
      const { skill_id: id } = one;
      if (!isKnown.has(id)) isKnown.set(id, (await this.#store.skill(space, id)) !== undefined);
      if (isKnown.get(id)) known.push(one);
    }
    const isNew = await this.#store.addUsage(space, { ...sent, person, counts: known });
    return { isNew, answer: { counted: isNew ? known.length : 0 } };
  }

  #limit(token: string, count: number): void {
    if (this.#day !== dayOf(0)) this.#taken.clear();
    this.#day = dayOf(0);
    const taken = (this.#taken.get(token) ?? 0) + count;
    if (taken > MOST_A_DAY) throw new CodedError('HUB_BUSY', 'This token has shared too much usage today.');
    this.#taken.set(token, taken);
  }
}

// --- internal ---

/** Less than ids of batches are kept: an older batch cannot be counted twice. */
const OLDEST_DAYS = 31;
/** Of counts, by one token at this hub. */
const MOST_A_DAY = 200_000;
