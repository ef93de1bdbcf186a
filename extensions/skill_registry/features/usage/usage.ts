import { setTimeout as wait } from 'node:timers/promises';
import { CodedError, type Command, describeError, isCodedError } from 'skill-registry/kernel';
import { schema } from '../../../../lib/arguments/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { sqliteFailure, whyNoSqlite } from '../../../../lib/sqlite/index.ts';
import { text, texts, turn, words } from '../../core/checked-calls.ts';
import type { Core } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { history } from '../history/door.ts';
import type { Revision } from '../history/types.ts';
import { hadInThread } from './after-compaction.ts';
import { createFits } from './fits.ts';
import { createMeter, limitProblems, namesOf } from './limits.ts';
import { boundedName, createUsageRecorder, type UsageRow } from './recorder.ts';
import { DAY_MS, readSince } from './since.ts';
import type { Outcome, Usage, UsageEvent } from './types.ts';
import type { UsageDatabase } from './usage-database.ts';
import { createUsageFile } from './usage-file.ts';

/** With `usage: false` nothing is recorded, but earlier records can be read. */
export function openUsage(core: Core): Opened {
  const { call, catalog, config, events, onProblem, root } = core;
  const { hasHistory, run } = core.of(history);
  const revisionsOf: RevisionsOf = async (skillId) =>
    hasHistory() ? run((opened) => opened.history.revisions(skillId)).catch(() => []) : [];
  const { signal: closing } = core.closing;
  let timer: NodeJS.Timeout | undefined;
  let retryMs = FLUSH_MS;
  let flushing: Promise<boolean> = Promise.resolve(true);
  const keeps = typeof config.usage === 'object';
  const file = createUsageFile(
    root,
    core.trusted && core.options.cache !== 'memory',
    onProblem,
    keeps ? {} : { queryDays: 0 },
  );
  /** Asked at the first record, because loading SQLite takes time. */
  const mayRecord = (): boolean => config.usage && whyNoSqlite() === undefined;
  const onNoted = (): void => {
    if (!closing.aborted) timer ??= setTimeout(flushLater, FLUSH_MS);
  };
  const recorder = createUsageRecorder(catalog, mayRecord, onNoted);
  const { asked, settle } = createFits(core, mayRecord, onNoted, recorder.unwritten.fits);
  const meter = createMeter(core, file, mayRecord, recorder.unwritten.charges);
  let reported = 0;
  const flushOnce = async (): Promise<boolean> => {
    if (reported < recorder.dropped()) {
      reported = recorder.dropped();
      onProblem();
    }
    await countLoads(recorder.newRows());
    await settle();
    return file.write(recorder.unwritten);
  };
  const flush = (): Promise<boolean> => {
    flushing = flushing.then(flushOnce);
    return flushing;
  };
  function flushLater(): void {
    timer = undefined;
    void flush().then((isDone) => {
      retryMs = isDone ? FLUSH_MS : Math.min(retryMs * 2, MAX_RETRY_MS);
      if (isDone || closing.aborted || timer) return;
      // A process with nothing else to do may end.
      timer = setTimeout(flushLater, retryMs).unref();
    });
  }
  const flushAll = async (): Promise<void> => {
    for (let waited = 0; !(await flush()) && waited < PATIENCE_MS; waited += FLUSH_MS) await wait(FLUSH_MS);
  };
  const read = async <T>(work: (database: UsageDatabase) => T): Promise<T> => {
    core.assertOpen();
    const reason = whyNoSqlite();
    if (reason !== undefined) throw usageUnavailable(reason);
    await flushAll();
    try {
      return file.read(work);
    } catch (error) {
      throw isCodedError(error) || sqliteFailure(error) === undefined
        ? error
        : usageUnavailable(describeError(error), error);
    }
  };

  events.on('offered', recorder.offered);
  events.on('offered', asked);
  events.on('loaded', recorder.loaded);
  events.on('given', recorder.given);
  events.on('refused', recorder.step);
  events.on('changed', (step) => recorder.step({ kind: 'proposal', ...step }));
  const usage: Usage = {
    report: call.later('usage.report(query)', [usageQuery], async ({ skillId, agent, since = '30d' } = {}) => {
      const until = Date.now();
      const time = readSince(since, until);
      const report = await read((database) =>
        database.report({
          from: time - (time % DAY_MS),
          until,
          skill: skillId && boundedName(skillId),
          agent: agent && boundedName(agent),
          loadable: loadableIn(catalog.noted.skills, skillId),
          filesOf: (id) => withFallback(() => core.reading.resources(id).map(({ path }) => path), []),
          notKept: config.usage ? file.notKept() : OFF,
        }),
      );
      const { revision } = await revisionFinder(report.outcomes, revisionsOf);
      const outcomes = report.outcomes.map((one) => ({ ...one, ...revision(one.skillId, one.digest, one.since) }));
      return { ...report, outcomes };
    }),
    events: call.later('usage.events(query)', [eventQuery], async (wanted = {}) => {
      const { skillId, agent, thread, kind, since, limit = 1000 } = wanted;
      const from = since === undefined ? 0 : readSince(since, Date.now());
      const [skill, ofAgent, ofThread] = [skillId, agent, thread].map((name) => name && boundedName(name));
      const query = { from, kind, limit, skill, agent: ofAgent, thread: ofThread };
      const rows = await read((database) => database.events(query));
      const events = rows.map(eventOf);
      if (thread === undefined) return events;
      const { revision } = await revisionFinder(events, revisionsOf);
      return events.map((event) => ({ ...event, ...revision(event.skillId, event.digest, event.time) }));
    }),
    record: call.later('usage.record(said)', [threadOutcome], async ({ agent, thread, outcome }) => {
      const ofAgent = agent === undefined ? null : boundedName(agent);
      const loaded = mayRecord() ? await read((database) => database.loadedIn(boundedName(thread), ofAgent)) : [];
      recorder.outcome(loaded, outcome);
      return [...new Set(loaded.map(({ skill }) => skill))];
    }),
    loadedIn: call.later('usage.loadedIn(of, turn)', [threadQuery, turn], async (of, given = {}) => {
      const { agent, thread } = namesOf({ agentId: of.agent ?? '', threadId: of.thread });
      const rows = await read(({ ledger }) => ledger.loaded(agent, thread));
      const had = await hadInThread(core, rows, of, given);
      if (of.tokens === 0 || rows.length === 0) return had;
      await flushAll();
      file.now(({ ledger }) => ledger.empty(agent, thread));
      return had;
    }),
  };
  return {
    registry: { usage },
    commands: () => [feedbackCommand(usage.record)],
    meter,
    ...(keeps && {
      keptQueries: {
        list: () => read(({ fits }) => fits.queries(Date.now())),
        forget: async (query) => file.now(({ fits }) => fits.forget(query)),
      },
    }),
    // Where nobody has a name, or the conversation has none, one client could be given what another had.
    prompts: (given) => {
      const { agentId: agent, threadId: thread, ownThread } = given;
      if (agent === undefined || thread === undefined || !ownThread) return [];
      const description = 'The skills that this conversation has loaded, as they are today: after messages were lost';
      const had = async (): Promise<string> => (await usage.loadedIn({ agent, thread }, given)).text;
      return [{ name: 'skills_loaded_so_far', description, text: async () => (await had()) || 'None so far.' }];
    },
    reviewPages: async () => (await import('./pages.ts')).usagePages,
    problems: () => [...file.problems(recorder.dropped()), ...limitProblems(core, mayRecord)],
    async close() {
      clearTimeout(timer);
      await flushAll();
      file.close();
    },
  };
}

