import { type Command, Option } from 'commander';
import type { ProposalState } from '../../extensions/skill_registry/host.ts';
import type { PurgeOptions } from '../commands/changes/decide-proposal.ts';
import type { EditOptions } from '../commands/changes/edit-proposal.ts';
import type { ReviewWaitingOptions } from '../commands/changes/review-waiting.ts';
import type {
  ConfirmedOptions,
  DecisionOptions,
  ExitStatus,
  GlobalOptions,
  MakeCommand,
  Terminal,
} from '../terminal.ts';

/** Commands about changes that agents ask for. */
export function addProposalCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  const proposals = make(
    'proposals',
    'changes that agents ask for: list, show, review, edit, approve, reject, import, purge, stats',
    'skill-registry proposals list',
  );
  const states = ['open', 'stale', 'approved', 'rejected', 'all'];
  make('list', 'proposals, newest first', 'skill-registry proposals list --state all', proposals)
    .addOption(new Option('--state <state>', 'only proposals in this state (default: open and stale)').choices(states))
    .action(async (options: GlobalOptions & { state?: ProposalState | 'all' }) =>
      done(await (await import('../commands/changes/show-proposals.ts')).listProposals(options, terminal)),
    );
  const id = 'its id, or at least six characters of its beginning or end';
  make(
    'show',
    'one proposal: its difference, its reasons, and what was found in it',
    'skill-registry proposals show 4f2a91',
    proposals,
  )
    .argument('<id>', id)
    .option('--proposed', 'print only the proposed text of the file, whole')
    .action(async (wanted: string, options: GlobalOptions & { proposed?: boolean }) =>
      done(await (await import('../commands/changes/show-proposals.ts')).showProposal(wanted, options, terminal)),
    );
  make(
    'review',
    'walk through what waits, riskiest first: see each, and approve, reject, edit or skip it',
    'skill-registry proposals review',
    proposals,
  )
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (options: ReviewWaitingOptions) =>
      done(await (await import('../commands/changes/review-waiting.ts')).reviewWaiting(options, terminal)),
    );
  make(
    'edit',
    'change the proposed text before you decide, in $VISUAL or $EDITOR (else vi); in a stale proposal, solve the conflict',
    'skill-registry proposals edit 4f2a91 --from tea.md',
    proposals,
  )
    .argument('<id>', id)
    .option('--from <file>', 'take the whole new text from this file; - for standard input')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (wanted: string, options: GlobalOptions & EditOptions) =>
      done(await (await import('../commands/changes/edit-proposal.ts')).editProposal(wanted, options, terminal)),
    );
  const decided = 'its id; on a terminal at least six characters of its beginning or end';
  withActor(
    make('approve', 'show one proposal, ask, and apply it', 'skill-registry proposals approve 4f2a91', proposals),
  )
    .argument('<id>', decided)
    .option('--yes', 'show the difference and do not ask')
    .action(async (wanted: string, options: GlobalOptions & ConfirmedOptions) =>
      done(await (await import('../commands/changes/decide-proposal.ts')).approveProposal(wanted, options, terminal)),
    );
  make(
    'reject',
    'show one proposal, ask, and reject it; it is kept with the reason',
    'skill-registry proposals reject 4f2a91 --reason "too broad"',
    proposals,
  )
    .argument('<id>', decided)
    .option('--yes', 'show the difference and do not ask')
    .requiredOption('--reason <text>', 'why; the agent that proposed it reads this')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (wanted: string, options: GlobalOptions & ConfirmedOptions & { reason: string }) =>
      done(await (await import('../commands/changes/decide-proposal.ts')).rejectProposal(wanted, options, terminal)),
    );
  make(
    'import',
    'make an open proposal of a report that came with git or outlived its history; of it only the skill and the difference are believed',
    'skill-registry proposals import data/skill_registry/proposals/tea-20260102T030405Z-1a2b3c.md',
    proposals,
  )
    .argument('<report>', 'the file of the report, as the registry wrote it')
    .action(async (file: string, options: GlobalOptions) =>
      done(await (await import('../commands/changes/import-report.ts')).importReport(file, options, terminal)),
    );
  make(
    'purge',
    'delete the texts of rejected proposals from the history for ever; who rejected what, and when, is kept',
    'skill-registry proposals purge --rejected',
    proposals,
  )
    .argument('[id...]', 'whole ids of rejected proposals')
    .option('--rejected', 'all rejected proposals')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (ids: readonly string[], options: GlobalOptions & PurgeOptions) =>
      done(await (await import('../commands/changes/decide-proposal.ts')).purgeProposals(ids, options, terminal)),
    );
  make(
    'stats',
    'how many proposals were approved, and how soon they were decided',
    'skill-registry proposals stats --json',
    proposals,
  ).action(async (options: GlobalOptions) =>
    done(await (await import('../commands/changes/show-proposals.ts')).showStats(options, terminal)),
  );
}

/** Commands about what a skill was. */
export function addRevisionCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  make(
    'history',
    'the revisions of a skill (what it was, who changed it, when and why), newest first',
    'skill-registry history code-review',
  )
    .argument('<id>', 'id or qualified id (<source>:<path>); of a removed skill its id')
    .action(async (skill: string, options: GlobalOptions) =>
      done(await (await import('../commands/changes/history.ts')).history(skill, options, terminal)),
    );
  make('diff', 'what changed between two revisions', 'skill-registry diff code-review 1 2')
    .argument('<id>', 'id or qualified id (<source>:<path>); of a removed skill its id')
    .argument('<a>', 'a revision: its number, the beginning of its digest, or "present" for the files as they are now')
    .argument('<b>', 'another revision, in the same way')
    .action(async (skill: string, a: string, b: string, options: GlobalOptions) =>
      done(await (await import('../commands/changes/history.ts')).diff(skill, a, b, options, terminal)),
    );
  withActor(
    make(
      'rollback',
      'make a skill what it was at a revision, after showing the difference; another rollback undoes it',
      'skill-registry rollback code-review 1',
    ),
  )
    .argument('<id>', 'id or qualified id (<source>:<path>)')
    .argument('<revision>', 'number of the revision, or the beginning of its digest (history lists both)')
    .option('--yes', 'show the difference and do not ask')
    .action(async (skill: string, revision: string, options: GlobalOptions & ConfirmedOptions) =>
      done(await (await import('../commands/changes/history.ts')).rollback(skill, revision, options, terminal)),
    );
  withActor(make('restore', 'bring back a skill that was removed', 'skill-registry restore code-review'))
    .argument('<id>', 'the id that it had')
    .action(async (skill: string, options: GlobalOptions & DecisionOptions) =>
      done(await (await import('../commands/changes/history.ts')).restore(skill, options, terminal)),
    );
}

// --- internal ---

function withActor(command: Command): Command {
  return command
    .option('--reason <text>', 'why; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)');
}
