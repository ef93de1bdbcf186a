import { CodedError } from 'skill-registry/kernel';
import { unlessCoded } from '../../../../../lib/errors/index.ts';
import { postgresFailure } from '../../../../../lib/postgres/index.ts';
import { sqliteFailure } from '../../../../../lib/sqlite/index.ts';
import type { HubGrant, HubService } from '../../../../skill_hub/api.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import type { HubStore } from '../store/hub-store.ts';
import { hubName, principalOf, principalsOf } from './principals.ts';
import { ROUTES } from './routes-and-roles.ts';
import { openSpace } from './space.ts';
import { UsageTaker } from './usage.ts';

export interface ServiceOptions {
  readonly store: HubStore;
  readonly fourEyes: boolean;
  /** What a person may whom the proxy names and the list of people has not. Default: nothing. */
  readonly unknown?: readonly HubGrant[];
  /** Of the hub. */
  readonly root: string;
}

export interface OpenedService extends HubService {
  /** For the review page. */
  registryOf(space: string): Promise<SkillRegistry>;
  /** Also closes the store. */
  close(): Promise<void>;
}

/** What the hub serves, over its store. */
export function createService({ unknown, ...options }: ServiceOptions): OpenedService {
  const { store } = options;
  const spaces = new Map<string, Promise<SkillRegistry>>();
  const usage = new UsageTaker(store);
  /** Only names of tokens come here, so there are no more than those. */
  const registryOf = (space: string): Promise<SkillRegistry> => {
    const opened = spaces.get(space) ?? openSpace({ ...options, space });
    spaces.set(space, opened);
    opened.catch(() => spaces.delete(space));
    return opened;
  };
  return {
    routes: ROUTES.map(({ answer, ...route }) => ({
      ...route,
      answer(asked) {
        const { space } = asked.principal;
        return answer(asked, { team: { ...options, space }, usage, openRegistry: () => registryOf(space) });
      },
    })),
    principalOf: (secret) => principalOf(store, secret),
    principalsOf: async (name, granted) =>
      unlessCoded(() => principalsOf(store, hubName(`person:${name}`), granted, unknown), []),
    async nameOf(account, name) {
      const person = unlessCoded(() => hubName(`person:${name}`), undefined);
      return person && (await store.nameAccount(account, person))?.slice('person:'.length);
    },
    async assertReady() {
      await store.tokens();
    },
    registryOf,
    async close() {
      for (const opened of spaces.values()) await opened.then((registry) => registry.close()).catch(() => undefined);
      await store.close();
    },
  };
}

/** What the database says, as a code. */
export function asCoded(error: unknown): unknown {
  const failure = sqliteFailure(error) ?? postgresFailure(error);
  if (failure === 'text') return invalidArgument('A text has a character that the database does not keep.');
  if (failure === undefined || failure === 'other') return error;
  return new CodedError('STORE_UNAVAILABLE', `The database of the hub cannot be used now (${failure}).`, {}, error);
}
