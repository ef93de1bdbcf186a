import type { Problem, TurnContext } from 'skill-registry/kernel';
import { schema } from '../../lib/arguments/index.ts';
import { createBreaks } from '../../lib/breaks/index.ts';
import { createAdmin } from './admin.ts';
import type { SkillRegistry } from './api.ts';
import { createWatching } from './background-work.ts';
import { changeFunctions } from './change-functions.ts';
import { checkOptions } from './check-options.ts';
import {
  aFunction,
  anything,
  audience,
  type CheckedCalls,
  createCheckedCalls,
  notOfTurn,
  text,
  texts,
  turn,
  words,
} from './checked-calls.ts';
import { createAddSource } from './core/catalog/add-source.ts';
import type { ChangeListener } from './core/catalog/catalog.ts';
import { copyForCallers, frozen } from './core/catalog/snapshot.ts';
import { listSkills } from './core/search/list-skills.ts';
import { givenSkills, pendingSkills, skillsInScope } from './core/show/scope.ts';
import type { TurnText, TurnTextOptions } from './core/show/turn-text.ts';
import type { Skill } from './core/skill/skill.ts';
import { makeTools } from './core/tools/index.ts';
import { NOT_INSPECTED } from './features/guard/reasons.ts';
import type { Workflows } from './features/packs/workflow/types.ts';
import { createWorkflows, workflowText } from './features/packs/workflow/workflows.ts';
import type { SkillRegistryOptions } from './options.ts';
import { assertOpen, type InternalOptions, openParts, type Parts } from './parts.ts';

/**
 * Opens a registry and loads its catalog, without a kernel. Call `watch` or `refresh` to keep it up to date.
 * @returns after the first snapshot. Broken skills, sources and config keys are in `problems()`.
 */
export async function createSkillRegistry(options: SkillRegistryOptions = {}): Promise<SkillRegistry> {
  checkOptions(options);
  // Loading takes up this slice, so the scan begins in the next one.
  await createBreaks()();
  let problems: ReturnType<typeof problemReporter> | undefined;
  const onProblem = (): void => problems?.reportNew();
  const parts = await openParts(options, onProblem);
  const { catalog, closing, config, hooks, usage } = parts;
  const watching = createWatching(parts, onProblem);
  const gather = () => frozen([...parts.problems(), ...watching.problems()]);
  if (hooks.onProblem) problems = problemReporter(gather, hooks.onProblem);
  const workflows = createWorkflows(() => catalog.snapshot());
  const call = createCheckedCalls(workflows.at, (options as InternalOptions).checksArguments ?? true);
  const reading = readingFunctions(parts, call);
  const { proposals, history, origin, ...evaluation } = changeFunctions(parts, call);
  const context = call.later('registry.context(prompt, turn)', [text, turn], contextOf(parts, workflows));
  const { read } = reading;
  const admin = { ...createAdmin(parts, call, { workflows, context, read, ...watching }), ...evaluation };
  const registry: SkillRegistry = {
    ...catalogFunctions(parts, call),
    ...reading,
    proposals,
    history,
    origin,
    context,
    config: frozen(config),
    usage: {
      report: call.later('usage.report(query)', [usageQuery], usage.report),
      events: call.later('usage.events(query)', [eventQuery], usage.events),
    },
    watch: call.later('registry.watch(signal)', [signal], watching.watch),
    problems: gather,
    tools: call.now('registry.tools(names)', [names], (names = config.tools) =>
      makeTools(names, { ...admin, ...registry }),
    ),
    async close() {
      if (!closing.signal.aborted) await parts.close();
    },
    admin,
  };
  await parts.changes.recover();
  await catalog.refresh();
  problems?.begin();
  if (problems) catalog.onChange(onProblem);
  return registry;
}

// --- internal ---

const signal = schema((z) => z.instanceof(AbortSignal, { error: 'an AbortSignal' }));
const names = schema(() => texts().optional());
const inRange = schema((z) => z.strictObject({ skillId: words(), agent: words(), since: words() }));
const usageQuery = schema(() => inRange().optional());
const eventQuery = schema((z) => {
  const kind = z.enum(['load', 'resource', 'refusal', 'failure', 'proposal']).optional();
  const limit = z.int('a whole number').min(1, '1 to 10,000').max(10_000, '1 to 10,000').optional();
  return inRange().extend({ thread: words(), kind, limit }).optional();
});
const listQuery = schema((z) => {
  const limit = z.int('a whole number').optional();
  const why = z.boolean().optional();
  const fields = { query: words(), tag: words(), source: words(), limit, why, audience: audience() };
  return z.strictObject(fields, notOfTurn).optional();
});
const readOptions = schema((z) => {
  const view = z.enum(['body', 'raw']).optional();
  const audience = z.enum(['model', 'person', 'binding']).optional();
  return z.strictObject({ view, audience }, notOfTurn).optional();
});
const addOptions = schema((z) => z.strictObject({ signal: signal().optional() }).optional());
const messageArguments = schema((z) =>
  z.union([z.string(), z.object({}).catchall(z.string())], { error: 'a text or an object of texts' }),
);
const messageOptions = schema((z) => z.strictObject({ dir: words() }).optional());