// --- internal ---

/** Oldest first; empty without a history. */
type RevisionsOf = (skillId: string) => Promise<readonly Revision[]>;

const inRange = schema((z) => z.strictObject({ skillId: words(), agent: words(), since: words() }));
const usageQuery = schema(() => inRange().optional());
const eventQuery = schema((z) => {
  const kind = z.enum(['load', 'resource', 'refusal', 'failure', 'proposal', 'outcome']).optional();
  const limit = z.int('a whole number').min(1, '1 to 10,000').max(10_000, '1 to 10,000').optional();
  return inRange().extend({ thread: words(), kind, limit }).optional();
});
const threadOutcome = schema((z) =>
  z.strictObject({ agent: words(), thread: text(), outcome: z.enum(['helped', 'did_not']) }),
);
const threadQuery = schema((z) => {
  const tokens = z.int('a whole number').min(0, '0 or more').optional();
  return z.strictObject({ agent: words(), thread: text(), tokens, skills: texts().optional() });
});

/** From the first record to its writing. A crash may lose records of twice this time. */
const FLUSH_MS = 100;
const MAX_RETRY_MS = 10_000;
/** How long a call waits for another process that writes. */
const PATIENCE_MS = 500;
const OFF = 'usage: false in the config';

function usageUnavailable(reason: string, cause?: unknown): CodedError<'STORE_UNAVAILABLE'> {
  const message = `What agents did with skills cannot be read here. ${reason}`;
  return new CodedError('STORE_UNAVAILABLE', message, {}, cause);
}

