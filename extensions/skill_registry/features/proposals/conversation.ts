import type { Command, CommandResult } from 'skill-registry/kernel';
import { plural, showHidden } from '../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../core/api.ts';
import type { Finding } from '../../core/skill/guard.ts';
import { describeBlockFindings, wordsToType } from '../guard/describe.ts';
import type { InspectedChange } from '../history/types.ts';
import { describeProposals, describeStats, isAsShown, undoText } from './propose/describe.ts';
import type { Proposal } from './propose/types.ts';

const USAGE = `/proposals                      the proposals that wait
/proposals show <id>            one of them
/proposals approve <id> [note]  apply it
/proposals reject <id> <reason> reject it
/proposals stats                how many were approved
To edit one: skill-registry proposals edit <id>, or the page of skill-registry review`;

export function proposalsCommand({ proposals, admin }: Pick<SkillRegistry, 'proposals' | 'admin'>): Command {
  const seen = shownBy.get(proposals) ?? new Map<string, Shown>();
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
      if (action === 'list') {
        const waiting = await proposals.list();
        if (waiting.length === 0) return print('No proposals wait.');
        return printAtWidth((columns) => `${describeProposals(waiting, columns)}\nTo see one: /proposals show <id>`);
      }
      if (action === 'stats') {
        const stats = await proposals.stats();
        return printAtWidth((columns) => describeStats(stats, columns));
      }
      if (id === '') return print(USAGE);
      if (action === 'show') {
        const proposal = await proposals.get(id);
        const inspected = await admin.blockFindingsAfter({ proposalId: proposal.id });
        seen.set(`${by} ${proposal.id}`, { version: proposal.version, inspected });
        return print(await shownText(admin, proposal, inspected.blocks));
      }
      if (action === 'reject' && words === '') return print('Say why: /proposals reject <id> <reason>');
      if (action === 'approve' || action === 'reject') {
        const proposal = await proposals.get(id);
        const { id: whole, version } = proposal;
        const key = `${by} ${whole}`;
        const shown = seen.get(key);
        const change = { proposalId: whole };
        const inspected = await admin.blockFindingsAfter(change);
        const { blocks } = inspected;
        // Decides only what this person saw. An approval is merged with later changes of the skill.
        const isShown = shown?.version === version && (action === 'reject' || isAsShown(inspected, shown.inspected));
        if (!isShown) {
          seen.set(key, { version, inspected, words });
          const next = action === 'approve' ? howToApprove(proposal, blocks) : 'Type the same again to reject it.';
          return print(`${await shownText(admin, proposal, blocks)}\n\nNothing is decided yet. ${next}`);
        }
        if (action === 'reject') {
          await proposals.reject(whole, { by, version, reason: words });
          return print(`Rejected; it is kept with your reason.${await problemText(proposals, whole)}`);
        }
        // A line that is repeated was typed before anything was shown.
        const note = words === shown.words && blocks.length > 0 ? undefined : noteAfterId(words, proposal, blocks);
        if (note === undefined) {
          seen.set(key, { version, inspected });
          return print(`Nothing is decided. ${howToApprove(proposal, blocks)}`);
        }
        const actor = { by, version, inspected: inspected.digest, ...(note ? { reason: note } : {}) };
        const { skillId, revision } = await proposals.approve(whole, actor);
        const heldBecause = await admin.allowShown(change, inspected, actor);
        const held =
          heldBecause === null ? '' : ` It is held: ${heldBecause}; see skill-registry approvals show ${skillId}.`;
        const problem = await problemText(proposals, whole);
        return print(
          `Approved: "${skillId}" has revision ${revision}.${held} ${undoText(proposal, revision)}${problem}`,
        );
      }
      return print(USAGE);
    },
  };
}

export function arrivalText({ id, kind, skillId, path, author, checks }: Proposal): string {
  const warnings = checks.filter(({ level }) => level !== 'info').length;
  const what = kind === 'update' ? `a change of ${skillId}/${path}` : `to ${kind} the skill ${skillId}`;
  return showHidden(`${author} proposes ${what} (${plural(warnings, 'warning')}). Review it: /proposals show ${id}`);
}

// --- internal ---

interface Shown {
  readonly version: string;
  readonly inspected: InspectedChange;
  /** Behind the id, in the line that had it shown. */
  readonly words?: string;
}

function howToApprove({ id, skillId }: Proposal, blocks: readonly Finding[]): string {
  if (blocks.length === 0) return 'Type the same again to approve it.';
  return `To approve it and allow what was found, type the id of the skill (${wordsToType(skillId)}) behind the id of the proposal: /proposals approve ${id} <id of the skill> [note]`;
}

/** undefined: findings would be allowed, but the words do not start with the skill's id. */
function noteAfterId(words: string, { skillId }: Proposal, blocks: readonly Finding[]): string | undefined {
  if (blocks.length === 0) return words;
  const wanted = wordsToType(skillId);
  return `${words} `.startsWith(`${wanted} `) ? words.slice(wanted.length).trim() : undefined;
}

async function shownText(
  admin: SkillRegistry['admin'],
  proposal: Proposal,
  blocks: readonly Finding[],
): Promise<string> {
  const shown = await admin.proposalText(proposal);
  return blocks.length > 0 ? `${shown}\n\n${describeBlockFindings(blocks)}` : shown;
}

/** By person and proposal: an approval applies to the version shown last. Commands are created anew for every line. */
const shownBy = new WeakMap<SkillRegistry['proposals'], Map<string, Shown>>();

/** On its own line. */
async function problemText(proposals: SkillRegistry['proposals'], id: string): Promise<string> {
  const { problem } = await proposals.get(id);
  return problem ? `\n${problem.message}` : '';
}

function print(text: string): CommandResult {
  return { kind: 'print', text };
}

function printAtWidth(atWidth: (columns?: number) => string): CommandResult {
  return { kind: 'print', text: atWidth(), atWidth };
}
