import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import { futureRealPath } from '../../lib/files/index.ts';
import { SEARCH_INDEX } from '../../lib/text-index/index.ts';
import { type Changes, createChanges } from './changes.ts';
import { Catalog } from './core/catalog/catalog.ts';
import type { Snapshot } from './core/catalog/snapshot.ts';
import { type DisabledSkill, readConfig, type SkillRegistryConfig, type SourceConfig } from './core/config/config.ts';
import { type ReadingContext, SkillReading } from './core/read/reading.ts';
import { Searcher } from './core/search/searcher.ts';
import { createGrants, createVisibility, type Grants } from './core/show/scope.ts';
import { createSentBodies, type SentBodies } from './core/show/sent-bodies.ts';
import { createTokenCounts, type SkillTokenCounts, TOKEN_COUNTS } from './core/show/token-counts.ts';
import { registryClosed } from './core/skill/errors.ts';
import type { Skill } from './core/skill/skill.ts';
import { hostEnvironment } from './core/sources/host-environment.ts';
import { makeBuiltInSource, makeSources } from './core/sources/make-sources.ts';
import { createSourceReader, type SkillSource, type SourceReader } from './core/sources/source.ts';
import { createSkillFileCache, SKILL_FILES } from './core/sources/walk/skill-file-cache.ts';
import {
  type CachePart,
  cacheFileOf,
  cacheFilesOf,
  cacheProblems,
  createCache,
  openCacheDatabase,
  removeFiles,
  storeProblems,
} from './core/store/cache.ts';
import { reserveOwnData } from './core/store/own-data.ts';
import type { Overlap } from './features/evaluate/overlap/overlap.ts';
import { HeldSkills } from './features/guard/held-skills.ts';
import { inspectionsFile } from './features/guard/inspections.ts';
import { createInstalled } from './features/guard/installed.ts';
import type { Guard, NoteBlocked } from './features/guard/types.ts';
import type { WaitingChanges } from './features/history/waiting-changes.ts';
import { instanceOf } from './features/mcp_source/cycle.ts';
import type { Meaning } from './features/meaning/meaning.ts';
import { VECTORS } from './features/meaning/vector-schema.ts';
import type { FetchCopy } from './features/pages/well-known-copy.ts';
import { createUsage, type RecordedUsage } from './features/usage/usage.ts';
import { createHooks, type HookOptions, type Hooks } from './hooks.ts';
import type { SkillRegistryOptions } from './options.ts';

/** Set by tests, the command and the extension. `manifest`: the config was merged with it. */
export interface InternalOptions extends SkillRegistryOptions, HookOptions {
  /** As of `createCheckedCalls`. Default: true. */
  readonly checksArguments?: boolean;
  /** For gates. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly manifest?: string;
}

export interface Parts {
  readonly root: string;
  readonly config: SkillRegistryConfig;
  readonly hooks: Hooks;
  readonly catalog: Catalog;
  readonly sourceIds: Set<string>;
  readonly makeSources: (sources: readonly SourceConfig[]) => Promise<readonly SkillSource[]>;
  /** @throws as `SkillSource.readSkill`; SKILL_NOT_FOUND when its source was removed. */
  readonly readSkill: (skill: Skill) => Buffer;
  readonly grants: Grants;
  readonly sentBodies: SentBodies;
  /** For a model. */
  readonly visible: (turn: TurnContext) => readonly Skill[];
  readonly reading: SkillReading;
  readonly heldSkills: HeldSkills;
  readonly admit: Guard['admit'];
  /** Kept from agents by the owner. The list is replaced when it changes. */
  readonly disabled: { now: readonly DisabledSkill[] };
  /** Whether the root is approved. */
  readonly trusted: boolean;
  readonly tokens: SkillTokenCounts;
  readonly searcher: Searcher;
  /** Absent without an endpoint. */
  readonly meaning: Meaning | undefined;
  readonly overlap: Overlap;
  readonly changes: Changes;
  /** Only for a root that nobody has approved. */
  readonly waiting: WaitingChanges | undefined;
  readonly usage: RecordedUsage;
  readonly instance: () => string;
  /** Aborts when the registry closes. */
  readonly closing: AbortController;
  /** Of every part except `Watching`. */
  problems(): readonly Problem[];
  close(): Promise<void>;
}

/** In cache.db. */
const CACHE_PARTS: readonly CachePart[] = [SKILL_FILES, TOKEN_COUNTS, SEARCH_INDEX, VECTORS];

