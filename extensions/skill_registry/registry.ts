import { join, resolve } from 'node:path';
import { countTokens, type Problem } from 'skill-registry/kernel';
import type { ListQuery, Skill, SkillList, SkillLoadedEvent, SkillRegistry } from './api.ts';
import { cacheFileOf, cacheProblems, createCache } from './cache.ts';
import { createCatalog } from './catalog/catalog.ts';
import { watchCatalog } from './catalog/watch.ts';
import type { SkillRegistryConfigInput, SourceConfig } from './config.ts';
import { ENFORCEMENT } from './context/enforcement.ts';
import { createGrants } from './context/grants.ts';
import { visibleSkills } from './context/scope.ts';
import { systemText } from './context/system-text.ts';
import { invalidArgument, registryClosed, skillNotFound } from './errors.ts';
import { CONFIG_SCHEMA, readConfigOnce } from './known-config.ts';
import { createReading } from './reading.ts';
import { createRoleResolver } from './roles.ts';
import { type Match, matchAll, matchAny, nearestIds } from './search/match.ts';
import { bodyOf } from './skill/frontmatter.ts';
import { shorten } from './skill/text.ts';
import { hostSurroundings } from './sources/host-surroundings.ts';
import { isSkillSource } from './sources/is-skill-source.ts';
import { freeId, makeSources } from './sources/make-sources.ts';
import { futureRealPath } from './sources/real-path.ts';
import { createSkillFileCache, SKILL_FILES_SCHEMA } from './sources/skill-file-cache.ts';
import type { SkillSource } from './sources/source.ts';
import { TOKEN_COUNTS_SCHEMA } from './token-count-store.ts';
import { createTokenLedger } from './token-ledger.ts';
import { makeTools } from './tools/index.ts';
import { writePolicyOf } from './write-policy.ts';

const MAX_LISTED_DESCRIPTION = 1024;

