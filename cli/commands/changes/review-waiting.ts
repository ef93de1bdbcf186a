import type { Proposal, SkillRegistry } from 'skill-registry';
import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { shownProposal } from '../../../extensions/skill_registry/evaluate/describe.ts';
import { subjectOf } from '../../../extensions/skill_registry/propose/describe.ts';
import { allHeld, describeHeld, heldExtension, ownExtensionIds, undoApprovals } from '../../../kernel/host.ts';
import { forTerminal, printable } from '../../../lib/text/index.ts';
import { describeTrust } from '../../held-text.ts';
import { openRegistry } from '../../open-registry.ts';
import {
  actorOf,
  type DecisionOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  isConfirmed,
  printJson,
  type Terminal,
} from '../../terminal.ts';
import { approveShownExtension, EXTENSION_QUESTION } from '../extensions.ts';
import { decideShown, SKILL_QUESTION } from '../trust.ts';
import { approveShown, rejectShown, showBlockFindings, withWarnings } from './decide-proposal.ts';
import { editWaiting } from './edit-proposal.ts';

export type ReviewWaitingOptions = GlobalOptions & Pick<DecisionOptions, 'by'>;

/**
 * `skill-registry proposals review`: shows what waits, one after the other, and asks. With `--json`: `{ decided: [{ kind: proposal, skill or
 * extension, id, skill_id?, decision: approved or rejected }], waiting }`.
 */
export async function reviewWaiting(options: ReviewWaitingOptions, terminal: Terminal): Promise<ExitStatus> {
  const { ask } = terminal;
  if (!ask) throw new CodedError('INVALID_ARGUMENT', WITHOUT_TERMINAL);
  const opened = await openRegistry(options, terminal);
  const room: Room = { ...opened, options, terminal: { ...terminal, ask } };
  const { proposals, unreadable, held } = await opened.registry.admin.waiting();
  if (unreadable !== null) terminal.err(`The proposals cannot be read. ${printable(unreadable)}\n`);
  if (opened.trusted) undoApprovals(opened.root);
  const extensions = allHeld(opened.root);
  for (const { message } of extensions.unreadable) terminal.err(`${printable(message)}\n`);
  const waiting: readonly Waiting[] = [
    ...proposals.map(({ id }) => proposalThatWaits(id, room)),
    ...held.map(({ qualifiedId }) => skillThatWaits(qualifiedId, room)),
    ...extensions.held.map(({ name }) => extensionThatWaits(name, room)),
  ];
  const decided: Decided[] = [];
  let [left, gone] = [false, 0];
  for (const [index, one] of waiting.entries()) {
    terminal.err(`${ruler(`${index + 1} of ${waiting.length}`, terminal)}\n`);
    const outcome = await decideOn(one, room.terminal);
    if (outcome === 'gone') gone += 1;
    else if (typeof outcome === 'object') decided.push(outcome);
    left = outcome === 'ended';
    if (left || outcome === 'quit') break;
  }
  const still = waiting.length - decided.length - gone;
  await opened.registry.close();
  if (options.json) printJson(terminal, { decided, waiting: still });
  terminal.err(`${summary(decided, still)}\n`);
  return left || unreadable !== null ? EXIT.problem : EXIT.done;
}

// --- internal ---

const WITHOUT_TERMINAL =
  'There is no terminal to ask at. See what waits with skill-registry proposals list, trust list and extensions list, and decide with skill-registry proposals approve <id>, proposals reject <id> --reason <text>, trust allow <id> --digest <digest> and extensions approve <name> --digest <digest>.';

const NOT_TYPED = 'Nothing was decided: the id of the skill was not typed.';

type AskingTerminal = Terminal & Pick<Required<Terminal>, 'ask'>;

interface Room {
  readonly root: string;
  readonly trusted: boolean;
  readonly registry: SkillRegistry;
  readonly options: ReviewWaitingOptions;
  readonly terminal: AskingTerminal;
}

interface Decided {
  readonly kind: 'proposal' | 'skill' | 'extension';
  readonly id: string;
  readonly skill_id?: string;
  readonly decision: 'approved' | 'rejected';
}

/** What a person may answer: a letter, what it means, and what it does. `undefined`, or a text to say with it: it is shown again. */
interface Answer {
  readonly key: string;
  readonly means: string;
  act(): Promise<Decided | string | undefined> | Decided | undefined;
}

interface Shown {
  readonly question: string;
  readonly answers: readonly Answer[];
}

interface Waiting {
  /** Shows it as it is now. @returns what to ask; undefined when it waits no more, which was said. */
  show(): Promise<Shown | undefined>;
}

type Outcome = Decided | 'skipped' | 'quit' | 'ended' | 'gone';

/** Shows a proposal and asks until there is an answer. After a failure it prints the reason and shows the proposal again. */
async function decideOn(one: Waiting, { ask, err }: AskingTerminal): Promise<Outcome> {
  let lastFailure = '';
  for (;;) {
    const shown = await shownBy(one, err);
    if (typeof shown === 'string') return shown;
    const answers = [...shown.answers, { key: 's', means: 'skip' }, { key: 'q', means: 'quit' }];
    const keys = answers.map(({ key }) => key).join('/');
    const question = `${lastFailure}${shown.question} ${answers.map(({ key, means }) => `${key} ${means}`).join(', ')} [${keys}] `;
    lastFailure = '';
    let answer: Partial<Answer> | undefined;
    do {
      const typed = await ask(question);
      if (typed === undefined) return 'ended';
      answer = answers.find(({ key, means }) => [key, means].includes(typed.trim().toLowerCase()));
    } while (!answer);
    if (answer.key === 's') return 'skipped';
    if (answer.key === 'q') return 'quit';
    try {
      const decided = await answer.act?.();
      if (typeof decided === 'object') return decided;
      lastFailure = decided === undefined ? '' : `${decided}\n`;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      lastFailure = `${printable(describeError(error))}\n`;
      err('\n');
    }
  }
}

