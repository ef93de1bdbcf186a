import type { Problem, TurnContext } from 'skill-registry/kernel';
import { createBreaks } from '../../lib/breaks/index.ts';
import { createAdmin } from './admin.ts';
import type { SkillRegistry } from './api.ts';
import { createWatching } from './background-work.ts';
import { createAddSource } from './catalog/add-source.ts';
import { copyForCallers, frozen } from './catalog/snapshot.ts';
import { withCheckedArguments } from './check-arguments.ts';
import { checkOptions } from './hooks.ts';
import type { SkillRegistryOptions } from './options.ts';
import { assertOpen, openParts, type Parts } from './parts.ts';
import { listSkills } from './search/list-skills.ts';
import { givenSkills, pendingSkills, skillsInScope } from './show/scope.ts';
import type { TurnText, TurnTextOptions } from './show/turn-text.ts';
import type { Skill } from './skill/skill.ts';
import { makeTools } from './tools/index.ts';
import { NOT_INSPECTED } from './trust/reasons.ts';
import type { Workflows } from './workflow/types.ts';
import { createWorkflows, workflowText } from './workflow/workflows.ts';

/**
 * Opens a registry and loads its catalog. It needs no kernel. `watch` keeps the catalog up to date; without it call `refresh`.
 *
 * @returns when the first snapshot is loaded. Broken skills, sources and config keys are in `problems()`.
 */
export async function createSkillRegistry(options: SkillRegistryOptions = {}): Promise<SkillRegistry> {
  checkOptions(options);
  // What is loaded first takes the slice of this turn, so the scan begins in another one.
  await createBreaks()();
  let problems: ProblemReporter | undefined;
  const onProblem = (): void => problems?.reportNew();
  const parts = await openParts(options, onProblem);
  const watching = createWatching(parts, onProblem);
  const gather = () => frozen([...parts.problems(), ...watching.problems()]);
  // Where nobody is told of new problems, none are gathered.
  if (parts.hooks.onProblem) problems = createProblemReporter(gather, parts.hooks.onProblem);
  const reading = readingOf(parts);
  const workflows = createWorkflows(() => parts.catalog.snapshot());
  const search = searchOf(parts, workflows);
  const admin = createAdmin(parts, workflows, { ...reading, ...search }, watching);
  const registry: SkillRegistry = {
    ...catalogOf(parts),
    ...reading,
    ...search,
    ...changesOf(parts),
    usage: { report: parts.usage.report, events: parts.usage.events },
    watch: watching.watch,
    problems: gather,
    tools: (names = parts.config.tools) => makeTools(names, { ...admin, ...registry }),
    async close() {
      if (!parts.closing.signal.aborted) await parts.close();
    },
    admin,
  };
  await parts.changes.recover();
  await parts.catalog.refresh();
  problems?.begin();
  if (problems) parts.catalog.onChange(onProblem);
  return withCheckedArguments(registry);
}

// --- internal ---

type Part<Name extends keyof SkillRegistry> = Pick<SkillRegistry, Name>;

function catalogOf(parts: Parts): Part<'addSource' | 'config' | 'onChange' | 'refresh' | 'snapshot' | 'visible'> {
  const { catalog, closing, config, makeSources: makeAll, sourceIds: taken, visible } = parts;
  return {
    config: frozen(config),
    addSource: createAddSource({ catalog, taken, makeAll, closed: closing.signal }),
    onChange: (listener) => catalog.onChange((ids, snapshot) => listener(ids, copyForCallers(snapshot))),
    refresh: async () => copyForCallers(await catalog.refresh()),
    snapshot: () => copyForCallers(catalog.snapshot()),
    visible: (turn = {}, audience = 'model') =>
      audience === 'person' ? skillsInScope(catalog.snapshot(), turn) : visible(turn),
  };
}

function readingOf(parts: Parts): Part<'apply' | 'read' | 'readResource'> {
  const { reading } = parts;
  return {
    read: (skillId, options, turn) => reading.read(skillId, { audience: turn ? 'model' : 'person', ...options }, turn),
    readResource: (skillId, path, turn) => reading.readResource(skillId, path, turn),
    async apply(...given) {
      const { prepareMessage } = await import('./read/prepare-message.ts');
      const { message, settled } = await prepareMessage(parts, ...given);
      settled(true);
      return message;
    },
  };
}

