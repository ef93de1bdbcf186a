import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import { type CallHook, createHookCaller, declaredAgents } from '../../../kernel/host.ts';
import { withFallback } from '../../../lib/errors/index.ts';
import { futureRealPath, reserve } from '../../../lib/files/index.ts';
import { SEARCH_INDEX } from '../../../lib/text-index/index.ts';
import { userCacheDirectory, userStateDirectory } from '../../../lib/trust/index.ts';
import { type AddSource, createAddSource } from './catalog/add-source.ts';
import { Catalog } from './catalog/catalog.ts';
import type { Snapshot } from './catalog/snapshot.ts';
import type { DisabledSkill, SkillRegistryConfig, SourceConfig } from './config/config.ts';
import { presetSources } from './config/config-keys.ts';
import type { ConfigReader } from './config/read-config.ts';
import { SOURCE_DEFAULTS } from './config/source-entry.ts';
import { createEvents, type RegistryEvents } from './events.ts';
import type { InternalOptions } from './options.ts';
import { type ReadingContext, SkillReading } from './read/reading.ts';
import type { GivenByFeature, Opened } from './seams.ts';
import type { Elsewhere } from './search/hits.ts';
import { Searcher } from './search/searcher.ts';
import type { Meaning } from './search/types.ts';
import { type Conversations, createConversations } from './show/loaded-by-person.ts';
import { createTokenCounts, type SkillTokenCounts, TOKEN_COUNTS } from './show/token-counts.ts';
import { createScopes, type Narrowed, type Scopes } from './show/visible.ts';
import { registryClosed } from './skill/errors.ts';
import type { Admission, Guard, LeavingBytes, LeavingLine } from './skill/guard.ts';
import type { Profile, ValidationProfile } from './skill/profile.ts';
import type { Skill } from './skill/skill.ts';
import { NOT_INSPECTED } from './skill/why-held.ts';
import { hostEnvironment } from './sources/host-environment.ts';
import { makeBuiltInSource, makeSources } from './sources/make-sources.ts';
import { presentSource, type SkillSource } from './sources/source.ts';
import { createSkillFileCache, SKILL_FILES } from './sources/walk/skill-file-cache.ts';
import {
  cacheFileOf,
  cacheProblems,
  createCache,
  openCacheDatabase,
  removeFiles,
  storeProblems,
} from './store/cache.ts';
import type { SqliteDatabase } from './store/open-database.ts';

type HookOptions = Pick<InternalOptions, 'getSecret' | 'onProgress'>;

/** Functions of the host. Calling them never throws. */
interface Hooks extends Required<HookOptions> {
  /** For any other function: `onProblem`, a listener. */
  readonly call: CallHook;
  problems(): readonly Problem[];
}

export interface Parts {
  readonly options: InternalOptions;
  readonly root: string;
  /** `<root>/data/skill_registry`. */
  readonly dataDir: string;
  readonly configFile: string;
  readonly config: SkillRegistryConfig;
  readonly configReader: ConfigReader;
  readonly hooks: Hooks;
  readonly events: RegistryEvents;
  /** In the order of the list. Complete when the registry is open. */
  readonly opened: Opened[];
  readonly catalog: Catalog;
  /** The bytes of SKILL.md. */
  readonly readSkill: (skill: Skill) => Buffer;
  readonly addSource: AddSource;
  /** Whether the skills of this source come from somebody else. */
  readonly isForeign: (sourceId: string) => boolean;
  readonly conversations: Conversations;
  readonly scopes: Scopes;
  readonly reading: SkillReading;
  /** The rules of a value of `validation`; by default the one of the config. */
  readonly profile: (named?: ValidationProfile) => Profile | undefined;
  readonly guard: () => Guard;
  readonly admit: Guard['admit'];
  /** Kept from agents by the owner. The list is replaced when it changes. */
  readonly disabled: { now: readonly DisabledSkill[] };
  /** Whether the root is approved. */
  readonly trusted: boolean;
  readonly tokens: SkillTokenCounts;
  readonly searcher: Searcher;
  /** Undefined: the cache is in memory. */
  readonly cacheFile: string | undefined;
  /** cache.db, for whoever keeps a connection of their own. */
  readonly openCache: () => SqliteDatabase;
  readonly closing: AbortController;
  /** Of every part except `Watching`. */
  problems(): readonly Problem[];
  close(): Promise<void>;
}

