import { CodedError, type Problem, type TurnContext } from 'skill-registry/kernel';
import { schema } from '../../../lib/arguments/index.ts';
import { takeBreak } from '../../../lib/breaks/index.ts';
import { onceFor } from '../../../lib/recent-map/index.ts';
import { createAdmin } from './admin.ts';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import type { ChangeListener } from './catalog/catalog.ts';
import { copyForCallers, frozen } from './catalog/snapshot.ts';
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
import { type ConfigReader, configOf } from './config/read-config.ts';
import type { Core, Feature } from './feature.ts';
import type { InternalOptions } from './options.ts';
import { assertOpen, moreSearch, openParts, type Parts } from './parts.ts';
import type { ToolRegistry } from './seams.ts';
import { namedFiles } from './search/for-files.ts';
import { listSkills } from './search/list-skills.ts';
import type { TurnText, TurnTextOptions } from './show/turn-text.ts';
import { givenSkills } from './show/visible.ts';
import type { Skill } from './skill/skill.ts';
import { CORE_KINDS } from './sources/kinds/core-kinds.ts';
import { CORE_TOOLS, makeTools } from './tools/index.ts';
import { createWatching } from './watching.ts';

/**
 * Opens a registry with these features, and loads its catalog. @returns after the first snapshot.
 * @param reader - Of the keys of these features; made anew by default.
 * @throws GUARD_MISSING when no feature is a guard, and the options do not say `noGuard`.
 */
export async function openRegistry(
  options: InternalOptions,
  features: readonly Feature[],
  reader: ConfigReader = configOf([{ sources: CORE_KINDS }, ...features]),
): Promise<SkillRegistry> {
  checkOptions(options, Object.keys(reader.schema.properties ?? {}));
  // Loading takes up this slice, so the scan begins in the next one.
  await takeBreak();
  let reportNew: (() => void) | undefined;
  const onProblem = (): void => reportNew?.();
  const parts = await openParts(options, features, reader, onProblem);
  const { catalog, hooks, opened } = parts;
  const at = (turn: TurnContext): TurnContext =>
    opened.reduce((now, { turns }) => turns?.at(now) ?? now, parts.scopes.declared(turn));
  const call = createCheckedCalls(at, options.checksArguments ?? true);
  try {
    await openFeatures(features, { ...parts, call, onProblem });
    if (!opened.some(({ guard }) => guard) && options.noGuard !== true) throw guardMissing();
    const watching = createWatching(parts, onProblem);
    const gather = () => frozen([...parts.problems(), ...watching.problems()]);
    const registry = createRegistry(parts, call, { ...watching, problems: gather }, at);
    for (const { recover } of opened) await recover?.();
    await catalog.refresh();
    if (options.onProblem) {
      reportNew = newProblemReporter(gather, (problem) => hooks.call('onProblem', () => options.onProblem?.(problem)));
      catalog.onChange(onProblem);
    }
    return registry;
  } catch (error) {
    await parts.close();
    throw error;
  }
}

// --- internal ---

function guardMissing(): CodedError<'GUARD_MISSING'> {
  const message =
    'No feature of this registry inspects skills, so an agent could be given an attack. Add the feature that does (features.ts), or say that you go without it: noGuard in the options of your program, --no-guard of the command.';
  return new CodedError('GUARD_MISSING', message);
}

async function openFeatures(features: readonly Feature[], given: Omit<Core, 'of' | 'assertOpen'>): Promise<void> {
  const parts = new Map<Feature, unknown>();
  const core: Core = {
    ...given,
    assertOpen: () => assertOpen(given),
    of<Part>(feature: Feature<Part>): Part {
      if (!parts.has(feature)) throw new Error(`The feature ${feature.id} stands later in the list, or not in it.`);
      return parts.get(feature) as Part;
    },
  };
  for (const feature of features) {
    const added = (await feature.open?.(core)) ?? {};
    parts.set(feature, added.part);
    given.opened.push(added);
  }
}

function createRegistry(
  parts: Parts,
  call: CheckedCalls,
  watching: ReturnType<typeof createWatching>,
  at: (turn: TurnContext) => TurnContext,
): SkillRegistry {
  const { closing, config, opened } = parts;
  const reading = readingFunctions(parts, call);
  const context = call.later('registry.context(prompt, turn)', [text, turn], contextOf(parts));
  const admin: SkillRegistryAdmin = Object.assign(
    createAdmin(parts, call, { context, at, watchMode: watching.watchMode, registry: () => registry }),
    ...opened.map((feature) => feature.admin),
  );
  const registry: SkillRegistry = Object.assign(
    {
      ...catalogFunctions(parts, call),
      ...reading,
      context,
      config: frozen(config),
      watch: call.later('registry.watch(signal)', [signal], watching.watch),
      problems: watching.problems,
      tools: call.now('registry.tools(names)', [names], (names: readonly string[] = config.tools) =>
        makeTools(names, Object.assign({}, CORE_TOOLS, ...opened.map(({ tools }) => tools)), all),
      ),
      async close() {
        if (!closing.signal.aborted) await parts.close();
      },
      admin,
    },
    ...opened.map((feature) => feature.registry),
  );
  const all: ToolRegistry = { ...admin, ...registry };
  return registry;
}

