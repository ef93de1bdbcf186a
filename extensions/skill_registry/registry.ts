import { join, resolve } from 'node:path';
import { countTokens, futureRealPath, type Problem, type TurnContext } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../lib/sqlite/index.ts';
import { createAddSource } from './add-source.ts';
import type { Skill, SkillRegistry } from './api.ts';
import { cacheFileOf, cacheFilesOf, cacheProblems, createCache, storeProblems } from './cache.ts';
import { openCacheDatabase } from './cache-database.ts';
import { createCatalog } from './catalog/catalog.ts';
import { createPace } from './catalog/pace.ts';
import { frozen } from './catalog/read-only.ts';
import { skillNamed } from './catalog/skill-named.ts';
import { watchCatalog } from './catalog/watch.ts';
import type { SkillRegistryConfigInput, SourceConfig } from './config.ts';
import { createGrants } from './context/grants.ts';
import { skillsInScope } from './context/scope.ts';
import { createVisibility } from './context/visibility.ts';
import { registryClosed, skillNotFound } from './errors.ts';
import { createHooks, type HookOptions } from './hooks.ts';
import { CONFIG_SCHEMA, readConfigOnce } from './known-config.ts';
import { onFirstUse } from './on-first-use.ts';
import { createOverlap } from './overlap.ts';
import { keepOwnData } from './own-data.ts';
import type { Shelf } from './proposals/targets.ts';
import { readPoliciesOf } from './read-policy.ts';
import { createReading } from './reading.ts';
import { createRecords } from './records.ts';
import { bodyIfThere } from './search/body-if-there.ts';
import { INDEX_SCHEMA } from './search/index-schema.ts';
import { listSkills } from './search/list-skills.ts';
import { createSearcher } from './search/searcher.ts';
import { VECTOR_SCHEMA } from './search/vector-schema.ts';
import { hostSurroundings } from './sources/host-surroundings.ts';
import { makeSources } from './sources/make-sources.ts';
import { createSkillFileCache, SKILL_FILES_SCHEMA } from './sources/skill-file-cache.ts';
import type { SkillSource } from './sources/source.ts';
import { TOKEN_COUNTS_SCHEMA } from './token-count-store.ts';
import { createTokenLedger } from './token-ledger.ts';
import { makeTools } from './tools/index.ts';
import { writePolicyOf } from './write-policy.ts';