/** @param onProblem - Called when there may be a new problem. */
export async function openParts(options: InternalOptions, onProblem: () => void): Promise<Parts> {
  const base = openBase(options, onProblem);
  const { root, config, dataDir, cache, cacheFile, hooks } = base;
  const skills = await openSkills(base, options);
  const { admit, bytes, catalog, heldSkills, trusted, waiting } = skills;
  const snapshot = (): Snapshot => catalog.snapshot();
  const grants = createGrants();
  const sentBodies = createSentBodies();
  const closing = new AbortController();
  const visible = createVisibility(snapshot, grants);
  const tokens = createTokenCounts(config.limits.skill_tokens, bytes.readSkill, cache);
  const search = await openSearch({ ...base, ...bytes, catalog, closing, visible }, onProblem);
  const changes = createChanges(
    {
      root,
      caches: cacheFilesOf(root),
      limits: config.limits,
      writes: config.writes,
      collision: config.collision,
      snapshot,
      sources: () => catalog.sources(),
      granted: grants.of,
      refresh: (written) =>
        (written ? catalog.refreshSkill(join(written.base, written.below)) : catalog.refresh()).catch(() => undefined),
      retrievalEffect: search.overlap.retrievalEffect,
      evaluation: { ...search.overlap, visible: () => visible({}), heldSkills },
      admit,
    },
    { dataDir, onStep: hooks.onWriteStep, mayRecover: trusted },
  );
  const usage = createUsage({
    root,
    isOn: config.usage,
    onDisk: trusted && options.cache !== 'memory',
    onProblem,
    snapshot,
    revisions: async (skillId) =>
      existsSync(join(dataDir, 'history.db'))
        ? changes.run(({ history }) => history.revisions(skillId)).catch(() => [])
        : [],
  });
  const onLoaded: ReadingContext['onLoaded'] = (event, details) => {
    usage.recorder.loaded(event, details);
    hooks.onSkillLoaded?.(event);
  };
  return {
    root,
    config,
    hooks,
    closing,
    grants,
    visible,
    tokens,
    usage,
    readSkill: bytes.readSkill,
    ...skills,
    ...search,
    changes,
    sentBodies,
    reading: new SkillReading({ ...skills, grants, sentBodies, limits: config.limits, onLoaded, tokens }),
    problems: () => [
      ...base.problems,
      ...snapshot().problems,
      ...heldSkills.problems(),
      ...(waiting?.problems() ?? []),
      ...tokens.problems(snapshot()),
      ...changes.problems(),
      ...usage.problems(),
      ...storeProblems(root),
      ...cacheProblems(cacheFile, cache, 'reads'),
      ...(search.meaning?.problems() ?? []),
      ...hooks.problems(),
    ],
    async close() {
      closing.abort();
      const scanned = catalog.close();
      await changes.close();
      await usage.close();
      search.searcher.close();
      search.meaning?.close();
      base.skillFiles.flush();
      tokens.flush();
      cache.close();
      heldSkills.close();
      waiting?.close();
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

// --- internal ---

/** Most registries have no page as a source. */
const fetchCopy: FetchCopy = async (request) => (await import('./features/pages/fetch-copy.ts')).fetchCopy(request);

function openBase(options: InternalOptions, onProblem: () => void) {
  const root = resolve(options.root ?? '.');
  const trusted = options.trust ?? true;
  const dataDir = join(root, 'data', 'skill_registry');
  const configFile = join(dataDir, 'config.yaml');
  const ownData = reserveOwnData(root);
  const cacheFile = options.cache === 'memory' ? undefined : cacheFileOf(root, trusted);
  const cache = createCache(cacheFile, CACHE_PARTS);
  // Without config.yaml, the program itself gives the config.
  const given = options.manifest === undefined && !existsSync(configFile) ? 'this program' : configFile;
  const { config, problems } = readConfig(options.config ?? {}, given, options.manifest);
  const hooks = createHooks(options, root, onProblem);
  const skillFiles = createSkillFileCache(cache);
  return { root, trusted, dataDir, configFile, ownData, cacheFile, cache, config, problems, hooks, skillFiles };
}

async function openSkills(base: ReturnType<typeof openBase>, options: InternalOptions) {
  const { root, trusted, config, configFile, cacheFile, hooks, ownData } = base;
  const sourceIds = new Set<string>();
  const instance = () => instanceOf(root, config.sources);
  const sourceOptions = {
    root,
    trusted,
    configFile,
    validation: config.validation,
    taken: sourceIds,
    fetchCopy,
    instance,
    getSecret: hooks.getSecret,
    onProgress: hooks.onProgress,
    cache: cacheFile === undefined ? undefined : base.skillFiles,
    noteBlocked: (...found: Parameters<NoteBlocked>) => heldSkills.noteBlocked(...found),
  };
  const builtIn = makeBuiltInSource(sourceOptions);
  /** Sources whose skills come from somebody else. */
  const foreign = new Set<string>();
  const makeAll = async (sources: readonly SourceConfig[]): Promise<readonly SkillSource[]> => {
    const made = await makeSources(sources, sourceOptions);
    for (const { id, broughtIn } of made) if (broughtIn) foreign.add(id);
    return made;
  };
  const bytes = createSourceReader(() => catalog.sources(), config);
  const installed = createInstalled(futureRealPath(root));
  const waiting = trusted
    ? undefined
    : (await import('./features/history/waiting-changes.ts')).openWaitingChanges(root, base.dataDir);
  const heldSkills = new HeldSkills({
    heldBecause: waiting?.heldBecause,
    remote: (skill) => catalog.sources().find(({ id }) => id === skill.source)?.remote,
    loadFiles: async () => (await import('./core/sources/walk/files-for-inspection.ts')).filesForInspection(bytes),
    isBroughtIn: (skill) => foreign.has(skill.source) || installed.has(skill),
    isOfPackage: ({ qualifiedId }) => catalog.snapshot().builtIn.has(qualifiedId),
    renew: async () => waiting?.renew(),
    onOther: () => catalog.refresh().catch(() => undefined),
    inspects: options.inspect ?? true,
    file: options.cache === 'memory' ? undefined : inspectionsFile(),
  });
  const { admit } = heldSkills;
  const disabled: Parts['disabled'] = { now: config.disabled };
  const catalog: Catalog = new Catalog(await makeAll(config.sources), {
    builtIn,
    limits: config.limits,
    collision: config.collision,
    callHook: hooks.call,
    disabled: () => disabled.now,
    prepare: heldSkills.prepare,
    heldBecause: (skill) => admit({ skill, kind: 'line', audience: 'model' }).heldBecause,
    async beforeScan() {
      ownData.renew();
      installed.renew();
      await waiting?.renew();
    },
    ...(config.gates.check ? { gates: () => hostEnvironment(options.environment, config.gates.settings) } : {}),
  });
  return { sourceIds, instance, makeSources: makeAll, disabled, catalog, trusted, admit, bytes, heldSkills, waiting };
}

async function openSearch(
  given: ReturnType<typeof openBase> & SourceReader & Pick<Parts, 'catalog' | 'closing' | 'visible'>,
  onProblem: () => void,
): Promise<Pick<Parts, 'searcher' | 'meaning' | 'overlap'>> {
  const { cacheFile, catalog, closing, config, configFile, hooks, readFile, readSkill, visible } = given;
  const database = () => openCacheDatabase(cacheFile ?? ':memory:', CACHE_PARTS);
  const searcher = new Searcher({
    database,
    ...(cacheFile && { removeDatabase: () => removeFiles(cacheFile) }),
    readSkill,
  });
  const meaning =
    config.embeddings.base_url === ''
      ? undefined
      : new (await import('./features/meaning/meaning.ts')).Meaning({
          config: config.embeddings,
          configFile,
          cacheFile,
          database,
          readSkill,
          onProblems: onProblem,
          getSecret: hooks.getSecret,
          onProgress: hooks.onProgress,
        });
  const visibleNow = (turn: TurnContext): readonly Skill[] => {
    assertOpen({ closing });
    return visible(turn);
  };
  const compared = { snapshot: () => catalog.snapshot(), visible: visibleNow, searcher, readFile };
  const loadOverlap = async () => (await import('./features/evaluate/overlap/overlap.ts')).createOverlap(compared);
  const overlap: Overlap = {
    overlap: async () => (await loadOverlap()).overlap(),
    retrievalEffect: async (...given) => (await loadOverlap()).retrievalEffect(...given),
    takenOver: async (...given) => (await loadOverlap()).takenOver(...given),
    firstHits: async (...given) => (await loadOverlap()).firstHits(...given),
  };
  return { searcher, meaning, overlap };
}
