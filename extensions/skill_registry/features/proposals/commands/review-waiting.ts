import { describeError, isCodedError } from 'skill-registry/kernel';
import {
  allHeld,
  approveShownExtension,
  describeHeld,
  EXTENSION_QUESTION,
  heldExtension,
  ownExtensionIds,
  undoApprovals,
} from '../../../../../kernel/host.ts';
import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  type Options,
} from '../../../../../lib/command-line/index.ts';
import { printable } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { isConfirmedWithId } from '../../guard/commands/confirm.ts';
import { decideShown, SKILL_QUESTION } from '../../guard/commands/trust-skills.ts';
import { describeTrust } from '../../guard/describe.ts';
import { approveShown, rejectShown, showBlockFindings, withWarnings } from './decide-proposal.ts';
import { editWaiting } from './edit-proposal.ts';

export async function reviewWaiting(options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  const { ask, say } = terminal;
  if (!ask) throw invalidArgument(WITHOUT_TERMINAL);
  const { root: dir, trusted, registry } = await terminal.openRegistry(options);
  const room: Room = { root: { dir, trusted }, registry, options, terminal: { ...terminal, ask } };
  const { proposals, unreadable, held } = await registry.admin.waiting();
  if (unreadable !== null) say(`The proposals cannot be read. ${unreadable}`);
  if (trusted) undoApprovals(dir);
  const extensions = allHeld(dir);
  for (const { message } of extensions.unreadable) say(message);
  const waiting: readonly Show[] = [
    ...proposals.map(
      ({ id }): Show =>
        () =>
          proposalThatWaits(id, room),
    ),
    ...held.map(
      ({ qualifiedId }): Show =>
        () =>
          skillThatWaits(qualifiedId, room),
    ),
    ...extensions.held.map(
      ({ name }): Show =>
        () =>
          extensionThatWaits(name, room),
    ),
  ];
  const decided: Decided[] = [];
  let [left, gone] = [false, 0];
  for (const [index, show] of waiting.entries()) {
    const title = `${index + 1} of ${waiting.length}`;
    const line = '─'.repeat(Math.max(0, Math.min(terminal.columns ?? 80, 80) - title.length - 4));
    terminal.err(`\n── ${title} ${line}\n`);
    const outcome = await decideOn(show, room.terminal);
    if (outcome === 'gone') gone += 1;
    else if (typeof outcome === 'object') decided.push(outcome);
    left = outcome === 'ended';
    if (left || outcome === 'quit') break;
  }
  const still = waiting.length - decided.length - gone;
  terminal.print({ decided, waiting: still });
  say(summary(decided, still));
  return left || unreadable !== null ? EXIT.problem : EXIT.done;
}

// --- internal ---

const WITHOUT_TERMINAL =
  'There is no terminal to ask at. See what waits with skill-registry proposals list and approvals list, and decide with skill-registry proposals approve <id>, proposals reject <id> --reason <text>, approvals allow <id> --digest <digest> and approvals allow extensions/<name> --digest <digest>.';

const NOT_TYPED = 'Nothing was decided: the id of the skill was not typed.';

interface Room {
  readonly root: { readonly dir: string; trusted: boolean };
  readonly registry: SkillRegistry;
  readonly options: Options;
  readonly terminal: CommandTerminal & Pick<Required<CommandTerminal>, 'ask'>;
}

interface Decided {
  readonly kind: 'proposal' | 'skill' | 'extension';
  readonly id: string;
  readonly skill_id?: string;
  readonly decision: 'approved' | 'rejected';
}

/** `act` returns undefined, or a text to print, when nothing was decided: the entry is then shown again. */
interface Answer {
  readonly key: string;
  readonly means: string;
  act(): Promise<Decided | string | undefined> | Decided;
}

interface Shown {
  readonly question: string;
  readonly answers: readonly Answer[];
}

/** Prints the present state. Undefined when it no longer waits, which it also prints. */
type Show = () => Promise<Shown | undefined>;

type Outcome = Decided | 'skipped' | 'quit' | 'ended' | 'gone';

