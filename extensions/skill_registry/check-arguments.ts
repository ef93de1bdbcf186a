import type { TurnContext } from 'skill-registry/kernel';
import {
  type ArgumentCheck,
  aFunction,
  anything,
  aSignal,
  bool,
  checkCall,
  either,
  fields,
  integer,
  listOf,
  oneOf,
  onlyFields,
  optional,
  recordOf,
  refine,
  text,
  wellFormedText,
} from '../../lib/arguments/index.ts';
import type { AddPlan, SkillRegistry, SkillRegistryAdmin, UpdatePlan } from './api.ts';
import type { Workflows } from './workflow/types.ts';

/**
 * The registry as programs get it: every call checks the kind of its arguments first, so that a mistake of the caller is
 * INVALID_ARGUMENT and nothing of it is stored; and a `turn` is completed with the state of the workflow that its conversation is in.
 * The parts of the registry call each other without it.
 */
export function withCheckedArguments(registry: SkillRegistry): SkillRegistry {
  const { admin, proposals, history } = registry;
  const { at } = admin.workflows;
  const origin = checked('origin', registry.origin, ORIGIN);
  return {
    ...checked('registry', registry, REGISTRY, at),
    proposals: checked('proposals', proposals, PROPOSALS, at),
    history: checked('history', history, HISTORY),
    usage: checked('usage', registry.usage, USAGE),
    origin: {
      ...origin,
      add: async (...given) => withCheckedApply(await origin.add(...given)),
      import: async (...given) => withCheckedApply(await origin.import(...given)),
      restore: async (...given) => withCheckedApply(await origin.restore(...given)),
      update: async (...given) => withCheckedApply(await origin.update(...given)),
    },
    admin: {
      ...checked('admin', admin, ADMIN, at),
      management: checked('management', admin.management, MANAGEMENT, at),
      workflows: checked('workflows', admin.workflows, WORKFLOWS),
    },
  };
}

// --- internal ---

type Arguments = Readonly<Record<string, ArgumentCheck>>;
/** The methods of an interface, with the checks of their arguments in order; the compiler keeps it complete. */
type Methods<T> = {
  readonly [M in keyof T as T[M] extends (...args: never[]) => unknown ? M : never]: Arguments;
};

/** Methods that do not give a promise. */
const AT_ONCE =
  'list tools visible snapshot problems onChange onArrival writePolicy watchMode instanceId resources leftOutCount recordOffers at position enter leave follow hasEvents';
const SYNCHRONOUS = new Set(AT_ONCE.split(' '));

const words = optional(text);
const switched = optional(bool);
const storedWords = optional(wellFormedText);
const textList = listOf(text);
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Who did something: it decides what is allowed, and stands in histories and reports. */
const by = refine(
  wellFormedText,
  'person:<name>, agent:<id> or unknown, with at most 200 characters and no control characters',
  (name: string) =>
    name === 'unknown' || (/^(person|agent):.*\S/su.test(name) && name.length <= 200 && !CONTROL.test(name)),
);
/** What a function gives for the new content is checked like a content. */
const change = (value: unknown, name: string): unknown => {
  const made = aFunction(value, name) as (present: string) => unknown;
  return (present: string) => wellFormedText(made(present), `the result of ${name}`);
};
const bytes = refine(anything, 'bytes', (value: unknown) => value instanceof Uint8Array);
const limit = either('a number', integer, oneOf(Number.POSITIVE_INFINITY));
const flagOrFunction = either('true, false or a function', bool, aFunction);
const content = either('a text, null or a function', wellFormedText, oneOf(null), change);
const actor = fields({ by, reason: storedWords });
const actorWithReason = fields({ by, reason: wellFormedText, version: words });
const turn = optional((value, name) => {
  fields({
    agentId: optional(refine(text, 'a name without control characters', (id: string) => !CONTROL.test(id))),
    ...{ channelId: words, userId: words, threadId: words, model: words },
    ...{ boundSkills: optional(textList), givenSkills: optional(textList), tools: optional(textList) },
    ...{ preview: optional(oneOf(true)), remoteClient: optional(oneOf(true)) },
    workflowState: optional(fields({ pack: text, state: words })),
  })(value, name);
  return value;
});
const neededTurn: ArgumentCheck = (value, name) => turn(value ?? {}, name);
const audience = optional(oneOf('model', 'person'));
const revision = either('a number or the beginning of a digest', integer, text);

