import { plural } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import { BY, type FeatureCommands, withReason, YES_OF_CHANGE } from '../../../core/command-line.ts';

const showing = () => import('./show-proposals.ts');
const deciding = () => import('./decide-proposal.ts');
const editing = () => import('./edit-proposal.ts');

export const commands: FeatureCommands = {
  add(make) {
    const proposals = make(['changes', 1], 'proposals', '$ list').description(
      'changes that agents ask for: list, show, review, edit, approve, reject, import, export, purge, stats',
    );
    const id = 'its id, or at least six characters of its beginning or end';
    const decided = 'its id; on a terminal at least six characters of its beginning or end';
    const list = make(proposals, 'list', '$ --state all', 'listProposals', showing).description(
      'proposals that wait, riskiest first; others newest first',
    );
    const state = list.createOption('--state <state>', 'only proposals in this state (default: open and stale)');
    list.addOption(state.choices(['open', 'stale', 'approved', 'rejected', 'all']));
    make(proposals, 'show', '$ 4f2a91', 'showProposal', showing)
      .description('one proposal: its difference, its reasons, and what was found in it')
      .argument('<id>', id)
      .option('--proposed', 'print only the proposed text of the file, whole');
    make(proposals, 'review', '$', 'reviewWaiting', () => import('./review-waiting.ts'))
      .description('walk through what waits, riskiest first: see each, and approve, reject, edit or skip it')
      .option(...BY);
    make(proposals, 'edit', '$ 4f2a91 --from tea.md', 'editProposal', editing)
      .description(
        'change the proposed text before you decide, in $VISUAL or $EDITOR (else vi); in a stale proposal, solve the conflict',
      )
      .argument('<id>', id)
      .option('--from <file>', 'take the whole new text from this file; - for standard input')
      .option(...BY);
    withReason(make(proposals, 'approve', '$ 4f2a91', 'approveProposal', deciding))
      .description('show one proposal, ask, and apply it')
      .argument('<id>', decided)
      .option(...YES_OF_CHANGE);
    make(proposals, 'reject', '$ 4f2a91 --reason "too broad"', 'rejectProposal', deciding)
      .description('show one proposal, ask, and reject it; it is kept with the reason')
      .argument('<id>', decided)
      .option(...YES_OF_CHANGE)
      .requiredOption('--reason <text>', 'why; the agent that proposed it reads this')
      .option(...BY);
    make(proposals, 'export', '$ 4f2a91 --branch', 'exportBranch', () => import('./export-branch.ts'))
      .description(
        'make a branch of git with one commit of a proposal, for a pull request; the working tree stays as it is',
      )
      .argument('<id>', id)
      .requiredOption('--branch [name]', 'name of the new branch (default: proposals/<id>)');
    const report = 'data/skill_registry/proposals/tea-20260102T030405Z-1a2b3c.md';
    make(proposals, 'import', `$ ${report}`, 'importReport', editing)
      .description(
        'make an open proposal of a report that came with git or outlived its history; of it only the skill and the difference are believed',
      )
      .argument('<report>', 'the file of the report, as the registry wrote it');
    make(proposals, 'purge', '$ --rejected', 'purgeProposals', deciding)
      .description(
        'delete the texts of rejected proposals from the history for ever; who rejected what, and when, is kept',
      )
      .argument('[id...]', 'whole ids of rejected proposals')
      .option('--rejected', 'all rejected proposals')
      .option(...BY);
    make(proposals, 'stats', '$ --json', 'showStats', showing).description(
      'how many proposals were approved, and how soon they were decided',
    );
  },
  notice: waitingText,
  async doctor({ registry }) {
    const waiting_proposals = await registry.admin.waitingProposals();
    return { order: 1, fields: { waiting_proposals }, total: await waitingText(registry) };
  },
  completes: { proposals: async (registry) => (await registry.proposals.list()).map(({ id }) => id) },
};

// --- internal ---

async function waitingText({ admin }: SkillRegistry): Promise<string | undefined> {
  const count = await admin.waitingProposals();
  return count > 0 ? `${plural(count, 'proposal')} waiting for a decision: skill-registry proposals list` : undefined;
}
