import type { Command, CommandResult } from 'skill-registry/kernel';
import type { SkillRegistry } from './api.ts';
import { describeProposal, describeProposals, describeStats } from './propose/describe.ts';
import type { Proposal } from './propose/types.ts';

const USAGE = '/proposals [show <id> | approve <id> [note] | reject <id> <reason> | stats]';

/** `/proposals`: what people type to review what agents propose. */
export function proposalsCommand({ proposals }: Pick<SkillRegistry, 'proposals'>): Command {
  const seen = shownBy.get(proposals) ?? new Map<string, string>();
  shownBy.set(proposals, seen);
  return {
    name: 'proposals',
    usage: '[show|approve|reject <id> ...]',
    choices: ['show', 'approve', 'reject', 'stats'],
    description: 'Changes that agents ask for, and your decisions',
    async execute(args, turn) {
      const [action = 'list', id = '', ...rest] = args.split(/\s+/).filter(Boolean);
      const words = rest.join(' ');
      const by = `person:${turn.userId ?? 'user'}`;
      if (action === 'list') return print(listText(await proposals.list()));
      if (action === 'stats') return print(describeStats(await proposals.stats()));
      if (id === '') return print(`${USAGE}\n/proposals alone lists those that wait.`);
      if (action === 'show') {
        const proposal = await proposals.get(id);
        seen.set(`${by} ${proposal.id}`, proposal.version);
        return print(describeProposal(proposal));
      }
      if (action === 'approve') {
        const version = seen.get(`${by} ${(await proposals.get(id)).id}`);
        const { skillId, revision } = await proposals.approve(id, { by, version, ...(words ? { reason: words } : {}) });
        return print(`Approved: "${skillId}" has revision ${revision}. /skills shows the catalog.`);
      }
      if (action === 'reject') {
        if (words === '') return print('Say why: /proposals reject <id> <reason>');
        await proposals.reject(id, { by, reason: words });
        return print('Rejected; it is kept with your reason.');
      }
      return print(USAGE);
    },
  };
}

/** What a channel is told when a proposal arrives. */
export function arrivalText({ id, kind, skillId, path, author, checks }: Proposal): string {
  const warnings = checks.filter(({ level }) => level === 'warning').length;
  const what = kind === 'update' ? `a change of ${skillId}/${path}` : `to ${kind} the skill ${skillId}`;
  return `${author} proposes ${what} (${warnings} warning(s)). Review it: /proposals show ${id}`;
}

// --- internal ---

/** Versions that were shown, by who saw them and the proposal: what somebody approves then is that. Commands are made anew for every line. */
const shownBy = new WeakMap<SkillRegistry['proposals'], Map<string, string>>();

function print(text: string): CommandResult {
  return { kind: 'print', text };
}

function listText(waiting: readonly Proposal[]): string {
  return waiting.length === 0 ? 'No proposals wait.' : describeProposals(waiting);
}