function searchOf(parts: Parts, workflows: Workflows): Part<'context' | 'list'> {
  const { catalog, config, grants, meaning, reading, readSkill, searcher, sentBodies, usage, visible } = parts;
  const pendingFor = (turn: TurnContext): readonly Skill[] => pendingSkills(catalog.snapshot(), turn, grants.of(turn));
  const onShown: TurnTextOptions['onShown'] = (listed, bodies, turn) => {
    usage.recorder.offered(listed, turn);
    for (const [skill, tokens] of bodies) usage.recorder.given(skill, tokens, turn);
  };
  let turnText: Promise<TurnText> | undefined;
  // Most commands write no text for a turn, and the modules for it take as long to load as a hundred skills.
  const loadTurnText = (): Promise<TurnText> => {
    turnText ??= import('./show/turn-text.ts').then(({ createTurnText }) =>
      createTurnText({ config, searcher, meaning, sentBodies, onShown }),
    );
    return turnText;
  };
  return {
    list(query = {}, turn = {}) {
      if (query.query?.trim()) assertOpen(parts);
      const isForPerson = query.audience === 'person';
      const skills = isForPerson ? catalog.snapshot().skills : visible(turn);
      const pending = isForPerson ? skills.filter(isPending) : pendingFor(turn);
      const found = listSkills({ searcher, meaning, readSkill }, skills, pending, query);
      if (!isForPerson)
        usage.recorder.offered(
          found.skills.map(({ skillId }) => skillId),
          turn,
        );
      return found;
    },
    async context(prompt, turn = {}) {
      assertOpen(parts);
      const read = new Map<Skill, Promise<string | undefined>>();
      const body = (skill: Skill): Promise<string | undefined> => {
        const text = read.get(skill) ?? reading.bodyForPrompt(skill);
        read.set(skill, text);
        return text;
      };
      // They are judged first, because a skill that is found to be held is not listed either.
      for (const skill of visible(turn)) if (skill.preload) await body(skill);
      // Read before the modules are loaded: the text shows the skills of the moment of the call.
      const given = givenSkills(catalog.snapshot(), turn);
      const seen = { skills: visible(turn), given, pending: pendingFor(turn).length, body };
      const position = turn.tools?.includes('workflow_event') ? workflows.position(turn) : undefined;
      const text = await (await loadTurnText())(seen, prompt, turn);
      return position ? [text ?? [], workflowText(position)].flat().join('\n\n') : text;
    },
  };
}

const isPending = ({ heldBecause }: Skill): boolean => heldBecause === NOT_INSPECTED;

function changesOf(parts: Parts): Part<'history' | 'origin' | 'proposals'> {
  const { changes, hooks } = parts;
  const { textAfter: _, onArrival, ...proposals } = changes.proposals;
  const { filesToRestore: __, ...history } = changes.history;
  // One by one: two harmless halves may become an attack together.
  let last: Promise<unknown> = Promise.resolve();
  const approveUnattended: typeof proposals.approve = async (...given) => {
    await (await import('./block-findings-after.ts')).assertNoAttack(parts, given[0]);
    return proposals.approve(...given);
  };
  return {
    proposals: {
      ...proposals,
      approve(id, actor) {
        if (actor.by.startsWith('person:')) return proposals.approve(id, actor);
        const approving = last.then(() => approveUnattended(id, actor));
        last = approving.catch(() => undefined);
        return approving;
      },
      onArrival: (listener) => onArrival((proposal) => void hooks.call('onArrival', () => listener(frozen(proposal)))),
    },
    history,
    origin: { ...changes.origin, publish: publishOf(parts) },
  };
}

/** It needs no history, so that it works where none can be opened. */
function publishOf(parts: Parts): SkillRegistry['origin']['publish'] {
  const { catalog, heldSkills, root } = parts;
  const context = {
    root,
    heldSkills,
    snapshot: () => catalog.snapshot(),
    sources: () => catalog.sources(),
    refresh: () => catalog.refresh(),
  };
  return async (options) => {
    assertOpen(parts);
    return (await import('./origin/publish/publish.ts')).publish(context, options);
  };
}

/** Reports each new problem once. */
interface ProblemReporter {
  /** Problems that exist now are not reported. */
  begin(): void;
  /** Reports the problems that are new since the last call. Does nothing before `begin`. */
  reportNew(): void;
}

/** @param gather - Gives all present problems. */
function createProblemReporter(gather: () => readonly Problem[], report: (problem: Problem) => void): ProblemReporter {
  /** The problems at the last call. A problem that ended and comes back is reported again. */
  let reported: readonly Problem[] | undefined;
  return {
    begin() {
      reported = gather();
    },
    reportNew() {
      if (!reported) return;
      const [before, problems] = [reported, gather()];
      reported = problems;
      const old = new Set(before);
      // Most are the same objects.
      const fresh = problems.filter((problem) => !old.has(problem));
      if (fresh.length === 0) return;
      const files = new Set(fresh.map(({ file }) => file));
      const known = new Set(before.filter(({ file }) => files.has(file)).map(problemKey));
      for (const problem of fresh) if (!known.has(problemKey(problem))) report(problem);
    },
  };
}

function problemKey({ code, file, line, message }: Problem): string {
  return JSON.stringify([code, file, line, message]);
}