/** Whose turn it is, which people give among the options of a call. */
const IN_TURN = Object.fromEntries(
  ['agentId', 'threadId', 'boundSkills'].map((key) => [
    key,
    'It belongs to the turn, which is the argument after this one.',
  ]),
);

const REGISTRY: Methods<SkillRegistry> = {
  list: {
    query: optional(
      onlyFields(
        {
          ...{ query: words, tag: words, source: words, limit: optional(integer), why: switched, audience },
        },
        IN_TURN,
      ),
    ),
    turn,
  },
  context: { prompt: text, turn },
  tools: { names: optional(textList) },
  apply: {
    skillId: text,
    args: either('a text or an object of texts', text, recordOf(text)),
    turn,
    options: optional(onlyFields({ dir: words })),
  },
  visible: { turn, audience },
  refresh: {},
  snapshot: {},
  problems: {},
  onChange: { listener: aFunction },
  watch: { signal: aSignal },
  addSource: { source: anything, options: optional(onlyFields({ signal: optional(aSignal) })) },
  close: {},
  read: {
    skillId: text,
    options: optional(
      onlyFields(
        { view: optional(oneOf('body', 'raw')), audience: optional(oneOf('model', 'person', 'binding')) },
        IN_TURN,
      ),
    ),
    turn,
  },
  readResource: { skillId: text, path: text, turn },
};

const PROPOSALS: Methods<SkillRegistry['proposals']> = {
  propose: {
    input: onlyFields({
      ...{ skillId: text, kind: optional(oneOf('update', 'create', 'delete')), path: words },
      ...{ diff: storedWords, content: optional(either('a text or a function', wellFormedText, change)) },
      ...{ oldString: storedWords, newString: storedWords },
      ...{ remove: optional(oneOf(true)), justification: wellFormedText, evidence: storedWords },
      author: optional(by),
    }),
    turn,
  },
  import: { report: wellFormedText },
  list: {
    state: optional(oneOf('open', 'stale', 'approved', 'rejected', 'all')),
    filter: optional(
      onlyFields({
        author: words,
        skillId: words,
        limit: optional(refine(integer, 'at least 0', (n: number) => n >= 0)),
      }),
    ),
  },
  get: { id: text },
  text: { id: text },
  edit: { id: text, edit: fields({ by, content: wellFormedText, version: words }) },
  approve: { id: text, actor: fields({ by, reason: storedWords, version: words }) },
  reject: { id: text, actor: actorWithReason },
  recommend: { id: text, verdict: oneOf('approve', 'reject'), actor: actorWithReason },
  purge: { ids: textList, actor: fields({ by }) },
  stats: {},
  onArrival: { listener: aFunction },
};

const HISTORY: Methods<SkillRegistry['history']> = {
  revisions: { skillId: text },
  revision: { skillId: text, revision },
  read: { skillId: text, revision, path: words },
  diff: { skillId: text, a: revision, b: revision },
  rollback: { skillId: text, revision, actor },
  restore: { skillId: text, actor },
};

const inRange = { skillId: words, agent: words, since: words };
const USAGE: Methods<SkillRegistry['usage']> = {
  report: { query: optional(onlyFields(inRange)) },
  events: {
    query: optional(
      onlyFields({
        ...inRange,
        thread: words,
        kind: optional(oneOf('load', 'resource', 'refusal', 'failure', 'proposal')),
        limit: optional(refine(integer, '1 to 10,000', (n: number) => n >= 1 && n <= 10_000)),
      }),
    ),
  },
};

const ORIGIN: Methods<SkillRegistry['origin']> = {
  add: {
    what: text,
    options: optional(onlyFields({ skills: optional(textList), all: switched, link: switched, cwd: words, to: words })),
  },
  import: { path: text, options: optional(onlyFields({ name: words, cwd: words })) },
  restore: { options: optional(onlyFields({ to: words })) },
  update: { ids: optional(textList) },
  ...{ sources: {}, verify: {} },
  remove: { id: text, actor },
  publish: { options: onlyFields({ to: text, ids: optional(textList) }) },
};