/** Shows it. One that cannot be shown still waits. */
async function shownBy(one: Waiting, err: Terminal['err']): Promise<Shown | 'gone' | 'skipped'> {
  try {
    return (await one.show()) ?? 'gone';
  } catch (error) {
    if (!isCodedError(error)) throw error;
    err(`${printable(describeError(error))}\n`);
    return error.code === 'SKILL_NOT_FOUND' ? 'gone' : 'skipped';
  }
}

function proposalThatWaits(id: string, { registry, options, terminal }: Room): Waiting {
  const decided = ({ skillId }: Proposal, decision: Decided['decision']): Decided => ({
    kind: 'proposal',
    id,
    skill_id: skillId,
    decision,
  });
  return {
    async show() {
      const proposal = await registry.proposals.get(id);
      const { state, decision, skillId } = proposal;
      if (decision) {
        terminal.err(printable(`${id} (${skillId}) was ${state} meanwhile, by ${decision.by}\n`));
        return undefined;
      }
      terminal.err(`${forTerminal(await shownProposal(registry.admin, proposal), terminal, terminal.progress)}\n\n`);
      const blocks = await showBlockFindings(registry, proposal, terminal);
      const isAttack = blocks.length > 0;
      const approve: Answer = {
        key: 'y',
        means: 'approve',
        async act() {
          if (isAttack && !(await isConfirmed(terminal, 'Approve it?', skillId))) return NOT_TYPED;
          await approveShown(registry, proposal, blocks, actorOf(options, terminal), terminal);
          return decided(proposal, 'approved');
        },
      };
      const reject: Answer = {
        key: 'n',
        means: 'reject',
        async act() {
          const reason = (await terminal.ask('Why is it rejected? Its author is shown this: '))?.trim();
          if (!reason) return 'Nothing was decided: a rejection needs a reason.';
          await rejectShown(registry, proposal, { ...actorOf(options, terminal), reason }, terminal);
          return decided(proposal, 'rejected');
        },
      };
      const edit: Answer = {
        key: 'e',
        means: 'edit',
        async act() {
          await editWaiting(registry, id, options, terminal);
          return undefined;
        },
      };
      const what = printable(`${id}: ${subjectOf(proposal)}${withWarnings(proposal, blocks)}`);
      const others = proposal.editable ? [edit] : [];
      // A proposal that no longer applies cannot be approved.
      if (state !== 'open') return { question: `${what}, does not apply any more:`, answers: [reject, ...others] };
      const answers = isAttack ? [reject, approve, ...others] : [approve, reject, ...others];
      return { question: `${what}:`, answers };
    },
  };
}

function skillThatWaits(id: string, { registry, options, terminal }: Room): Waiting {
  return {
    async show() {
      const found = await registry.admin.trustOf(id);
      terminal.err(`${describeTrust(found)}\n\n`);
      if (found.heldBecause === null) return undefined;
      const allow: Answer = {
        key: 'y',
        means: 'allow',
        async act() {
          const { digest, skillId, verdict } = found;
          if (verdict === 'block' && !(await isConfirmed(terminal, 'Allow it?', skillId))) return NOT_TYPED;
          await decideShown(registry, 'allow', id, { ...actorOf(options, terminal), digest }, terminal);
          return { kind: 'skill', id, decision: 'approved' };
        },
      };
      return { question: SKILL_QUESTION, answers: [allow] };
    },
  };
}

function extensionThatWaits(name: string, { root, trusted, options, terminal }: Room): Waiting {
  return {
    async show() {
      const held = heldExtension(root, name);
      if (!held) {
        terminal.err(`extensions/${printable(name)} waits no more\n`);
        return undefined;
      }
      terminal.err(`${forTerminal(await describeHeld(held, ownExtensionIds()), terminal, terminal.progress)}\n\n`);
      const approve: Answer = {
        key: 'y',
        means: 'approve',
        act() {
          approveShownExtension(root, held, actorOf(options, terminal), trusted, terminal);
          return { kind: 'extension', id: name, decision: 'approved' };
        },
      };
      return { question: EXTENSION_QUESTION, answers: [approve] };
    },
  };
}

function ruler(title: string, { columns = 80 }: Terminal): string {
  return `\n── ${title} ${'─'.repeat(Math.max(0, Math.min(columns, 80) - title.length - 4))}`;
}

function summary(decided: readonly Decided[], still: number): string {
  const named = (decision: Decided['decision']): readonly string[] =>
    decided
      .filter((one) => one.decision === decision)
      .map(({ id, skill_id }) => (skill_id ? `${skill_id} (${id})` : id));
  const parts = (['approved', 'rejected'] as const).flatMap((decision) =>
    named(decision).length > 0 ? [`${decision} ${named(decision).join(', ')}`] : [],
  );
  const wait = still > 0 ? `${still} still ${still === 1 ? 'waits' : 'wait'}` : 'Nothing waits';
  return printable(`\nDecided: ${parts.length > 0 ? parts.join('; ') : 'nothing'}. ${wait}.`);
}