/**
 * Opens everything that needs no feature; features add theirs to `opened`.
 * @param onProblem - Called when there may be a new problem.
 */
export async function openParts(
  options: InternalOptions,
  features: readonly GivenByFeature[],
  configReader: ConfigReader,
  onProblem: () => void,
): Promise<Parts> {
  const base = await withoutDoubleAgents(openBase(options, features, configReader, onProblem));
  const { cache, cacheFile, cacheParts, config, hooks, root } = base;
  const skills = await openSkills(base, features);
  const { catalog, closing, opened, readSkill } = skills;
  const snapshot = (): Snapshot => catalog.snapshot();
  const conversations = createConversations();
  // In a state that no feature knows an agent sees nothing, not everything.
  const narrow = (turn: TurnContext, now: Snapshot): Narrowed | undefined =>
    opened.flatMap(({ turns }) => turns?.narrow(turn, now) ?? [])[0] ?? (turn.workflowState && NOTHING);
  const scopes = createScopes(snapshot, conversations, narrow, config.agents);
  const events = createEvents(hooks.call);
  const tokens = createTokenCounts(config.limits.skill_tokens, readSkill, cache);
  const openCache = () => openCacheDatabase(cacheFile ?? ':memory:', cacheParts);
  const searcher = new Searcher({
    database: openCache,
    ...(cacheFile && { removeDatabase: () => removeFiles(cacheFile) }),
    readSkill,
  });
  const onLoaded: ReadingContext['onLoaded'] = (event, details) => {
    events.emit('loaded', event, details);
    hooks.call('onSkillLoaded', () => options.onSkillLoaded?.(event));
  };
  return {
    ...base,
    ...skills,
    events,
    conversations,
    tokens,
    searcher,
    openCache,
    scopes,
    reading: new SkillReading({
      ...skills,
      conversations,
      scopes,
      limits: config.limits,
      onLoaded,
      tokens,
      meter: () => opened.find(({ meter }) => meter)?.meter,
    }),
    problems: () => [
      ...base.problems,
      ...snapshot().problems,
      ...tokens.problems(snapshot()),
      ...opened.flatMap((feature) => feature.problems?.() ?? []),
      ...storeProblems(root),
      ...cacheProblems(cacheFile, cache, 'reads'),
      ...hooks.problems(),
    ],
    async close() {
      closing.abort();
      const scanned = catalog.close();
      // All at once: one that waits keeps no other one open. The guard comes last, because what still runs asks it.
      await Promise.allSettled(opened.filter(({ guard }) => !guard).map(async (feature) => feature.close?.()));
      searcher.close();
      base.skillFiles.flush();
      tokens.flush();
      cache.close();
      for (const { close, guard } of opened) if (guard) await close?.();
      await scanned;
      // Last, because a scan may read until here.
      base.ownData.release();
    },
  };
}

/** @throws REGISTRY_CLOSED. */
export function assertOpen({ closing }: Pick<Parts, 'closing'>): void {
  if (closing.signal.aborted) throw registryClosed();
}

export interface MoreSearch {
  readonly meaning: Meaning | undefined;
  readonly elsewhere: Elsewhere | undefined;
  /** Before a search. */
  readonly ready: (query: string, skills: readonly Skill[]) => Promise<unknown>;
}

/** What features add to a search by words. */
export function moreSearch({ opened }: Pick<Parts, 'opened'>): MoreSearch {
  const meaning = opened.find((feature) => feature.meaning)?.meaning;
  const elsewhere = opened.find((feature) => feature.elsewhere)?.elsewhere;
  return {
    meaning,
    elsewhere,
    ready: (query, skills) => Promise.all([elsewhere?.ready(query, skills), meaning?.ready(query)]),
  };
}

// --- internal ---

function sameForAll(admission: Admission): Guard {
  const admit = ({ kind }: LeavingLine | LeavingBytes) => (kind === 'line' ? admission : Promise.resolve(admission));
  return {
    admit: admit as Guard['admit'],
    prepare: async () => undefined,
    heldMeanwhile: () => new Map(),
    namesOf: () => (admission.given ? () => true : undefined),
    notInspected: () => 0,
    mayGive: async () => admission.given,
    mayName: async () => admission.given,
    noteBlocked: async () => admission.given,
  };
}