function withCheckedApply<P extends AddPlan | UpdatePlan>(plan: P): P {
  const checks = { actor, options: optional(onlyFields({ allowBlock: optional(textList) })) };
  const apply: P['apply'] = async (...given) => plan.apply(...(checkCall('apply', checks, given) as typeof given));
  return { ...plan, apply };
}

const ADMIN: Methods<SkillRegistryAdmin> = {
  readBytes: {
    skillId: text,
    options: optional(fields({ path: words, countsAsLoad: optional(flagOrFunction), onHeld: optional(aFunction) })),
    turn,
  },
  resources: { skillId: text, turn },
  leftOutCount: { skillId: text },
  prepareSearch: { query: words },
  ...{ embedSkills: {}, overlap: {}, contextCost: {} },
  tokenCounts: { options: optional(onlyFields({ bodies: switched, atMost: optional(limit) })) },
  hiddenTextProblems: {},
  resolveRolePrompt: {
    role: text,
    options: optional(fields({ templates: words, variables: optional(recordOf(anything)) })),
  },
  trustOf: { skillId: text },
  decideTrust: {
    action: oneOf('allow', 'revoke'),
    skillId: text,
    decision: fields({ by, reason: storedWords, digest: words }),
  },
  blockFindingsAfter: {
    change: either(
      'a proposal, a revision or a removed skill',
      fields({ proposalId: text }),
      fields({ skillId: text, revision }),
      fields({ restoredId: text }),
    ),
  },
  allowShown: { skillId: text, shown: listOf(recordOf(anything)), actor },
  inspectSkills: {},
  whoSees: { agents: listOf(turn) },
  setDisabled: { disabling: fields({ skill: text, agent: words }), isDisabled: bool, actor },
  ...{ waiting: {}, waitingProposals: {} },
  prepareMessage: { skillId: text, args: text, turn },
  recordOffers: { skillIds: textList, turn },
  evidence: { skillId: text },
  evaluate: { skillId: text, options: optional(onlyFields({ outputs: words })) },
  proposalEvidence: { proposalId: text },
  writePolicy: { path: text },
  readPolicies: { paths: textList, turn: neededTurn },
  mayGivePlainFile: { path: text, bytes },
  instanceId: {},
  watchMode: {},
};

// Not `turn`: they are about the conversation itself.
const WORKFLOWS: Methods<Workflows> = {
  ...{ at: { of: neededTurn }, position: { of: neededTurn }, leave: { of: neededTurn }, hasEvents: { of: neededTurn } },
  enter: { of: neededTurn, pack: text, state: words },
  follow: { of: neededTurn, event: text },
};

const MANAGEMENT: Methods<SkillRegistryAdmin['management']> = {
  create: { skillId: text, content: wellFormedText, actor },
  add: { path: text, content: wellFormedText, actor },
  write: { skillId: text, path: text, content, actor, turn },
  repair: { skillId: text, shown: wellFormedText, actor },
  remove: { skillId: text, actor, turn },
};

function checked<T extends object>(name: string, target: T, methods: Methods<T>, at = (turn: TurnContext) => turn): T {
  const wrapped = Object.entries(methods as Readonly<Record<string, Arguments>>).map(([method, checks]) => {
    const call = (target as Readonly<Record<string, (...args: unknown[]) => unknown>>)[method];
    const position = Object.keys(checks).indexOf('turn');
    const check = (given: readonly unknown[]): unknown[] =>
      checkCall(`${name}.${method}`, checks, given).map((one, index) =>
        index === position && one !== undefined ? at(one as TurnContext) : one,
      );
    const isSynchronous = SYNCHRONOUS.has(method) && !(name === 'proposals' && method === 'list');
    const run = (...given: unknown[]): unknown => call?.(...check(given));
    return [method, isSynchronous ? run : async (...given: unknown[]) => run(...given)];
  });
  return { ...target, ...Object.fromEntries(wrapped) };
}
