import type { Problem } from 'skill-registry/kernel';
import { withNote, withoutHidden } from '../../lib/text/index.ts';
import { createAdmin } from './admin.ts';
import type { SkillRegistry } from './api.ts';
import { createAddSource } from './catalog/add-source.ts';
import { frozen } from './catalog/read-only.ts';
import { skillNamed } from './catalog/snapshot.ts';
import type { SkillRegistryOptions } from './options.ts';
import { assertOpen, openParts, type Parts } from './parts.ts';
import { bodyIfThere } from './search/document.ts';
import { listSkills } from './search/list-skills.ts';
import { givenSkills, skillsInScope } from './show/scope.ts';
import { createTurnText } from './show/turn-text.ts';
import { applyMessage } from './skill/apply-message.ts';
import type { Skill } from './skill/skill.ts';
import { makeTools } from './tools/index.ts';
import { createWatching } from './watching.ts';

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
  const reading = readingOf(parts);
  const search = searchOf(parts);
  const admin = createAdmin(parts, { ...reading, ...search }, watching);
  const registry: SkillRegistry = {
    ...catalogOf(parts),
    ...reading,
    ...search,
    ...changesOf(parts),
    watch: watching.watch,
    problems: gather,
    tools: (names = parts.config.tools) => makeTools(names, { ...admin, ...registry }),
    async close() {
      if (!parts.closing.signal.aborted) await parts.close();
    },
    admin,
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

function readingOf({ catalog, reading, told }: Parts): Part<'apply' | 'read' | 'readResource'> {
  return {
    read: (skillId, options, turn) => reading.read(skillId, { audience: turn ? 'model' : 'person', ...options }, turn),
    readResource: reading.readResource,
    async apply(skillId, args, turn, { dir } = {}) {
      const read = await reading.read(skillId, { audience: 'person' }, turn);
      const skill = skillNamed(catalog.snapshot(), read.skillId);
      const known = { names: skill?.arguments ?? [], dir: dir ?? skill?.dir ?? null };
      const isThere = turn !== undefined && skill !== undefined && told.apply(skill, turn);
      const text = applyMessage(read.skillId, read.content, args, known, isThere);
      return withNote({ text, leftOut: isThere ? 0 : (read.hiddenLeftOut ?? 0) });
    },
  };
}

function searchOf(parts: Parts): Part<'context' | 'list'> {
  const { catalog, config, meaning, readSkill, searcher, told, visible } = parts;
  const body = (skill: Skill): string | undefined => {
    const text = bodyIfThere(skill, readSkill);
    return text === undefined ? undefined : withNote(withoutHidden(text));
  };
  const turnText = createTurnText({ config, searcher, meaning, body, told });
  return {
    list(query = {}, turn = {}) {
      if (query.query?.trim()) assertOpen(parts);
      const skillsFor: Parameters<typeof listSkills>[0]['skillsFor'] = (audience, of) =>
        audience === 'person' ? catalog.snapshot().skills : visible(of);
      return listSkills({ searcher, meaning, skillsFor, readSkill }, query, turn);
    },
    async context(prompt, turn = {}) {
      assertOpen(parts);
      return turnText({ skills: visible(turn), given: givenSkills(catalog.snapshot(), turn) }, prompt, turn);
    },
  };
}

function changesOf({ changes, hooks }: Parts): Part<'history' | 'proposals'> {
  return {
    proposals: {
      ...changes.proposals,
      onArrival: (listener) =>
        changes.proposals.onArrival((proposal) => void hooks.call('onArrival', () => listener(frozen(proposal)))),
    },
    history: changes.history,
  };
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
