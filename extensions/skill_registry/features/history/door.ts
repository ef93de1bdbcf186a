import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError, type TurnContext } from 'skill-registry/kernel';
import { checkArgument, type FieldsSchema, type Schema, schema } from '../../../../lib/arguments/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { whyNoSqlite } from '../../../../lib/sqlite/index.ts';
import { abortAfter, aborted } from '../../../../lib/waiting/index.ts';
import type { SkillRegistry, SkillRegistryAdmin } from '../../core/api.ts';
import { actor, by, revision, storedText, text, turn, words } from '../../core/checked-calls.ts';
import { among, type ConfigKey, section } from '../../core/config/config-keys.ts';
import { oneOf } from '../../core/config/readers.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import type { Finding } from '../../core/skill/guard.ts';
import { guard } from '../guard/door.ts';
import { commands } from './commands/index.ts';
import { countWaitingProposals, isAllFinished } from './journal/history-database.ts';
import { createHistoryFile } from './journal/history-file.ts';
import { createJudgedChanges, type JudgedChanges } from './judged-changes.ts';
import type { Joining, OpenChanges, RunChanges } from './open-changes.ts';
import type { ChangeToApprove, Decider, FileContent, InspectedChange, Writes } from './types.ts';
import type { WaitingChanges } from './waiting-changes.ts';
import { writePolicyOf } from './write-policy.ts';

export interface HistoryPart {
  readonly run: RunChanges;
  /** For a feature with changes of its own. @param load - Called when the history is opened. */
  join(load: () => Promise<Joining>): void;
  hasHistory(): boolean;
  /** In about 1 ms; 0 for a history that cannot be read. */
  waitingProposals(): Promise<number>;
  readonly judged: JudgedChanges;
  /** As `run`; says what an agent was refused. */
  noted<Result>(
    skillId: string,
    turn: TurnContext | undefined,
    work: (open: OpenChanges) => Promise<Result>,
  ): Promise<Result>;
}

/** The one writer of skills, its journal, revisions, and the way back. Needs the guard. */
export const history: Feature<HistoryPart> = {
  id: 'history',
  config: { keys: { writes: { ...writesKey(), after: 'watch' } } },
  open,
  commands: async () => commands,
};

export const decider: FieldsSchema<Decider> = schema((z) =>
  z.object({ by: by(), reason: storedText().optional(), inspected: z.string().nullish() }),
);

/** Makes the new text from the present one. Its result is checked like a text. */
export const newText: Schema<(present: string) => string> = schema((z) =>
  z
    .custom<(present: string) => string>((value) => typeof value === 'function', 'a function')
    .transform((make) => (present: string) => checkArgument('what the function gives', storedText, make(present))),
);

export const fileContent: Schema<FileContent> = schema((z) =>
  z.union([storedText(), z.null(), newText()], { error: 'a text, null or a function' }),
);

// --- internal ---

const AFTER_START_MS = 1_000;

function writesKey(): ConfigKey<Writes> {
  const mode = oneOf('allow', 'propose', 'deny');
  return section<Writes>(
    { create: mode, update: mode, delete: mode },
    { create: 'propose', update: 'propose', delete: 'deny' },
    { create: among('propose', 'deny'), update: among('propose', 'deny'), delete: among('deny') },
  );
}

const change: Schema<ChangeToApprove> = schema((z) =>
  z.union(
    [
      z.object({ proposalId: z.string() }),
      z.object({ skillId: z.string(), revision: revision() }),
      z.object({ restoredId: z.string() }),
    ],
    { error: 'a proposal, a revision or a removed skill' },
  ),
);
const finding = schema((z) => z.custom<Finding>((value) => value instanceof Object, 'an object'));
const inspectedChange: Schema<InspectedChange> = schema((z) =>
  z.object({ blocks: z.array(finding()), digest: z.string().nullable() }),
);

function open(core: Core): Opened<HistoryPart> {
  const { call, catalog, config, dataDir, trusted } = core;
  const { heldSkills, alsoHolds } = core.of(guard);
  const changes = changesOf(core);
  const { hasHistory, run } = changes;
  const judged = createJudgedChanges(core, run, heldSkills);
  const noted = createNoted(core, run);
  let waiting: WaitingChanges | undefined;
  const renew = async (): Promise<void> => {
    // Loading takes time, and most roots that nobody has approved have no history.
    if (trusted || !(waiting || hasHistory())) return;
    const { openWaitingChanges } = await import('./waiting-changes.ts');
    if (core.closing.signal.aborted) return;
    waiting ??= openWaitingChanges(core.root, dataDir);
    waiting.renew();
  };
  if (!trusted) alsoHolds({ heldBecause: (skill) => waiting?.heldBecause(skill), renew });
  return {
    part: { ...changes, judged, noted },
    registry: { history: historyFunctions(core, run, judged) },
    admin: {
      management: managementFunctions(core, run, noted),
      writePolicy: call.now('admin.writePolicy(path)', [text], (path) =>
        writePolicyOf(path, catalog.snapshot(), catalog.sources(), config.writes),
      ),
      blockFindingsAfter: call.later('admin.blockFindingsAfter(change)', [change], (one) => judged.inspectAfter(one)),
      allowShown: call.later('admin.allowShown(change, shown, actor)', [change, inspectedChange, actor], (...given) =>
        judged.allowShown(...given),
      ),
    },
    reviewPages: async () => (await import('./pages.ts')).historyPages,
    problems: () => [...(waiting?.problems() ?? []), ...changes.problems()],
    beforeScan: renew,
    recover: changes.recover,
    async background(signal) {
      if (config.watch.mode === 'off' || whyNoSqlite() !== undefined) return;
      // Loads much code and reads every skill.
      await aborted(abortAfter(AFTER_START_MS, signal));
      if (!signal.aborted)
        await run(({ keep }) => keep(signal, (listener) => catalog.onChange(listener), core.onProblem));
    },
    async close() {
      await changes.close();
      waiting?.close();
    },
  };
}