async function decideOn(show: Show, { ask, say }: Room['terminal']): Promise<Outcome> {
  let lastFailure = '';
  for (;;) {
    let shown: Shown | undefined;
    try {
      shown = await show();
    } catch (error) {
      // What cannot be shown still waits.
      if (!isCodedError(error)) throw error;
      say(describeError(error));
      return error.code === 'SKILL_NOT_FOUND' ? 'gone' : 'skipped';
    }
    if (!shown) return 'gone';
    const answers = [...shown.answers, { key: 's', means: 'skip' }, { key: 'q', means: 'quit' }];
    const question = `${shown.question} [${answers.map(({ key }) => key).join('/')}/?] `;
    let answer: Partial<Answer> | undefined;
    for (
      let before = lastFailure;
      !answer;
      before = `${answers.map((one) => `${one.key} ${one.means}`).join(', ')}\n`
    ) {
      const typed = await ask(`${before}${question}`);
      if (typed === undefined) return 'ended';
      answer = answers.find(({ key, means }) => [key, means].includes(typed.trim().toLowerCase()));
    }
    if (answer.key === 's') return 'skipped';
    if (answer.key === 'q') return 'quit';
    try {
      const decided = await answer.act?.();
      if (typeof decided === 'object') return decided;
      lastFailure = decided === undefined ? '' : `${decided}\n`;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      lastFailure = `${printable(describeError(error))}\n`;
      say('');
    }
  }
}

async function proposalThatWaits(id: string, { registry, options, terminal }: Room): ReturnType<Show> {
  const proposal = await registry.proposals.get(id);
  const { state, decision, skillId } = proposal;
  if (decision) {
    terminal.say(`${id} (${skillId}) was ${state} meanwhile, by ${decision.by}`);
    return undefined;
  }
  terminal.err(`${await registry.admin.proposalText(proposal)}\n\n`);
  const shown = await showBlockFindings(registry, proposal, terminal);
  const { blocks } = shown;
  const isAttack = blocks.length > 0;
  const approve: Answer = {
    key: 'y',
    means: 'approve',
    async act() {
      if (isAttack && !(await isConfirmedWithId(terminal, 'Approve it?', skillId))) return NOT_TYPED;
      await approveShown(registry, proposal, shown, actorOf(options, terminal), terminal);
      return { kind: 'proposal', id, skill_id: skillId, decision: 'approved' };
    },
  };
  const reject: Answer = {
    key: 'n',
    means: 'reject',
    async act() {
      const reason = (await terminal.ask('Why is it rejected? Its author is shown this: '))?.trim();
      if (!reason) return 'Nothing was decided: a rejection needs a reason.';
      await rejectShown(registry, proposal, { ...actorOf(options, terminal), reason }, terminal);
      return { kind: 'proposal', id, skill_id: skillId, decision: 'rejected' };
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
  const others = proposal.editable ? [edit] : [];
  if (state !== 'open') return { question: `${id} does not apply any more. Reject it?`, answers: [reject, ...others] };
  const answers = isAttack ? [reject, approve, ...others] : [approve, reject, ...others];
  const found = isAttack ? ' looks like an attack' : withWarnings(proposal, blocks);
  return { question: `${id}${found}. Approve it?`, answers };
}

async function skillThatWaits(id: string, { registry, options, terminal }: Room): ReturnType<Show> {
  const found = await registry.admin.trustOf(id);
  const { digest, heldBecause, skillId, verdict } = found;
  terminal.err(`${describeTrust(found)}\n\n`);
  if (heldBecause === null) return undefined;
  const allow: Answer = {
    key: 'y',
    means: 'allow',
    async act() {
      if (verdict === 'block' && !(await isConfirmedWithId(terminal, 'Allow it?', skillId))) return NOT_TYPED;
      await decideShown(registry, 'allow', id, { ...actorOf(options, terminal), digest }, terminal);
      return { kind: 'skill', id, decision: 'approved' };
    },
  };
  return { question: SKILL_QUESTION, answers: [allow] };
}

async function extensionThatWaits(name: string, { root, options, terminal }: Room): ReturnType<Show> {
  const held = heldExtension(root.dir, name);
  if (!held) {
    terminal.say(`extensions/${name} waits no more`);
    return undefined;
  }
  terminal.err(`${await describeHeld(held, ownExtensionIds())}\n\n`);
  const approve: Answer = {
    key: 'y',
    means: 'approve',
    act() {
      approveShownExtension(root, held, actorOf(options, terminal), terminal);
      return { kind: 'extension', id: name, decision: 'approved' };
    },
  };
  return { question: EXTENSION_QUESTION, answers: [approve] };
}

function summary(decided: readonly Decided[], still: number): string {
  const parts = (['approved', 'rejected'] as const).flatMap((decision) => {
    const those = decided.filter((one) => one.decision === decision);
    const named = those.map(({ id, skill_id }) => (skill_id ? `${skill_id} (${id})` : id));
    return named.length > 0 ? [`${decision} ${named.join(', ')}`] : [];
  });
  const wait = still > 0 ? `${still} still ${still === 1 ? 'waits' : 'wait'}` : 'Nothing waits';
  return `\nDecided: ${parts.length > 0 ? parts.join('; ') : 'nothing'}. ${wait}.`;
}