/** Counts through `@opentelemetry/api`, if the host has it and has set a meter provider. Never throws. */
async function countLoads(rows: readonly UsageRow[]): Promise<void> {
  const loads = rows.filter(({ kind }) => kind === 'load');
  if (loads.length === 0) return;
  try {
    const { metrics } = await import('@opentelemetry/api');
    const meter = metrics.getMeter('skill-registry');
    const counter = meter.createCounter('skill_load_total', { description: 'Loads of skills' });
    const seconds = meter.createHistogram('skill_load_duration_seconds', { description: 'Time of a load', unit: 's' });
    for (const { skill: name, source, durationMs, outcome } of loads) {
      counter.add(1, { name, source: source ?? '' });
      // A body that was given without a request has no duration.
      if (durationMs !== null && outcome === 'success') seconds.record(durationMs / 1000, { name });
    }
  } catch {
    // No OpenTelemetry, or a failing meter, must not stop recording.
  }
}

function loadableIn(skills: readonly Skill[], only: string | undefined): readonly string[] {
  const isLoadable = ({ id, heldBecause, disabledFor }: Skill): boolean =>
    heldBecause === undefined && disabledFor !== 'everyone' && (only === undefined || id === only);
  return skills.filter(isLoadable).map(({ id }) => boundedName(id));
}

function eventOf({ time, kind, skill: skillId, outcome, ...row }: UsageRow): UsageEvent {
  const known = Object.entries(row).filter(([, value]) => value !== null);
  return { time: new Date(time).toISOString(), kind, skillId, outcome, ...Object.fromEntries(known) };
}

/** `revision`: the last one with the same SKILL.md at that time, else the first one. */
async function revisionFinder(
  found: readonly { readonly skillId: string; readonly digest?: string }[],
  revisionsOf: RevisionsOf,
): Promise<{ revision(skillId: string, digest: string | undefined, time: string): { readonly revision?: number } }> {
  const revisions = new Map<string, readonly Revision[]>();
  for (const { skillId, digest } of found)
    if (digest !== undefined && !revisions.has(skillId)) revisions.set(skillId, await revisionsOf(skillId));
  return {
    revision(skillId, wanted, time) {
      const same = (revisions.get(skillId) ?? []).filter(({ files }) =>
        files.some(({ path, digest }) => path === 'SKILL.md' && digest === wanted),
      );
      const one = same.findLast(({ at }) => at <= time) ?? same[0];
      return one ? { revision: one.number } : {};
    },
  };
}

/** `/feedback helped`: notes it for the skills that the agent of this conversation has loaded. */
function feedbackCommand(record: Usage['record']): Command {
  const choices: readonly string[] = ['helped', 'did_not'];
  return {
    name: 'feedback',
    usage: 'helped|did_not',
    choices,
    description: 'Notes whether the skills loaded in this conversation have helped; no word of it is kept',
    async execute(args, { agentId: agent, threadId: thread }) {
      if (!choices.includes(args)) return { kind: 'print', text: 'Say /feedback helped or /feedback did_not.' };
      const ids = thread === undefined ? [] : await record({ agent, thread, outcome: args as Outcome });
      const text = ids.length > 0 ? `Noted of ${ids.join(', ')}.` : 'No skill was loaded here, so nothing is noted.';
      return { kind: 'print', text };
    },
  };
}
