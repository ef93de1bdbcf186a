import { CodedError, isCodedError, type Problem, type TurnContext } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { RecentMap } from '../../../../lib/recent-map/index.ts';
import { formatNumber } from '../../../../lib/text/index.ts';
import type { Core } from '../../core/feature.ts';
import type { Counted, Meter } from '../../core/read/types.ts';
import type { Charge, Spent } from './loaded.ts';
import { boundedName, MAX_WAITING, recordedId } from './recorder.ts';
import type { UsageFile } from './usage-file.ts';

/**
 * Written before the agent gets anything, because the next answer depends on it: under a limit everything, else what a
 * named conversation has, in the one statement that this takes. All else is written with the events.
 * @param late - Charges that wait to be written.
 */
export function createMeter(
  { catalog, config: { agents, limits } }: Pick<Core, 'catalog' | 'config'>,
  file: Pick<UsageFile, 'now' | 'read'>,
  mayRecord: () => boolean,
  late: Charge[],
): Meter {
  const kinds = LIMITED.flatMap((kind) => (limits[kind.key] ? [{ ...kind, most: limits[kind.key] ?? 0 }] : []));
  const totals = new RecentMap<string, number>(MAX_THREADS);
  const charge = (one: Charge, isNamed = false): number => {
    const key = JSON.stringify([one.agent, one.thread]);
    const before =
      totals.get(key) ?? withFallback(() => file.read(({ ledger }) => ledger.tokensOf(one.agent, one.thread)), 0);
    totals.set(key, before + one.tokens);
    const isHanded = isNamed && withFallback(() => file.now(({ ledger }) => ledger.hand(one)), false);
    // What cannot be written for long is a problem of its own.
    if (late.length < MAX_WAITING) late.push(isHanded ? { ...one, thread: '' } : one);
    return before + one.tokens;
  };
  return {
    charge({ skill, path, digest, tokens = 0 }, turn) {
      if (turn.preview || !mayRecord()) return {};
      const below = path === undefined || path === 'SKILL.md' ? '' : boundedName(path);
      const named = { ...namesOf(turn), skill: recordedId(skill, catalog.noted), path: below };
      const one = { at: Date.now(), ...named, digest: digest ?? null, tokens };
      const assertWithin = (spent: Spent): void => {
        const over = kinds.find(({ of, most }) => spent[of] > most);
        if (over) throw tokensSpent(over, spent[over.of] - tokens, tokens);
      };
      const threadTokens = (tokens: number): Counted => (named.thread === '' ? {} : { threadTokens: tokens });
      // Without a limit, recording never fails a reader.
      if (kinds.length === 0) return threadTokens(charge(one, turn.ownThread));
      try {
        const spent = file.now((database) => database.charge(one, assertWithin));
        const near = kinds.find(({ of, most }) => spent[of] >= most * WARN_FROM);
        return {
          ...threadTokens(spent.thread),
          ...(near ? { tokenWarning: `${usedOf(near.who, near.most, spent[near.of])}.` } : {}),
        };
      } catch (error) {
        throw isCodedError(error) ? error : notCounted(error);
      }
    },
    givenAt(skill, digest, turn) {
      if (!turn.ownThread || turn.threadId === undefined || turn.preview || !mayRecord()) return undefined;
      if (Object.hasOwn(agents, turn.agentId ?? '') && agents[turn.agentId ?? '']?.repeat === 'full') return undefined;
      const of = { ...namesOf(turn), skill: recordedId(skill, catalog.noted), digest };
      try {
        return file.now(({ ledger }) => ledger.givenAt(of));
      } catch {
        return undefined;
      }
    },
  };
}

export function namesOf(
  turn: Pick<TurnContext, 'agentId' | 'threadId' | 'connectionId'>,
): Pick<Charge, 'agent' | 'thread'> {
  const { agentId = '', threadId: thread = turn.connectionId ?? '' } = turn;
  return { agent: boundedName(agentId), thread: boundedName(thread) };
}

/** A limit that nothing counts would be none. */
export function limitProblems(
  { config: { limits }, configFile: file }: Pick<Core, 'config' | 'configFile'>,
  mayRecord: () => boolean,
): readonly Problem[] {
  const set = LIMITED.flatMap(({ key }) => (limits[key] === undefined ? [] : `limits.${key}`));
  if (set.length === 0 || mayRecord()) return [];
  const message = `${set.join(' and ')} cannot be obeyed, because usage is not recorded: set usage: true, or remove the limit.`;
  return [{ code: 'LIMIT_WITHOUT_USAGE', severity: 'error', file, message }];
}

// --- internal ---

const WARN_FROM = 0.8;
/** Of which the tokens are remembered between two charges. */
const MAX_THREADS = 1000;

const LIMITED = [
  { key: 'thread_tokens', of: 'thread', code: 'THREAD_TOKENS_SPENT', who: 'this conversation may load' },
  { key: 'agent_tokens_per_day', of: 'day', code: 'AGENT_TOKENS_SPENT', who: 'this agent may load in a day (UTC)' },
] as const;

type Limited = (typeof LIMITED)[number] & { readonly most: number };

function usedOf(who: string, most: number, used: number): string {
  return `Of the ${formatNumber(most)} tokens of skills that ${who}, ${formatNumber(used)} are used`;
}

function tokensSpent({ code, key, who, most }: Limited, used: number, more: number): CodedError<Limited['code']> {
  const advice = `Work with what you have; a person can raise limits.${key} in the config of the registry.`;
  const message = `${usedOf(who, most, used)}, and this has ${formatNumber(more)}, so it is not given. ${advice}`;
  return new CodedError(code, message, { limit: most, used, tokens: more });
}

function notCounted(cause: unknown): CodedError<'STORE_UNAVAILABLE'> {
  const message =
    'What this would cost cannot be counted, and the config sets a limit, so nothing is given. usage.db must be writable, or the limits removed.';
  return new CodedError('STORE_UNAVAILABLE', message, {}, cause);
}