export interface SkillRegistryOptions {
  /** Relative source paths start here. Default: the current directory. */
  readonly root?: string;
  /** Every key has a default (docs/configuration.md). The kernel and the command read config.yaml; the library does not. */
  readonly config?: SkillRegistryConfigInput;
  /**
   * Where what can be made anew is kept. `disk`: in `<root>/data/skill_registry/cache.db`, so that the next process starts
   * warm; only where `root` has `data`, `extensions` or `skills`, else in memory. Default: `disk`.
   */
  readonly cache?: 'disk' | 'memory';
  /** What the gates of skills look for programs and variables in. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
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
  const cacheFile = options.cache === 'memory' ? undefined : cacheFileOf(root);
  const cache = createCache(cacheFile, [CONFIG_SCHEMA, SKILL_FILES_SCHEMA, TOKEN_COUNTS_SCHEMA]);
  const { config, problems: configProblems } = await readConfigOnce(options.config ?? {}, configFile, cache);
  const taken = new Set<string>();
  const skillFiles = createSkillFileCache(cache);
  const makeAll = (sources: readonly SourceConfig[]): readonly SkillSource[] =>
    makeSources(sources, {
      root,
      validation: config.validation,
      configFile,
      taken,
      cache: cacheFile === undefined ? undefined : skillFiles,
    });
  const catalog = createCatalog(makeAll(config.sources), {
    limits: config.limits,
    collision: config.collision,
    ...(config.gates.check ? { gates: () => hostSurroundings(options.environment, config.gates.settings) } : {}),
  });
  const grants = createGrants();
  const sourceOf = (skill: Skill) => catalog.sources().find(({ id }) => id === skill.source);
  const ledger = createTokenLedger(
    config.limits.skill_tokens,
    (skill) => sourceOf(skill)?.readSkill(skill, config.limits.file_bytes) ?? Buffer.alloc(0),
    cache,
  );
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
    list: (query = {}, turn = {}) => listSkills(visibleSkills(catalog.snapshot(), turn, grants.of(turn)), query),
    read: (skillId, readOptions, turn) => read(skillId, { audience: turn ? 'model' : 'person', ...readOptions }, turn),
    readResource,
    context(prompt, turn = {}) {
      const skills = visibleSkills(catalog.snapshot(), turn, grants.of(turn));
      const { pinned } = config.catalog;
      return systemText(skills, {
        inject: config.inject,
        catalog: config.catalog,
        maxBodyTokens: config.limits.skill_tokens,
        rank: () => [
          ...skills.filter((skill) => pinned.includes(skill.id)),
          ...matchAny(skills, prompt).map(({ skill }) => skill),
        ],
        body: (skill) => bodyIfThere(sourceOf(skill), skill, config.limits.file_bytes),
      });
    },
    async contextCost() {
      const text = await registry.context('');
      const enforcement = text?.includes(ENFORCEMENT) ? await countTokens(ENFORCEMENT) : 0;
      return { tokens: text === null ? 0 : await countTokens(text), enforcement };
    },
    async addSource(source, { signal } = {}) {
      signal?.throwIfAborted();
      if (closing.signal.aborted) throw registryClosed();
      const added = isSkillSource(source) ? [await adopt(source, taken)] : makeAll([await readSource(source)]);
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
      ...cacheProblems(cacheFile, cache),
    ],
    tokenCounts: ({ bodies = true, atMost = Number.POSITIVE_INFINITY } = {}) =>
      ledger.count(catalog.snapshot(), { bodies, atMost }),
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
      const count = (): void => {
        ledger.countInBackground(catalog.snapshot(), ended, tellProblems).catch(onError);
      };
      const unsubscribe = catalog.onChange(count);
      count();
      await watchCatalog({ catalog, watch: config.watch, scanDepth, onMode, onError }, ended);
      unsubscribe();
      watching = 'off';
    },
    watching: () => watching,
    onChange: (listener) => catalog.onChange(listener),
    async close() {
      closing.abort();
      skillFiles.flush();
      ledger.flush();
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

/** Its id stands before the colon of qualified ids. @throws INVALID_ARGUMENT. */
async function adopt(source: SkillSource, taken: Set<string>): Promise<SkillSource> {
  const { id } = source;
  const [{ isSourceId }, { adoptSource }] = await Promise.all([
    import('./config.ts'),
    import('./sources/adopted-source.ts'),
  ]);
  if (isSourceId(id)) return adoptSource(source, freeId(id, taken));
  throw invalidArgument(`The id of a source has letters, digits and @ . _ / - only, got ${JSON.stringify(id)}.`);
}

/** One source as a caller of the library or an extension gives it. @throws INVALID_ARGUMENT. */
async function readSource(given: unknown): Promise<SourceConfig> {
  const { readSourceConfig } = await import('./config.ts');
  const { source, problems } = readSourceConfig(given, ['source'], 'addSource');
  const [problem] = problems;
  if (problem || !source)
    throw invalidArgument(problem?.message ?? 'addSource takes an entry of sources, or a SkillSource.');
  return source;
}

function keyOf({ code, file, line, message }: Problem): string {
  return JSON.stringify([code, file, line, message]);
}

function listSkills(skills: readonly Skill[], { query, tag, source, limit = 20 }: ListQuery): SkillList {
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw invalidArgument(`limit must be 1-200, got ${limit}.`);
  const visible = skills.filter(
    (skill) => (tag === undefined || skill.tags.includes(tag)) && (source === undefined || skill.source === source),
  );
  const matches: readonly (Omit<Match, 'score'> & { score?: number })[] = query?.trim()
    ? matchAll(visible, query)
    : visible.map((skill) => ({ skill }));
  const listed = matches.slice(0, limit).map(({ skill, score }) => ({
    skill_id: skill.id,
    name: skill.name,
    // The model pays for every one of up to 200.
    description: shorten(skill.description, MAX_LISTED_DESCRIPTION),
    tags: skill.tags,
    source: skill.source,
    ...(score === undefined ? {} : { score: Number(score.toFixed(3)) }),
  }));
  return { skills: listed, total: matches.length, truncated: matches.length > listed.length };
}