const NOTHING: Narrowed = { key: '', only: () => new Map(), nothing: false };

const NO_GUARD = sameForAll({ given: true });
const HOLDS_ALL = sameForAll({
  given: false,
  code: 'SKILL_NOT_INSPECTED',
  findings: [],
  heldBecause: NOT_INSPECTED,
});

function openBase(
  options: InternalOptions,
  features: readonly GivenByFeature[],
  configReader: ConfigReader,
  onProblem: () => void,
) {
  const root = resolve(options.root ?? '.');
  const trusted = options.trust ?? true;
  const dataDir = join(root, 'data', 'skill_registry');
  const configFile = join(dataDir, 'config.yaml');
  const ownData = reserve(root, 'skill_registry');
  ownData.keep(reservedPaths(root));
  const cacheFile = options.cache === 'memory' ? undefined : cacheFileOf(root, trusted);
  const cacheParts = [SKILL_FILES, TOKEN_COUNTS, SEARCH_INDEX, ...features.flatMap(({ cache = [] }) => cache)];
  const cache = createCache(cacheFile, cacheParts);
  // Without config.yaml, the program itself gives the config.
  const givenIn = options.manifest === undefined && !existsSync(configFile) ? 'this program' : configFile;
  const read = configReader.read(options.config ?? {}, givenIn, options.manifest);
  const { problems } = read;
  const config = givenIn === configFile && !options.presets ? read.config : withPresets(read.config, options);
  const hooks = createHooks(options, root, onProblem);
  const skillFiles = createSkillFileCache(cache);
  return {
    root,
    trusted,
    dataDir,
    configFile,
    givenIn,
    ownData,
    cacheFile,
    cacheParts,
    cache,
    config,
    configReader,
    problems,
    hooks,
    skillFiles,
    options,
  };
}

/** Two scopes for one name would be merged by whoever reads them: the manifest counts. */
async function withoutDoubleAgents(base: ReturnType<typeof openBase>): Promise<ReturnType<typeof openBase>> {
  const { config, givenIn: file, root, trusted } = base;
  const agents = Object.entries(config.agents);
  if (agents.length === 0) return base;
  const taken = new Set(await declaredAgents(root, trusted));
  const problems = agents.flatMap(([id]): Problem[] => {
    if (!taken.has(id)) return [];
    const message = `"${id}" is an agent in \`agents\` of the config, and a manifest has the same id. The manifest counts. Give one of them another name.`;
    return [{ code: 'AGENT_ID_TAKEN', severity: 'error', file, message, details: { id } }];
  });
  const left = Object.fromEntries(agents.filter(([id]) => !taken.has(id)));
  return { ...base, config: { ...config, agents: left }, problems: [...base.problems, ...problems] };
}

/** Where the program names no sources. A root with a config file keeps what it had, unless the program asks. */
function withPresets(config: SkillRegistryConfig, { config: given, presets }: InternalOptions): SkillRegistryConfig {
  if (presets === false || withFallback(() => given?.sources !== undefined, true)) return config;
  const sources = presetSources(presets ? 'all' : 'project').map((one) => ({ ...SOURCE_DEFAULTS, ...one }));
  return { ...config, sources };
}

