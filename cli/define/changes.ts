import { Option } from 'commander';
import { BY, type Make, REASON, type Run, YES_OF_CHANGE } from './shared.ts';

export function addProposalCommands(make: Make, run: Run): void {
  const proposals = make('proposals', 'skill-registry proposals list').description(
    'changes that agents ask for: list, show, review, edit, approve, reject, import, purge, stats',
  );
  const showing = () => import('../commands/changes/show-proposals.ts');
  const deciding = () => import('../commands/changes/decide-proposal.ts');
  const id = 'its id, or at least six characters of its beginning or end';
  const decided = 'its id; on a terminal at least six characters of its beginning or end';
  const states = ['open', 'stale', 'approved', 'rejected', 'all'];
  make('list', 'skill-registry proposals list --state all', proposals)
    .description('proposals, newest first')
    .addOption(new Option('--state <state>', 'only proposals in this state (default: open and stale)').choices(states))
    .action(run('listProposals', showing));
  make('show', 'skill-registry proposals show 4f2a91', proposals)
    .description('one proposal: its difference, its reasons, and what was found in it')
    .argument('<id>', id)
    .option('--proposed', 'print only the proposed text of the file, whole')
    .action(run('showProposal', showing));
  make('review', 'skill-registry proposals review', proposals)
    .description('walk through what waits, riskiest first: see each, and approve, reject, edit or skip it')
    .option(...BY)
    .action(run('reviewWaiting', () => import('../commands/changes/review-waiting.ts')));
  make('edit', 'skill-registry proposals edit 4f2a91 --from tea.md', proposals)
    .description(
      'change the proposed text before you decide, in $VISUAL or $EDITOR (else vi); in a stale proposal, solve the conflict',
    )
    .argument('<id>', id)
    .option('--from <file>', 'take the whole new text from this file; - for standard input')
    .option(...BY)
    .action(run('editProposal', () => import('../commands/changes/edit-proposal.ts')));
  make('approve', 'skill-registry proposals approve 4f2a91', proposals)
    .description('show one proposal, ask, and apply it')
    .option(...REASON)
    .option(...BY)
    .argument('<id>', decided)
    .option(...YES_OF_CHANGE)
    .action(run('approveProposal', deciding));
  make('reject', 'skill-registry proposals reject 4f2a91 --reason "too broad"', proposals)
    .description('show one proposal, ask, and reject it; it is kept with the reason')
    .argument('<id>', decided)
    .option(...YES_OF_CHANGE)
    .requiredOption('--reason <text>', 'why; the agent that proposed it reads this')
    .option(...BY)
    .action(run('rejectProposal', deciding));
  const report = 'data/skill_registry/proposals/tea-20260102T030405Z-1a2b3c.md';
  make('import', `skill-registry proposals import ${report}`, proposals)
    .description(
      'make an open proposal of a report that came with git or outlived its history; of it only the skill and the difference are believed',
    )
    .argument('<report>', 'the file of the report, as the registry wrote it')
    .action(run('importReport', () => import('../commands/changes/import-report.ts')));
  make('purge', 'skill-registry proposals purge --rejected', proposals)
    .description(
      'delete the texts of rejected proposals from the history for ever; who rejected what, and when, is kept',
    )
    .argument('[id...]', 'whole ids of rejected proposals')
    .option('--rejected', 'all rejected proposals')
    .option(...BY)
    .action(run('purgeProposals', deciding));
  make('stats', 'skill-registry proposals stats --json', proposals)
    .description('how many proposals were approved, and how soon they were decided')
    .action(run('showStats', showing));
}

export function addRevisionCommands(make: Make, run: Run): void {
  const commands = () => import('../commands/changes/history.ts');
  const id = 'id or qualified id (<source>:<path>); of a removed skill its id';
  make('history', 'skill-registry history code-review')
    .description('the revisions of a skill (what it was, who changed it, when and why), newest first')
    .argument('<id>', id)
    .action(run('history', commands));
  make('diff', 'skill-registry diff code-review 1 2')
    .description('what changed between two revisions')
    .argument('<id>', id)
    .argument('<a>', 'a revision: its number, the beginning of its digest, or "present" for the files as they are now')
    .argument('<b>', 'another revision, in the same way')
    .action(run('diff', commands));
  make('rollback', 'skill-registry rollback code-review 1')
    .description('make a skill what it was at a revision, after showing the difference; another rollback undoes it')
    .option(...REASON)
    .option(...BY)
    .argument('<id>', 'id or qualified id (<source>:<path>)')
    .argument('<revision>', 'number of the revision, or the beginning of its digest (history lists both)')
    .option(...YES_OF_CHANGE)
    .action(run('rollback', commands));
  make('restore', 'skill-registry restore code-review')
    .description('bring back a skill that was removed')
    .option(...REASON)
    .option(...BY)
    .argument('<id>', 'the id that it had')
    .action(run('restore', commands));
}
