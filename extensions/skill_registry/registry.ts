import { join, resolve } from 'node:path';
import { countTokens, type Problem, type TurnContext } from 'skill-registry/kernel';
import type { Skill, SkillLoadedEvent, SkillRegistry } from './api.ts';
import { openCacheDatabase } from './cache-database.ts';
import { createCatalog } from './catalog/catalog.ts';
import { createPace } from './catalog/pace.ts';
import { watchCatalog } from './catalog/watch.ts';
import {
  isSourceId,
  readConfig,
  readSourceConfig,
  type SkillRegistryConfigInput,
  type SourceConfig,
} from './config.ts';
import { ENFORCEMENT } from './context/enforcement.ts';
import { createGrants } from './context/grants.ts';
import { createTurnText } from './context/turn-text.ts';
import { createVisibility } from './context/visibility.ts';
import { invalidArgument, registryClosed, skillNotFound } from './errors.ts';
import { openMeaning } from './open-meaning.ts';
import { createOverlap } from './overlap.ts';
import { createReading } from './reading.ts';
import { createRoleResolver } from './roles.ts';
import { INDEX_SCHEMA } from './search/index-schema.ts';
import { listSkills } from './search/list-skills.ts';
import { nearestIds } from './search/nearest-ids.ts';
import { createSearcher } from './search/searcher.ts';
import { VECTOR_SCHEMA } from './search/vector-schema.ts';
import { bodyOf } from './skill/frontmatter.ts';
import { adoptSource } from './sources/adopted-source.ts';
import { hostSurroundings } from './sources/host-surroundings.ts';
import { isSkillSource } from './sources/is-skill-source.ts';
import { freeId, makeSources } from './sources/make-sources.ts';
import { futureRealPath } from './sources/real-path.ts';
import type { SkillSource } from './sources/source.ts';
import { createTokenLedger } from './token-ledger.ts';
import { makeTools } from './tools/index.ts';
import { writePolicyOf } from './write-policy.ts';

export interface SkillRegistryOptions {
  /** Relative source paths start here. Default: the current directory. */
  readonly root?: string;
  /** Every key has a default (docs/configuration.md). The kernel and the command read config.yaml; the library does not. */
  readonly config?: SkillRegistryConfigInput;
  /** What the gates of skills look for programs and variables in. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Gives EMBEDDINGS_API_KEY, or MODEL_API_KEY with MODEL_BASE_URL when that is the endpoint. Default: there is no key. */
  readonly getSecret?: (name: string) => string | undefined;
  /** Told how far embedding has come, when it takes more than a second. Must not throw. */
  readonly onProgress?: (line: string) => void;
  /** Told of every load of a skill or a file of one. Must not throw. */
  readonly onSkillLoaded?: (event: SkillLoadedEvent) => void;
  /** Told once of each problem that was not there when the registry was opened. Must not throw. */
  readonly onProblem?: (problem: Problem) => void;
}

/**
 * Opens a registry and loads its catalog. It needs no kernel; `watch` keeps it fresh, else `refresh` does.
 *
 * @returns once the first snapshot can serve. Broken skills, sources and config keys are in `problems()`.
 */