function catalogFunctions(parts: Parts, { now, later }: CheckedCalls) {
  const { catalog, closing, meaning, makeSources: makeAll, readSkill, searcher, sourceIds: taken, usage } = parts;
  const addSource = createAddSource(catalog, taken, makeAll, closing.signal);
  /** One that is given twice is called once. */
  const listeners = new WeakMap<ChangeListener, ChangeListener>();
  return {
    addSource: later('registry.addSource(source, options)', [anything, addOptions], addSource),
    onChange: now('registry.onChange(listener)', [aFunction<ChangeListener>()], (listener) => {
      const wrapped: ChangeListener =
        listeners.get(listener) ?? ((ids, snapshot) => listener(ids, copyForCallers(snapshot)));
      listeners.set(listener, wrapped);
      return catalog.onChange(wrapped);
    }),
    refresh: async () => copyForCallers(await catalog.refresh()),
    snapshot: () => copyForCallers(catalog.snapshot()),
    visible: now('registry.visible(turn, audience)', [turn, audience], (turn = {}, audience = 'model') =>
      audience === 'person' ? skillsInScope(catalog.snapshot(), turn) : parts.visible(turn),
    ),
    list: now('registry.list(query, turn)', [listQuery, turn], (query = {}, turn = {}) => {
      if (query.query?.trim()) assertOpen(parts);
      const isForPerson = query.audience === 'person';
      const skills = isForPerson ? catalog.snapshot().skills : parts.visible(turn);
      const pending = isForPerson
        ? skills.filter(({ heldBecause }) => heldBecause === NOT_INSPECTED)
        : pendingFor(parts, turn);
      const found = listSkills({ searcher, meaning, readSkill }, skills, pending, query);
      const offered = found.skills.map(({ skillId }) => skillId);
      if (!isForPerson) usage.recorder.offered(offered, turn);
      return found;
    }),
  } satisfies Partial<SkillRegistry>;
}

function readingFunctions(parts: Parts, { later }: CheckedCalls) {
  const { reading } = parts;
  return {
    read: later('registry.read(skillId, options, turn)', [text, readOptions, turn], (skillId, options, turn) =>
      reading.read(skillId, { audience: turn ? 'model' : 'person', ...options }, turn),
    ),
    readResource: later('registry.readResource(skillId, path, turn)', [text, text, turn], (skillId, path, turn) =>
      reading.readResource(skillId, path, turn),
    ),
    apply: later(
      'registry.apply(skillId, args, turn, options)',
      [text, messageArguments, turn, messageOptions],
      async (...given) => {
        const { message, settled } = await reading.prepareMessage(...given);
        settled(true);
        return message;
      },
    ),
  } satisfies Partial<SkillRegistry>;
}

function pendingFor({ catalog, grants }: Parts, turn: TurnContext): readonly Skill[] {
  return pendingSkills(catalog.snapshot(), turn, grants.of(turn));
}

function contextOf(parts: Parts, workflows: Workflows): SkillRegistry['context'] {
  const { catalog, config, meaning, reading, searcher, sentBodies, usage, visible } = parts;
  const onShown: TurnTextOptions['onShown'] = (listed, bodies, turn) => {
    usage.recorder.offered(listed, turn);
    for (const [skill, tokens] of bodies) usage.recorder.given(skill, tokens, turn);
  };
  let turnText: Promise<TurnText> | undefined;
  // These modules take as long to load as a hundred skills, and most commands need none.
  const loadTurnText = (): Promise<TurnText> => {
    turnText ??= import('./core/show/turn-text.ts').then(({ createTurnText }) =>
      createTurnText({ config, searcher, meaning, sentBodies, onShown }),
    );
    return turnText;
  };
  return async (prompt, turn = {}) => {
    assertOpen(parts);
    const read = new Map<Skill, Promise<string | undefined>>();
    const body = (skill: Skill): Promise<string | undefined> => {
      const text = read.get(skill) ?? reading.bodyForPrompt(skill);
      read.set(skill, text);
      return text;
    };
    // First, because a skill found to be held must not be listed either.
    for (const skill of visible(turn)) if (skill.preload) await body(skill);
    // Before the modules load: the text shows the skills at the time of the call.
    const given = givenSkills(catalog.snapshot(), turn);
    const seen = { skills: visible(turn), given, pending: pendingFor(parts, turn).length, body };
    const position = turn.tools?.includes('workflow_event') ? workflows.position(turn) : undefined;
    const text = await (await loadTurnText())(seen, prompt, turn);
    return position ? [text ?? [], workflowText(position)].flat().join('\n\n') : text;
  };
}

/** Reports each new problem once. */
function problemReporter(gather: () => readonly Problem[], report: (problem: Problem) => void) {
  /** A problem that ended and comes back is reported again. */
  let reported: readonly Problem[] | undefined;
  const keyOf = ({ code, file, line, message }: Problem): string => JSON.stringify([code, file, line, message]);
  return {
    /** Present problems are not reported. */
    begin(): void {
      reported = gather();
    },
    /** Does nothing before `begin`. */
    reportNew(): void {
      if (!reported) return;
      const before = reported;
      reported = gather();
      // Most are the same objects.
      const same = new Set(before);
      const fresh = reported.filter((problem) => !same.has(problem));
      if (fresh.length === 0) return;
      const files = new Set(fresh.map(({ file }) => file));
      const known = new Set(before.filter(({ file }) => files.has(file)).map(keyOf));
      for (const problem of fresh) if (!known.has(keyOf(problem))) report(problem);
    },
  };
}