const signal = schema((z) => z.instanceof(AbortSignal, { error: 'an AbortSignal' }));
const names = schema(() => texts().optional());
const listQuery = schema((z) => {
  const limit = z.int('a whole number').optional();
  const why = z.boolean().optional();
  const fields = { query: words(), tag: words(), source: words(), limit, why, audience: audience() };
  return z.strictObject({ ...fields, paths: namedFiles() }, notOfTurn).optional();
});
const readOptions = schema((z) => {
  const view = z.enum(['body', 'raw']).optional();
  const audience = z.enum(['model', 'person', 'binding']).optional();
  const wait = z.boolean().optional();
  return z.strictObject({ view, audience, again: z.boolean().optional(), wait }, notOfTurn).optional();
});
const waitOptions = schema((z) => z.strictObject({ wait: z.boolean().optional() }).optional());
const addOptions = schema((z) => z.strictObject({ signal: signal().optional() }).optional());
const messageArguments = schema((z) =>
  z.union([z.string(), z.object({}).catchall(z.string())], { error: 'a text or an object of texts' }),
);
const messageOptions = schema((z) => z.strictObject({ dir: words() }).optional());

function catalogFunctions(parts: Parts, { now, later }: CheckedCalls) {
  const { addSource, admit, catalog, events, guard, scopes } = parts;
  const isInspected = (skill: Skill): boolean => guard().notInspected([skill]) === 0;
  const inspect = (skill: Skill): void =>
    void admit({ skill, kind: 'derived', audience: 'model' }).catch(() => undefined);
  return {
    addSource: later('registry.addSource(source, options)', [anything, addOptions], addSource),
    onChange: now('registry.onChange(listener)', [aFunction<ChangeListener>()], (listener) =>
      catalog.onChange(listener),
    ),
    refresh: async () => copyForCallers(await catalog.refresh()),
    snapshot: () => copyForCallers(catalog.snapshot()),
    visible: now('registry.visible(turn, audience)', [turn, audience], (turn = {}, audience = 'model') =>
      audience === 'person' ? scopes.forPerson(turn) : scopes.visible(turn),
    ),
    list: now('registry.list(query, turn)', [listQuery, turn], (query = {}, turn = {}) => {
      if (query.query?.trim()) assertOpen(parts);
      const isForPerson = query.audience === 'person';
      const skills = isForPerson ? catalog.snapshot().skills : scopes.visible(turn);
      const paths = [...(query.paths ?? []), ...(turn.paths ?? [])];
      const found = listSkills({ ...parts, ...moreSearch(parts), isInspected, inspect }, skills, {
        ...query,
        paths,
      });
      const offered = found.skills.map(({ skillId }) => skillId);
      if (!isForPerson) events.emit('offered', offered, turn, query.query);
      return found;
    }),
  } satisfies Partial<SkillRegistry>;
}

function readingFunctions(parts: Parts, { later }: CheckedCalls) {
  const { reading } = parts;
  return {
    read: later('registry.read(skillId, options, turn)', [text, readOptions, turn], reading.read),
    readResource: later(
      'registry.readResource(skillId, path, turn, options)',
      [text, text, turn, waitOptions],
      reading.readResource,
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

function contextOf(parts: Parts): SkillRegistry['context'] {
  const { catalog, events, opened, reading, scopes } = parts;
  const onShown: TurnTextOptions['onShown'] = (listed, bodies, turn, prompt) => {
    events.emit('offered', listed, turn, prompt);
    for (const [skill, tokens] of bodies) events.emit('given', skill, tokens, turn);
  };
  let turnText: Promise<TurnText> | undefined;
  return async (prompt, turn = {}) => {
    assertOpen(parts);
    const body = onceFor((skill: Skill) => reading.bodyForPrompt(skill));
    // First, because a skill found to be held must not be listed either.
    for (const skill of scopes.visible(turn)) if (skill.preload) await body(skill);
    // Before the modules load: the text shows the skills at the time of the call.
    const given = givenSkills(catalog.snapshot(), turn);
    const seen = { skills: scopes.visible(turn), narrowed: scopes.narrowed(turn)?.key, given, body };
    const added = opened.flatMap(({ turns }) => turns?.text(turn) ?? []);
    // These modules take as long to load as a hundred skills, and most commands need none.
    turnText ??= import('./show/turn-text.ts').then(({ createTurnText }) =>
      createTurnText({ ...parts, counting: parts.tokens.counting, meaning: moreSearch(parts).meaning, onShown }),
    );
    const text = await (await turnText)(seen, prompt, turn);
    return added.length > 0 ? [text ?? [], added].flat().join('\n\n') : text;
  };
}

/** @returns reports what was no problem at the call before. One that ended and comes back is reported again. */
function newProblemReporter(gather: () => readonly Problem[], report: (problem: Problem) => unknown): () => void {
  const keyOf = ({ code, file, line, message }: Problem): string => [code, file, line, message].join('\0');
  let reported = new Set(gather().map(keyOf));
  return () => {
    const before = reported;
    const found = gather();
    reported = new Set(found.map(keyOf));
    for (const problem of found) if (!before.has(keyOf(problem))) report(problem);
  };
}