export async function createSkillRegistry(options: SkillRegistryOptions = {}): Promise<SkillRegistry> {
  const root = resolve(options.root ?? '.');
  const configFile = join(root, 'data', 'skill_registry', 'config.yaml');
  const { config, problems: configProblems } = readConfig(options.config ?? {}, configFile);
  const taken = new Set<string>();
  const makeAll = (sources: readonly SourceConfig[]): readonly SkillSource[] =>
    makeSources(sources, { root, validation: config.validation, configFile, taken });
  const catalog = createCatalog(makeAll(config.sources), {
    limits: config.limits,
    collision: config.collision,
    ...(config.gates.check ? { gates: () => hostSurroundings(options.environment, config.gates.settings) } : {}),
  });
  const grants = createGrants();
  const sourceOf = (skill: Skill) => catalog.sources().find(({ id }) => id === skill.source);
  const readSkill = (skill: Skill): Buffer =>
    sourceOf(skill)?.readSkill(skill, config.limits.file_bytes) ?? Buffer.alloc(0);
  const readSkillFile = (skill: Skill, path: string, maxBytes: number): Buffer => {
    const source = sourceOf(skill);
    if (!source) throw skillNotFound(skill.id, []);
    return source.readResource(skill, path, maxBytes);
  };
  const ledger = createTokenLedger(config.limits.skill_tokens, readSkill);
  const schemas = [INDEX_SCHEMA, VECTOR_SCHEMA];
  const cache = openCacheDatabase(join(root, 'data', 'skill_registry', 'cache.db'), schemas);
  const spare = () => openCacheDatabase(':memory:', schemas);
  const searcher = createSearcher({ database: cache, spare, readSkill, pace: createPace });
  const meaning = openMeaning({
    config: config.embeddings,
    database: cache,
    configFile,
    readSkill,
    getSecret: (name) => options.getSecret?.(name),
    onProgress: (line) => options.onProgress?.(line),
    onProblems: () => tellProblems(),
  });
  const visible = createVisibility(() => catalog.snapshot(), grants);
  const skillsFor = (audience: 'model' | 'person', turn: TurnContext): readonly Skill[] =>
    audience === 'person' ? catalog.snapshot().skills : visible(turn);
  const turnText = createTurnText({
    config,
    visible,
    searcher,
    meaning,
    body: (skill) => bodyIfThere(sourceOf(skill), skill, config.limits.file_bytes),
  });
  const closing = new AbortController();
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
    const before = told;
    told = new Set(registry.problems().map(keyOf));
    for (const problem of registry.problems()) if (!before.has(keyOf(problem))) options.onProblem?.(problem);
  };
  const { read, readResource } = createReading(catalog, grants, config.limits, (event) =>
    options.onSkillLoaded?.(event),
  );

  const registry: SkillRegistry = {
    config,
    list(query = {}, turn = {}) {
      if (query.query?.trim() && closing.signal.aborted) throw registryClosed();
      return listSkills({ searcher, meaning, skillsFor, readSkill }, query, turn);
    },
    ...createOverlap({ snapshot: () => catalog.snapshot(), visible, searcher, readFile: readSkillFile }),
    async searchReady(query = '') {
      await Promise.all([searcher.prepare(visible({})), meaning?.ready(query)]);
    },
    async embedSkills({ signal = closing.signal, attempts = 3 } = {}) {
      if (closing.signal.aborted) throw registryClosed();
      const { skills } = catalog.snapshot();
      await meaning?.embed(skills, signal, attempts);
      return { embedded: meaning?.embedded(skills) ?? 0, total: skills.length };
    },
    read: (skillId, readOptions, turn) => read(skillId, { audience: turn ? 'model' : 'person', ...readOptions }, turn),
    readResource,
    context: (prompt, turn = {}) => turnText(prompt, turn),
    async contextCost() {
      const text = await registry.context('');
      const enforcement = text?.includes(ENFORCEMENT) ? await countTokens(ENFORCEMENT) : 0;
      return { tokens: text === null ? 0 : await countTokens(text), enforcement };
    },
    async addSource(source, { signal } = {}) {
      signal?.throwIfAborted();
      if (closing.signal.aborted) throw registryClosed();
      const added = isSkillSource(source)
        ? [adoptSource(source, freeId(checkedId(source.id), taken))]
        : makeAll([readSource(source)]);
      const ends = added.map((one) => catalog.addSource(one));
      let isThere = true;
      const takeAway = (): void => {
        isThere = false;
        for (const end of ends) end();
        for (const { id } of added) taken.delete(id);
      };
      try {
        await catalog.refresh();
      } catch (error) {
        takeAway();
        throw error;
      }
      const remove = async (): Promise<void> => {
        if (!isThere) return;
        takeAway();
        if (!closing.signal.aborted) await catalog.refresh();
      };
      const onAbort = (): void => void remove().catch(() => undefined);
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      return remove;
    },
    resolveRolePrompt: (role, { templates = 'templates/roles', variables = {} } = {}) =>
      roles.resolve(role, futureRealPath(resolve(root, templates)), variables),
    tools: () => makeTools(config.tools, registry),
    async refresh() {
      if (closing.signal.aborted) throw registryClosed();
      return catalog.refresh();
    },
    snapshot: () => catalog.snapshot(),
    problems: () => [
      ...configProblems,
      ...catalog.snapshot().problems,
      ...ledger.problems(catalog.snapshot()),
      ...watchProblems.values(),
      ...(meaning?.problems() ?? []),
    ],
    tokenCounts: ({ bodies = true } = {}) => ledger.count(catalog.snapshot(), bodies),
    resources(skillId) {
      const skill = catalog.snapshot().byId.get(skillId) ?? catalog.snapshot().byQualifiedId.get(skillId);
      if (!skill) throw skillNotFound(skillId, nearestIds(catalog.snapshot().byId.keys(), skillId));
      return sourceOf(skill)?.resources(skill) ?? [];
    },
    writePolicy: (path) => writePolicyOf(path, catalog.snapshot(), catalog.sources(), config.writes),
    async watch(signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      const onMode = (mode: 'events' | 'poll', problem?: string): void => {
        watching = mode;
        if (problem) noteWatchProblem(problem);
      };
      const onError = (error: unknown): void => noteWatchProblem(String(error));
      const scanDepth = config.limits.scan_depth;
      const countLarge = (): void => {
        ledger.countLarge(catalog.snapshot(), ended).then(tellProblems, onError);
      };
      const prepare = (): void => {
        searcher.prepare(visible({})).catch(onError);
        meaning?.embed(catalog.snapshot().skills, ended).catch(onError);
      };
      const unsubscribers = [catalog.onChange(countLarge), catalog.onChange(prepare)];
      countLarge();
      prepare();
      await watchCatalog({ catalog, watch: config.watch, scanDepth, onMode, onError }, ended);
      for (const unsubscribe of unsubscribers) unsubscribe();
      watching = 'off';
    },
    watching: () => watching,
    onChange: (listener) => catalog.onChange(listener),
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      searcher.close();
      meaning?.close();
      cache.close();
    },
  };
  const roles = createRoleResolver(registry);
  await registry.refresh();
  told = new Set(registry.problems().map(keyOf));
  catalog.onChange(tellProblems);
  return registry;
}

// --- internal ---

function bodyIfThere(source: SkillSource | undefined, skill: Skill, maxBytes: number): string | undefined {
  try {
    return source && bodyOf(source.readSkill(skill, maxBytes).toString('utf8'));
  } catch {
    // Gone since the snapshot; the next one will not have it.
    return undefined;
  }
}

/** It stands before the colon of qualified ids. @throws INVALID_ARGUMENT. */
function checkedId(id: string): string {
  if (isSourceId(id)) return id;
  throw invalidArgument(`The id of a source has letters, digits and @ . _ / - only, got ${JSON.stringify(id)}.`);
}

/** One source as a caller of the library or an extension gives it. @throws INVALID_ARGUMENT. */
function readSource(given: unknown): SourceConfig {
  const { source, problems } = readSourceConfig(given, ['source'], 'addSource');
  const [problem] = problems;
  if (problem || !source)
    throw invalidArgument(problem?.message ?? 'addSource takes an entry of sources, or a SkillSource.');
  return source;
}

function keyOf({ code, file, line, message }: Problem): string {
  return JSON.stringify([code, file, line, message]);
}
