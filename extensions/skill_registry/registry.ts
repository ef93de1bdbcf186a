import { join, resolve } from 'node:path';
import { isInside, type Problem, type TurnContext } from 'skill-registry/kernel';
import type { ListQuery, Skill, SkillList, SkillLoadedEvent, SkillRegistry, Snapshot, WritePolicy } from './api.ts';
import { createCatalog } from './catalog/catalog.ts';
import { watchCatalog } from './catalog/watch.ts';
import { readConfig, type SkillRegistryConfigInput } from './config.ts';
import { catalogText } from './context/catalog-text.ts';
import { visibleSkills } from './context/scope.ts';
import { invalidArgument, registryClosed, skillNotFound } from './errors.ts';
import { createReading } from './reading.ts';
import { type Match, matchAll, matchAny, nearestIds } from './search/match.ts';
import { makeSources } from './sources/make-sources.ts';
import { createTokenLedger } from './token-ledger.ts';
import { makeTools } from './tools/index.ts';

export interface SkillRegistryOptions {
  /** Relative source paths start here. Default: the current directory. */
  readonly root?: string;
  /** Every key has a default (docs/configuration.md). The kernel and the command read config.yaml; the library does not. */
  readonly config?: SkillRegistryConfigInput;
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
  const catalog = createCatalog(makeSources(config.sources, root), config.limits);
  const sourceOf = (skill: Skill) => catalog.sources.find(({ id }) => id === skill.source);
  const ledger = createTokenLedger(
    config.limits.skill_tokens,
    (skill) => sourceOf(skill)?.readSkill(skill, config.limits.file_bytes) ?? Buffer.alloc(0),
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
  const { read, readResource } = createReading(catalog, config.limits, (event) => options.onSkillLoaded?.(event));

  const registry: SkillRegistry = {
    config,
    list: (query = {}, turn) => listSkills(catalog.snapshot(), query, turn),
    read: (skillId, readOptions, turn) => read(skillId, { audience: turn ? 'model' : 'person', ...readOptions }, turn),
    readResource,
    context(prompt, turn = {}) {
      const skills = visibleSkills(catalog.snapshot(), turn);
      const { budget_tokens, pinned } = config.catalog;
      const rank = (): readonly Skill[] => [
        ...skills.filter((skill) => pinned.includes(skill.id)),
        ...matchAny(skills, prompt).map(({ skill }) => skill),
      ];
      return catalogText(skills, { budgetTokens: budget_tokens, rank });
    },
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
    ],
    tokenCounts: ({ bodies = true } = {}) => ledger.count(catalog.snapshot(), bodies),
    resources(skillId) {
      const skill = catalog.snapshot().byId.get(skillId) ?? catalog.snapshot().byQualifiedId.get(skillId);
      if (!skill) throw skillNotFound(skillId, nearestIds(catalog.snapshot().byId.keys(), skillId));
      return sourceOf(skill)?.resources(skill) ?? [];
    },
    writePolicy: (path) => policyOf(path, catalog.snapshot(), catalog.sources, config.writes),
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
      const unsubscribe = catalog.onChange(countLarge);
      countLarge();
      await watchCatalog({ catalog, watch: config.watch, scanDepth, onMode, onError }, ended);
      unsubscribe();
      watching = 'off';
    },
    watching: () => watching,
    onChange: (listener) => catalog.onChange(listener),
    async close() {
      closing.abort();
    },
  };
  await registry.refresh();
  told = new Set(registry.problems().map(keyOf));
  catalog.onChange(tellProblems);
  return registry;
}

// --- internal ---

function keyOf({ code, file, line, message }: Problem): string {
  return JSON.stringify([code, file, line, message]);
}

function listSkills(
  snapshot: Snapshot,
  { query, tag, source, limit = 20 }: ListQuery,
  turn: TurnContext = {},
): SkillList {
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw invalidArgument(`limit must be 1-200, got ${limit}.`);
  const visible = visibleSkills(snapshot, turn).filter(
    (skill) => (tag === undefined || skill.tags.includes(tag)) && (source === undefined || skill.source === source),
  );
  const matches: readonly (Omit<Match, 'score'> & { score?: number })[] = query?.trim()
    ? matchAll(visible, query)
    : visible.map((skill) => ({ skill }));
  const skills = matches.slice(0, limit).map(({ skill, score }) => ({
    skill_id: skill.id,
    name: skill.name,
    description: skill.description,
    tags: skill.tags,
    source: skill.source,
    ...(score === undefined ? {} : { score: Number(score.toFixed(3)) }),
  }));
  return { skills, total: matches.length, truncated: matches.length > skills.length };
}

/** A path in a skill changes that skill; one elsewhere in a source creates one. */
function policyOf(
  path: string,
  { byQualifiedId }: Snapshot,
  sources: ReturnType<typeof createCatalog>['sources'],
  writes: SkillRegistry['config']['writes'],
): WritePolicy | undefined {
  const source = sources.find((candidate) => candidate.contains(path));
  if (!source) return undefined;
  const known = [...byQualifiedId.values()].some((skill) => isInside(path, skill.dir));
  const action = known ? 'update' : 'create';
  return { action, policy: writes[action], source: source.id };
}
