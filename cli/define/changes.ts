import { Option } from 'commander';
import { BY, ID, type Make, withReason, YES_OF_CHANGE } from './shared.ts';

export function addProposalCommands(make: Make): void {
  const proposals = make('proposals', '$ list').description(
    'changes that agents ask for: list, show, review, edit, approve, reject, import, purge, stats',
  );
  const showing = () => import('../commands/changes/show-proposals.ts');
  const deciding = () => import('../commands/changes/decide-proposal.ts');
  const id = 'its id, or at least six characters of its beginning or end';
  const decided = 'its id; on a terminal at least six characters of its beginning or end';
  const states = ['open', 'stale', 'approved', 'rejected', 'all'];
  make('list', '$ --state all', 'listProposals', showing, proposals)
    .description('proposals, newest first')
    .addOption(new Option('--state <state>', 'only proposals in this state (default: open and stale)').choices(states));
  make('show', '$ 4f2a91', 'showProposal', showing, proposals)
    .description('one proposal: its difference, its reasons, and what was found in it')
    .argument('<id>', id)
    .option('--proposed', 'print only the proposed text of the file, whole');
  make('review', '$', 'reviewWaiting', () => import('../commands/changes/review-waiting.ts'), proposals)
    .description('walk through what waits, riskiest first: see each, and approve, reject, edit or skip it')
    .option(...BY);
  make(
    'edit',
    '$ 4f2a91 --from tea.md',
    'editProposal',
    () => import('../commands/changes/edit-proposal.ts'),
    proposals,
  )
    .description(
      'change the proposed text before you decide, in $VISUAL or $EDITOR (else vi); in a stale proposal, solve the conflict',
    )
    .argument('<id>', id)
    .option('--from <file>', 'take the whole new text from this file; - for standard input')
    .option(...BY);
  withReason(make('approve', '$ 4f2a91', 'approveProposal', deciding, proposals))
    .description('show one proposal, ask, and apply it')
    .argument('<id>', decided)
    .option(...YES_OF_CHANGE);
  make('reject', '$ 4f2a91 --reason "too broad"', 'rejectProposal', deciding, proposals)
    .description('show one proposal, ask, and reject it; it is kept with the reason')
    .argument('<id>', decided)
    .option(...YES_OF_CHANGE)
    .requiredOption('--reason <text>', 'why; the agent that proposed it reads this')
    .option(...BY);
  const report = 'data/skill_registry/proposals/tea-20260102T030405Z-1a2b3c.md';
  make('import', `$ ${report}`, 'importReport', () => import('../commands/changes/import-report.ts'), proposals)
    .description(
      'make an open proposal of a report that came with git or outlived its history; of it only the skill and the difference are believed',
    )
    .argument('<report>', 'the file of the report, as the registry wrote it');
  make('purge', '$ --rejected', 'purgeProposals', deciding, proposals)
    .description(
      'delete the texts of rejected proposals from the history for ever; who rejected what, and when, is kept',
    )
    .argument('[id...]', 'whole ids of rejected proposals')
    .option('--rejected', 'all rejected proposals')
    .option(...BY);
  make('stats', '$ --json', 'showStats', showing, proposals).description(
    'how many proposals were approved, and how soon they were decided',
  );
}

export function addRevisionCommands(make: Make): void {
  const commands = () => import('../commands/changes/history.ts');
  const id = `${ID}; of a removed skill its id`;
  make('history', '$ code-review', 'history', commands)
    .description('the revisions of a skill (what it was, who changed it, when and why), newest first')
    .argument('<id>', id);
  make('diff', '$ code-review 1 2', 'diff', commands)
    .description('what changed between two revisions')
    .argument('<id>', id)
    .argument('<a>', 'a revision: its number, the beginning of its digest, or "present" for the files as they are now')
    .argument('<b>', 'another revision, in the same way');
  withReason(make('rollback', '$ code-review 1', 'rollback', commands))
    .description('make a skill what it was at a revision, after showing the difference; another rollback undoes it')
    .argument('<id>', ID)
    .argument('<revision>', 'number of the revision, or the beginning of its digest (history lists both)')
    .option(...YES_OF_CHANGE);
  withReason(make('restore', '$ code-review', 'restore', commands))
    .description('bring back a skill that was removed')
    .argument('<id>', 'the id that it had');
}