export interface SkillRegistryOptions extends HookOptions {
  /** Relative source paths start here. Default: the current directory. */
  readonly root?: string;
  /** Every key has a default (docs/configuration.md). The kernel and the command read config.yaml; the library does not. */
  readonly config?: SkillRegistryConfigInput;
  /**
   * Where what can be made anew is kept. `disk`: in `<root>/data/skill_registry/cache.db`, or in the user's cache directory
   * where `root` has no `data` or is not trusted, so that the next process starts warm. Default: `disk`.
   */
  readonly cache?: 'disk' | 'memory';
  /**
   * Whether what lies in `root` may act: its `cache.db` is read, and a change that a crash has left there is finished. Who opens a
   * registry on a root has decided that; `false` leaves it data. Default: true.
   */
  readonly trust?: boolean;
  /** What the gates of skills look for programs and variables in. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens a registry and loads its catalog. It needs no kernel; `watch` keeps it fresh, else `refresh` does.
 *
 * @returns once the first snapshot can serve. Broken skills, sources and config keys are in `problems()`.
 */
export async function createSkillRegistry(options: SkillRegistryOptions = {}): Promise<SkillRegistry> {
  const root = resolve(options.root ?? '.');
  const trusted = options.trust ?? true;
  const ownData = keepOwnData(root);
  const configFile = join(root, 'data', 'skill_registry', 'config.yaml');
  const cacheFile = options.cache === 'memory' ? undefined : cacheFileOf(root, trusted);
  const cache = createCache(cacheFile, SCHEMAS);
  const { config, problems: configProblems } = await readConfigOnce(options.config ?? {}, configFile, cache);
  let isOpen = false;
  const hooks = createHooks(options, root, () => isOpen && tellProblems());
  const taken = new Set<string>();
  const skillFiles = createSkillFileCache(cache);
  const makeAll = (sources: readonly SourceConfig[]): readonly SkillSource[] =>
    makeSources(sources, {
      root,
      validation: config.validation,
      trusted,
      configFile,
      taken,
      cache: cacheFile === undefined ? undefined : skillFiles,
    });
  const catalog = createCatalog(makeAll(config.sources), {
    limits: config.limits,
    collision: config.collision,
    callHook: hooks.call,
    beforeScan: ownData.renew,
    ...(config.gates.check ? { gates: () => hostSurroundings(options.environment, config.gates.settings) } : {}),
  });
  const closing = new AbortController();
  const assertOpen = (): void => {
    if (closing.signal.aborted) throw registryClosed();
  };
  const grants = createGrants();
  const sourceOf = (skill: Skill) => catalog.sources().find(({ id }) => id === skill.source);
  /** @throws SKILL_NOT_FOUND when it has been taken away since the snapshot. */
  const sourceNow = (skill: Skill): SkillSource => {
    const source = sourceOf(skill);
    if (source) return source;
    throw skillNotFound(skill.id, []);
  };
  const readSkill = (skill: Skill): Buffer => sourceNow(skill).readSkill(skill, config.limits.file_bytes);
  const readSkillFile = (skill: Skill, path: string, maxBytes: number): Buffer =>
    sourceNow(skill).readResource(skill, path, maxBytes);
  const ledger = createTokenLedger(config.limits.skill_tokens, readSkill, cache);
  const openIndex = () => openCacheDatabase(cacheFile ?? ':memory:', SCHEMAS);
  const searcher = createSearcher({ database: openIndex, readSkill, pace: createPace });
  const meaning =
    config.embeddings.base_url === ''
      ? undefined
      : (await import('./open-meaning.ts')).openMeaning({
          config: config.embeddings,
          database: openIndex,
          configFile,
          readSkill,
          getSecret: hooks.getSecret,
          onProgress: hooks.onProgress,
          onProblems: () => tellProblems(),
        });
  const visible = createVisibility(() => catalog.snapshot(), grants);
  const visibleNow = (turn: TurnContext = {}): readonly Skill[] => {
    assertOpen();
    return visible(turn);
  };
  const skillsFor = (audience: 'model' | 'person', turn: TurnContext): readonly Skill[] =>
    audience === 'person' ? catalog.snapshot().skills : visible(turn);
  const turnText = onFirstUse(async () =>
    (await import('./context/turn-text.ts')).createTurnText({
      config,
      searcher,
      meaning,
      body: (skill) => bodyIfThere(skill, readSkill),
    }),
  );
  const shelf: Shelf = {
    ...{ root, caches: cacheFilesOf(root), limits: config.limits, writes: config.writes },
    ...{ snapshot: catalog.snapshot, sources: catalog.sources, granted: grants.of },
    refresh: () => registry.refresh(),
  };
  const records = createRecords(
    shelf,
    { dataDir: join(root, 'data', 'skill_registry'), onStep: hooks.onWriteStep, mayRecover: trusted },
    (skillId, text) => registry.retrievalEffect(skillId, text),
  );
  let watching: 'events' | 'poll' | 'off' = 'off';
  const watchProblems = new Map<string, Problem>();
  const noteWatchProblem = (reason: string): void => {
    const message = `Changes to skills may be seen late: ${reason}.`;
    watchProblems.set(message, { code: 'WATCH_FAILED', severity: 'warning', file: root, message });
    tellProblems();
  };
  /** What was told and still holds: a problem that was mended and comes back is told again. */
  let told = new Set<string>();
  const tellProblems = (): void => {
    const [before, problems] = [told, registry.problems()];
    told = new Set(problems.map(keyOf));
    for (const problem of problems) if (!before.has(keyOf(problem))) hooks.onProblem(problem);
  };
  const reading = createReading(catalog, grants, config.limits, hooks.onSkillLoaded);
  const roles = onFirstUse(async () => (await import('./roles.ts')).createRoleResolver(registry));
  const registry: SkillRegistry = {
    config: frozen(config),
    list(query = {}, turn = {}) {
      if (query.query?.trim()) assertOpen();
      return listSkills({ searcher, meaning, skillsFor, readSkill }, query, turn);
    },
    ...createOverlap({ snapshot: () => catalog.snapshot(), visible: visibleNow, searcher, readFile: readSkillFile }),
    async searchReady(query = '') {
      await Promise.all([searcher.prepare(visibleNow()), meaning?.ready(query)]);
    },
    async embedSkills({ signal = closing.signal, attempts = 3 } = {}) {
      assertOpen();
      const { skills } = catalog.snapshot();
      await meaning?.embed(skills, signal, attempts);
      return { embedded: meaning?.embedded(skills) ?? 0, total: skills.length };
    },
    ...reading,
    read: (skillId, readOptions, turn) =>
      reading.read(skillId, { audience: turn ? 'model' : 'person', ...readOptions }, turn),
    visible: (turn = {}, audience = 'model') =>
      audience === 'person' ? skillsInScope(catalog.snapshot(), turn) : visible(turn),
    async apply(skillId, args, turn, { dir } = {}) {
      const { skill_id, content } = await reading.read(skillId, { audience: 'person' }, turn);
      const skill = skillNamed(catalog.snapshot(), skill_id);
      const { applyMessage } = await import('./skill/apply-message.ts');
      return applyMessage(skill_id, content, args, { names: skill?.arguments ?? [], dir: dir ?? skill?.dir ?? null });
    },
    async context(prompt, turn = {}) {
      // As it is when asked, whatever changes until the parts for it are loaded.
      const skills = visibleNow(turn);
      return (await turnText())(skills, prompt, turn);
    },
    async contextCost() {
      const text = await registry.context('');
      const { ENFORCEMENT } = await import('./context/enforcement.ts');
      const enforcement = text?.includes(ENFORCEMENT) ? await countTokens(ENFORCEMENT) : 0;
      return { tokens: text === null ? 0 : await countTokens(text), enforcement };
    },
    addSource: createAddSource({ catalog, taken, makeAll, closed: closing.signal }),
    async resolveRolePrompt(role, { templates = 'templates/roles', variables = {} } = {}) {
      assertOpen();
      return (await roles()).resolve(role, futureRealPath(resolve(root, templates)), variables);
    },
    tools: (names = config.tools) => makeTools(names, registry),
    refresh: catalog.refresh,
    snapshot: catalog.snapshot,
    problems: () =>
      frozen([
        ...configProblems,
        ...catalog.snapshot().problems,
        ...ledger.problems(catalog.snapshot()),
        ...watchProblems.values(),
        ...records.problems(),
        ...storeProblems(root),
        ...cacheProblems(cacheFile, cache),
        ...(meaning?.problems() ?? []),
        ...hooks.problems(),
      ]),
    async tokenCounts({ bodies = true, atMost = Number.POSITIVE_INFINITY } = {}) {
      assertOpen();
      return ledger.count(catalog.snapshot(), { bodies, atMost });
    },
    proposals: {
      ...records.proposals,
      onArrival: (listener) =>
        records.proposals.onArrival((proposal) => void hooks.call('onArrival', () => listener(frozen(proposal)))),
    },
    history: records.history,
    management: records.management,
    readPolicies: (paths, turn) => readPoliciesOf(paths, turn, shelf),
    writePolicy: (path) => writePolicyOf(path, catalog.snapshot(), catalog.sources(), config.writes),
    async watch(signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      const onMode = (mode: 'events' | 'poll', problem?: string): void => {
        watching = mode;
        if (problem) noteWatchProblem(problem);
      };
      const onError = (error: unknown): void => noteWatchProblem(String(error));
      const scanDepth = config.limits.scan_depth;
      const count = (): void => {
        ledger.countInBackground(catalog.snapshot(), ended, tellProblems).catch(onError);
      };
      const prepare = (): void => {
        searcher.prepare(visible({})).catch(onError);
        meaning?.keepEmbedded(catalog.snapshot().skills, ended).catch(onError);
      };
      const unsubscribers = [catalog.onChange(count), catalog.onChange(prepare)];
      count();
      prepare();
      const kept =
        config.watch.mode === 'off' || whyNoSqlite() !== undefined
          ? undefined
          : records.keep(ended, catalog.onChange, tellProblems);
      await watchCatalog({ catalog, watch: config.watch, scanDepth, onMode, onError }, ended);
      await kept;
      for (const unsubscribe of unsubscribers) unsubscribe();
      watching = 'off';
    },
    watching: () => watching,
    onChange: (listener) => catalog.onChange(listener),
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      const scanned = catalog.close();
      await records.close();
      searcher.close();
      meaning?.close();
      skillFiles.flush();
      ledger.flush();
      cache.close();
      await scanned;
      // Last: until here something may still read.
      ownData.release();
    },
  };
  await records.recover();
  await registry.refresh();
  told = new Set(registry.problems().map(keyOf));
  isOpen = true;
  catalog.onChange(tellProblems);
  return registry;
}

// --- internal ---

/** Everything that is kept in cache.db. */
const SCHEMAS: readonly string[] = [
  CONFIG_SCHEMA,
  SKILL_FILES_SCHEMA,
  TOKEN_COUNTS_SCHEMA,
  INDEX_SCHEMA,
  VECTOR_SCHEMA,
];

function keyOf({ code, file, line, message }: Problem): string {
  return JSON.stringify([code, file, line, message]);
}
