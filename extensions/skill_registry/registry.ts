import { resolve } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { futureRealPath } from '../../lib/files/index.ts';
import { countTokens } from '../../lib/text/index.ts';
import type { SkillRegistry } from './api.ts';
import { createAddSource } from './catalog/add-source.ts';
import { frozen } from './catalog/read-only.ts';
import { skillNamed } from './catalog/snapshot.ts';
import { writePolicyOf } from './history/write-policy.ts';
import { openParts, type Parts, type SkillRegistryOptions } from './parts.ts';
import { readPoliciesOf } from './read/read-policy.ts';
import { createRoleResolver } from './read/roles.ts';
import { bodyIfThere } from './search/document.ts';
import { listSkills } from './search/list-skills.ts';
import { skillsInScope } from './show/scope.ts';
import { ENFORCEMENT } from './show/system-text.ts';
import { createTurnText } from './show/turn-text.ts';
import { applyMessage } from './skill/apply-message.ts';
import { registryClosed } from './skill/errors.ts';
import { makeTools } from './tools/index.ts';
import { createWatching, type Watching } from './watching.ts';

export type { SkillRegistryOptions };

/**
 * Opens a registry and loads its catalog. It needs no kernel; `watch` keeps it fresh, else `refresh` does.
 *
 * @returns once the first snapshot can serve. Broken skills, sources and config keys are in `problems()`.
 */
export async function createSkillRegistry(options: SkillRegistryOptions = {}): Promise<SkillRegistry> {
  let problems: ProblemTeller | undefined;
  const onProblem = (): void => problems?.tellNew();
  const parts = await openParts(options, onProblem);
  const watching = createWatching(parts, onProblem);
  const gather = () => frozen([...parts.problems(), ...watching.problems()]);
  problems = createProblemTeller(gather, parts.hooks.onProblem);
  const registry: SkillRegistry = {
    ...catalogOf(parts),
    ...parts.reading,
    ...readingOf(parts),
    ...searchOf(parts),
    ...parts.overlap,
    ...textsOf(parts),
    ...changesOf(parts),
    ...watchingOf(watching),
    problems: gather,
    tools: (names = parts.config.tools) => makeTools(names, registry),
    async close() {
      if (!parts.closing.signal.aborted) await parts.close();
    },
  };
  await parts.changes.recover();
  await registry.refresh();
  problems.begin();
  parts.catalog.onChange(onProblem);
  return registry;
}

// --- internal ---

type Part<Name extends keyof SkillRegistry> = Pick<SkillRegistry, Name>;

function catalogOf(parts: Parts): Part<'addSource' | 'config' | 'onChange' | 'refresh' | 'snapshot' | 'visible'> {
  const { catalog, closing, config, makeSources: makeAll, sourceIds: taken, visible } = parts;
  return {
    config: frozen(config),
    addSource: createAddSource({ catalog, taken, makeAll, closed: closing.signal }),
    onChange: (listener) => catalog.onChange(listener),
    refresh: () => catalog.refresh(),
    snapshot: () => catalog.snapshot(),
    visible: (turn = {}, audience = 'model') =>
      audience === 'person' ? skillsInScope(catalog.snapshot(), turn) : visible(turn),
  };
}

/** @throws REGISTRY_CLOSED. */
function assertOpen({ closing }: Pick<Parts, 'closing'>): void {
  if (closing.signal.aborted) throw registryClosed();
}

function readingOf({ catalog, closing, reading, root }: Parts): Part<'apply' | 'read' | 'resolveRolePrompt'> {
  const read: SkillRegistry['read'] = (skillId, options, turn) =>
    reading.read(skillId, { audience: turn ? 'model' : 'person', ...options }, turn);
  const roles = createRoleResolver({ read, snapshot: () => catalog.snapshot() });
  return {
    read,
    async apply(skillId, args, turn, { dir } = {}) {
      const { skill_id, content } = await reading.read(skillId, { audience: 'person' }, turn);
      const skill = skillNamed(catalog.snapshot(), skill_id);
      return applyMessage(skill_id, content, args, { names: skill?.arguments ?? [], dir: dir ?? skill?.dir ?? null });
    },
    async resolveRolePrompt(role, { templates = 'templates/roles', variables = {} } = {}) {
      assertOpen({ closing });
      return roles.resolve(role, futureRealPath(resolve(root, templates)), variables);
    },
  };
}

