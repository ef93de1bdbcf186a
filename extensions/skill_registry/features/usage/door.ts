import type { Command } from 'skill-registry/kernel';
import { schema } from '../../../../lib/arguments/index.ts';
import { text, texts, turn, words } from '../../core/checked-calls.ts';
import { among } from '../../core/config/config-keys.ts';
import { bool, objectOf, oneOf, type Reader, readerOf } from '../../core/config/readers.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { history } from '../history/door.ts';
import type { Outcome, Usage } from './types.ts';
import { createUsage } from './usage.ts';

/** What agents did with skills. Needs the history, for the revisions of what was loaded. */
export const usage: Feature = {
  id: 'usage',
  config: { keys: { usage: { read: recording(), default: true, harmless: among(false) } } },
  open,
  commands: async () => (await import('./commands.ts')).commands,
};

// --- internal ---

function recording(): Reader<boolean | { readonly queries: 'keep' }> {
  const keep = objectOf<{ readonly queries: 'keep' }>({ queries: oneOf('keep') }, {}, ['queries']);
  return readerOf({ anyOf: [bool.schema, keep.schema] }, (value, at) =>
    typeof value === 'object' ? keep(value, at) : bool(value, at),
  );
}

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

function open(core: Core): Opened {
  const { call, events } = core;
  const { hasHistory, run } = core.of(history);
  const recorded = createUsage(core, async (skillId) =>
    hasHistory() ? run((opened) => opened.history.revisions(skillId)).catch(() => []) : [],
  );
  const { recorder, report } = recorded;
  events.on('offered', recorder.offered);
  events.on('offered', recorded.asked);
  events.on('loaded', recorder.loaded);
  events.on('given', recorder.given);
  events.on('refused', recorder.step);
  events.on('changed', (step) => recorder.step({ kind: 'proposal', ...step }));
  return {
    registry: {
      usage: {
        report: call.later('usage.report(query)', [usageQuery], report),
        events: call.later('usage.events(query)', [eventQuery], recorded.events),
        loadedIn: call.later('usage.loadedIn(of, turn)', [threadQuery, turn], recorded.loadedIn),
        record: call.later('usage.record(said)', [threadOutcome], recorded.record),
      },
    },
    commands: ({ usage: { record } }) => [feedbackCommand(record)],
    meter: recorded.meter,
    ...(recorded.keptQueries && { keptQueries: recorded.keptQueries }),
    // Where nobody has a name, or the conversation has none, one client could be given what another had.
    prompts: (given) => {
      const { agentId: agent, threadId: thread, ownThread } = given;
      if (agent === undefined || thread === undefined || !ownThread) return [];
      const description = 'The skills that this conversation has loaded, as they are today: after messages were lost';
      const had = async (): Promise<string> => (await recorded.loadedIn({ agent, thread }, given)).text;
      return [{ name: 'skills_loaded_so_far', description, text: async () => (await had()) || 'None so far.' }];
    },
    reviewPages: async () => (await import('./pages.ts')).usagePages,
    problems: recorded.problems,
    close: recorded.close,
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