function changesOf(core: Core) {
  const { dataDir, trusted } = core;
  const joined: (() => Promise<Joining>)[] = [];
  let opening: Promise<OpenChanges> | undefined;
  let opened: OpenChanges | undefined;
  const load = async (): Promise<OpenChanges> => {
    const { openChanges } = await import('./open-changes.ts');
    const joinings = await Promise.all(joined.map((one) => one()));
    const changes = openChanges(core, joinings);
    for (const joining of joinings) joining.open?.(changes.context);
    opened = changes;
    return changes;
  };
  const run: RunChanges = async (work) => {
    core.assertOpen();
    opening ??= load();
    const changes = await opening;
    try {
      return await work(changes);
    } catch (error) {
      throw changes.context.writer.explain(error);
    }
  };
  const file = join(dataDir, 'history.db');
  const hasHistory = (): boolean => existsSync(file) && whyNoSqlite() === undefined;
  return {
    run,
    join: (one: () => Promise<Joining>): void => void joined.push(one),
    hasHistory,
    async recover() {
      // Asks only the database: a start with nothing to recover loads no more code.
      if (trusted && hasHistory() && !isAllFinished(file)) await run((changes) => changes.recover());
    },
    async waitingProposals() {
      if (!hasHistory()) return 0;
      const history = createHistoryFile(file, !trusted);
      // Where it cannot be read, `list` throws the reason.
      const count = withFallback(() => countWaitingProposals(history.reading()), 0);
      history.close();
      return count;
    },
    problems: () => opened?.problems() ?? [],
    async close() {
      (await opening)?.context.writer.close();
    },
  };
}

function historyFunctions({ call: { later } }: Core, run: RunChanges, judged: JudgedChanges): SkillRegistry['history'] {
  return {
    revisions: later('history.revisions(skillId)', [text], (id) => run((open) => open.history.revisions(id))),
    revision: later('history.revision(skillId, revision)', [text, revision], (id, number) =>
      run((open) => open.history.revision(id, number)),
    ),
    read: later('history.read(skillId, revision, path)', [text, revision, words], (id, number, path) =>
      run((open) => open.history.read(id, number, path)),
    ),
    diff: later('history.diff(skillId, a, b)', [text, revision, revision], (id, a, b) =>
      run((open) => open.history.diff(id, a, b)),
    ),
    rollback: later('history.rollback(skillId, revision, actor)', [text, revision, decider], (id, number, by) =>
      judged.decided({ skillId: id, revision: number }, by, (inspected) =>
        run((open) => open.history.rollback(id, number, { ...by, ...inspected })),
      ),
    ),
    restore: later('history.restore(skillId, actor)', [text, decider], (id, by) =>
      judged.decided({ restoredId: id }, by, (inspected) =>
        run((open) => open.history.restore(id, { ...by, ...inspected })),
      ),
    ),
  };
}

function managementFunctions(
  { call: { later } }: Core,
  run: RunChanges,
  noted: HistoryPart['noted'],
): SkillRegistryAdmin['management'] {
  return {
    create: later('management.create(skillId, content, actor)', [text, storedText, actor], (id, content, by) =>
      run(({ management }) => management.create(id, content, by)),
    ),
    add: later('management.add(path, content, actor)', [text, storedText, actor], (path, content, by) =>
      run(({ management }) => management.add(path, content, by)),
    ),
    write: later(
      'management.write(skillId, path, content, actor, turn)',
      [text, text, fileContent, actor, turn],
      (id, path, content, by, ofTurn) =>
        noted(id, ofTurn, ({ management }) => management.write(id, path, content, by, ofTurn)),
    ),
    repair: later('management.repair(skillId, shown, actor)', [text, storedText, actor], (id, shown, by) =>
      run(({ management }) => management.repair(id, shown, by)),
    ),
    remove: later('management.remove(skillId, actor, turn)', [text, actor, turn], (id, by, ofTurn) =>
      noted(id, ofTurn, ({ management }) => management.remove(id, by, ofTurn)),
    ),
  };
}

function createNoted({ events, scopes }: Core, run: RunChanges): HistoryPart['noted'] {
  return async (skillId, turn, work) => {
    try {
      return await run(work);
    } catch (error) {
      if (!turn) throw error;
      const refusal = isCodedError(error, 'SKILL_NOT_FOUND') ? scopes.find(skillId, turn).refusal : undefined;
      const outcome = refusal ?? (isCodedError(error) ? error.code : 'OTHER');
      const { agentId, threadId = turn.connectionId } = turn;
      events.emit('refused', { kind: refusal ? 'refusal' : 'failure', skillId, outcome, agentId, threadId });
      throw error;
    }
  };
}