function searchOf(parts: Parts): Part<'embedSkills' | 'list' | 'searchReady'> {
  const { catalog, closing, meaning, readSkill, searcher, visible } = parts;
  return {
    list(query = {}, turn = {}) {
      if (query.query?.trim()) assertOpen(parts);
      const skillsFor: Parameters<typeof listSkills>[0]['skillsFor'] = (audience, of) =>
        audience === 'person' ? catalog.snapshot().skills : visible(of);
      return listSkills({ searcher, meaning, skillsFor, readSkill }, query, turn);
    },
    async searchReady(query = '') {
      assertOpen(parts);
      await Promise.all([searcher.prepare(visible({})), meaning?.ready(query)]);
    },
    async embedSkills({ signal = closing.signal } = {}) {
      assertOpen(parts);
      const { skills } = catalog.snapshot();
      await meaning?.embed(skills, signal);
      return { embedded: meaning?.embedded(skills) ?? 0, total: skills.length };
    },
  };
}

function textsOf(parts: Parts): Part<'context' | 'contextCost' | 'tokenCounts'> {
  const { catalog, config, meaning, readSkill, searcher, tokens, visible } = parts;
  const turnText = createTurnText({
    ...{ config, searcher, meaning },
    body: (skill) => bodyIfThere(skill, readSkill),
  });
  const context: SkillRegistry['context'] = async (prompt, turn = {}) => {
    assertOpen(parts);
    return turnText(visible(turn), prompt, turn);
  };
  return {
    context,
    async contextCost() {
      const text = await context('');
      const enforcement = text?.includes(ENFORCEMENT) ? await countTokens(ENFORCEMENT) : 0;
      return { tokens: text === null ? 0 : await countTokens(text), enforcement };
    },
    async tokenCounts({ bodies = true, atMost = Number.POSITIVE_INFINITY } = {}) {
      assertOpen(parts);
      return tokens.count(catalog.snapshot(), { bodies, atMost });
    },
  };
}

function changesOf(parts: Parts): Part<'history' | 'management' | 'proposals' | 'readPolicies' | 'writePolicy'> {
  const { catalog, changes, config, grants, hooks } = parts;
  return {
    proposals: {
      ...changes.proposals,
      onArrival: (listener) =>
        changes.proposals.onArrival((proposal) => void hooks.call('onArrival', () => listener(frozen(proposal)))),
    },
    history: changes.history,
    management: changes.management,
    readPolicies: (paths, turn) =>
      readPoliciesOf(paths, turn, {
        snapshot: () => catalog.snapshot(),
        granted: (of) => grants.of(of),
        sources: () => catalog.sources(),
        refresh: () => catalog.refresh(),
      }),
    writePolicy: (path) => writePolicyOf(path, catalog.snapshot(), catalog.sources(), config.writes),
  };
}

function watchingOf({ watch, watching }: Watching): Part<'watch' | 'watching'> {
  return { watch, watching };
}

/** Tells what is newly wrong, once. */
interface ProblemTeller {
  /** From now on what is new is told; what is there already is not. */
  begin(): void;
  /** Tells what is new since this was called last. Nothing before `begin`. */
  tellNew(): void;
}

/** @param gather - Everything that is wrong now. */
function createProblemTeller(gather: () => readonly Problem[], tell: (problem: Problem) => void): ProblemTeller {
  /** What was told and still holds: a problem that was mended and comes back is told again. */
  let told: ReadonlySet<string> | undefined;
  return {
    begin() {
      told = new Set(gather().map(keyOf));
    },
    tellNew() {
      if (!told) return;
      const [before, problems] = [told, gather()];
      told = new Set(problems.map(keyOf));
      for (const problem of problems) if (!before.has(keyOf(problem))) tell(problem);
    },
  };
}

function keyOf({ code, file, line, message }: Problem): string {
  return JSON.stringify([code, file, line, message]);
}