async function openSkills(base: ReturnType<typeof openBase>, features: readonly GivenByFeature[]) {
  const { options, root, trusted, config, configFile, cacheFile, hooks, ownData } = base;
  const opened: Opened[] = [];
  // Without a guard everything may leave if the program said so, and nothing else.
  const guard = (): Guard =>
    opened.find((feature) => feature.guard)?.guard ?? (options.noGuard === true ? NO_GUARD : HOLDS_ALL);
  const admit = ((leaving: never) => guard().admit(leaving)) as Guard['admit'];
  const sourceIds = new Set<string>();
  const foreign = new Set<string>();
  const profiles = features.flatMap((feature) => feature.profiles ?? []);
  const profile: Parts['profile'] = (named = config.validation) => profiles.find(({ name }) => name === named);
  const sourceOptions = {
    root,
    trusted,
    configFile,
    profile,
    taken: sourceIds,
    kinds: features.flatMap(({ sources = [] }) => sources),
    configured: config.sources,
    asksForSecrets: options.asksForSecrets === true,
    decisions: features.find(({ decisions }) => decisions)?.decisions,
    installedInto: features.find((feature) => feature.installedInto)?.installedInto?.(root),
    getSecret: hooks.getSecret,
    cache: cacheFile === undefined ? undefined : base.skillFiles,
    mayName: (names: readonly string[]) => guard().mayName(names),
    noteBlocked: (...found: Parameters<Guard['noteBlocked']>) => guard().noteBlocked(...found),
  };
  const makeAll = async (sources: readonly SourceConfig[]): Promise<readonly SkillSource[]> => {
    const made = await makeSources(sources, sourceOptions);
    for (const { id, broughtIn } of made) if (broughtIn) foreign.add(id);
    return made;
  };
  const builtIn = makeBuiltInSource(sourceIds, sourceOptions.cache);
  const readSkill = (skill: Skill) =>
    presentSource(skill, catalog.sources()).readSkill(skill, config.limits.file_bytes);
  const disabled: Parts['disabled'] = { now: config.disabled };
  const catalog: Catalog = new Catalog(await makeAll(config.sources), {
    builtIn,
    limits: config.limits,
    collision: config.collision,
    callHook: hooks.call,
    disabled: () => disabled.now,
    prepare: (skills) => guard().prepare(skills),
    heldMeanwhile: (skills) => guard().heldMeanwhile(skills),
    heldBecause: (skill) => admit({ skill, kind: 'line', audience: 'model' }).heldBecause,
    async beforeScan() {
      // A folder can be created or become a link at any time.
      ownData.keep(reservedPaths(root));
      let isMore = false;
      for (const feature of opened) isMore = (await feature.beforeScan?.()) === true || isMore;
      return isMore;
    },
    ...(config.gates.check ? { gates: () => hostEnvironment(options.environment, config.gates.settings) } : {}),
  });
  const isForeign = (sourceId: string): boolean => foreign.has(sourceId);
  const closing = new AbortController();
  const addSource = createAddSource(catalog, sourceIds, makeAll, base.configReader.readSource, closing.signal);
  return { opened, guard, admit, profile, addSource, closing, isForeign, readSkill, disabled, catalog };
}

/** No file tool, source, list, revision or proposal can reach `data/` or the user's state and cache directories. */
function reservedPaths(root: string): readonly string[] {
  const data = join(futureRealPath(root), 'data');
  const folder = futureRealPath(join(futureRealPath(data), 'skill_registry'));
  const linked = linksIn(folder).flatMap((link) => {
    const target = futureRealPath(link);
    return ['', '-wal', '-shm', '-journal'].map((end) => target + end);
  });
  // This user's approvals and other roots' caches. They can be inside the root, which may be the home directory.
  const ofUser = [userStateDirectory(), userCacheDirectory()].flatMap((path) => [path, futureRealPath(path)]);
  return [...new Set([join(root, 'data'), data, futureRealPath(data), folder, ...linked, ...ofUser])];
}

function linksIn(folder: string): readonly string[] {
  const entries = withFallback(() => readdirSync(folder, { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
}

/** @param file - For problems. @param onFailure - Called for a new problem, unless `onProblem` failed. */
function createHooks(options: HookOptions, file: string, onFailure: () => void): Hooks {
  const problems: Problem[] = [];
  const call = createHookCaller(file, (problem) => {
    problems.push(problem);
    if (problem.details?.hook !== 'onProblem') onFailure();
  });
  return {
    call,
    problems: () => problems,
    getSecret: (name) => call('getSecret', () => textOrNothing(options.getSecret?.(name))),
    onProgress: (line) => void call('onProgress', () => options.onProgress?.(line)),
  };
}

function textOrNothing(given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given;
  // It may be a promise, whose rejection must not end the process.
  Promise.resolve(given).catch(() => undefined);
  throw new TypeError(
    `it gave ${given === null ? 'null' : `something of type ${typeof given}`}, expected text or undefined`,
  );
}
