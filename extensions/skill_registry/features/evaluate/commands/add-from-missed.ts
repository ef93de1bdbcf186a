import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  type Options,
} from '../../../../../lib/command-line/index.ts';
import { plural, printable } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { TRIGGER_FILE, triggerRows } from '../overlap/trigger-queries.ts';

/** Asks about each sentence that is kept. With yes it goes into a proposal of trigger cases, one for each skill. */
export async function addFromMissed(options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  const { ask, say } = terminal;
  if (!ask) throw invalidArgument('There is no terminal to ask at, and a person has to see each sentence first.');
  const { registry } = await terminal.openRegistry(options);
  const kept = registry.admin.keptQueries();
  const all = (await kept?.list()) ?? [];
  if (all.length === 0) say(kept ? NONE : NOT_KEPT);
  const chosen = new Map<string, string[]>();
  for (const [index, one] of all.entries()) {
    const { skillId, query } = one;
    terminal.err(
      `\n${index + 1} of ${all.length}, for ${printable(skillId)}:\n  ${printable(JSON.stringify(query))}\n`,
    );
    const answer = await ask('Is it a case for this skill? y yes, n no and forget it, anything else: later [y/n] ');
    if (answer === undefined) break;
    if (/^no?$/i.test(answer.trim())) await kept?.forget(one);
    if (/^y(es)?$/i.test(answer.trim())) chosen.set(skillId, [...(chosen.get(skillId) ?? []), query]);
  }
  const { by } = actorOf(options, terminal);
  const made: { readonly skill_id: string; readonly proposal_id: string; readonly cases: number }[] = [];
  for (const [skillId, queries] of chosen) {
    try {
      const proposal_id = await propose(registry, skillId, queries, by);
      for (const query of queries) await kept?.forget({ skillId, query });
      made.push({ skill_id: skillId, proposal_id, cases: queries.length });
      say(`${skillId}: ${plural(queries.length, 'trigger case')} proposed, ${proposal_id}`);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      say(`${skillId}: ${describeError(error)}`);
    }
  }
  terminal.print({ proposals: made });
  return made.length === chosen.size ? EXIT.done : EXIT.problem;
}

// --- internal ---

const NONE = 'No sentence is kept of a skill that was missed.';
const NOT_KEPT =
  'Nothing is kept of what was asked. usage: { queries: keep } in the config keeps it from then on, for 30 days and on this machine only.';
const WHY = 'The skill fitted what was asked in these words, was offered, and was not loaded.';

async function propose(
  { proposals, readResource }: SkillRegistry,
  skillId: string,
  queries: readonly string[],
  author: string,
): Promise<string> {
  const isThere = await readResource(skillId, TRIGGER_FILE).catch((error: unknown) => {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return undefined;
    throw error;
  });
  const content = isThere ? (present: string) => withCases(present, queries) : withCases('[]', queries);
  const change = { skillId, path: TRIGGER_FILE, content, justification: WHY, author };
  return (await proposals.propose(change)).proposalId;
}

function withCases(present: string, queries: readonly string[]): string {
  try {
    const rows = triggerRows(present);
    const added = queries.filter((query) => !rows.some((row) => row.query === query));
    const all = [...rows, ...added.map((query) => ({ query, should_trigger: true }))];
    return `${JSON.stringify(triggerRows(JSON.stringify(all)), null, 2)}\n`;
  } catch (error) {
    throw notAdded(error);
  }
}

function notAdded(cause: unknown): CodedError<'TRIGGER_EVAL_INVALID'> {
  const message = `No case can be added to ${TRIGGER_FILE}: it would be no list of at most 500 cases.`;
  return new CodedError('TRIGGER_EVAL_INVALID', message, {}, cause);
}
