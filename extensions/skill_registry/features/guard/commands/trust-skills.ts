import { isCodedError } from 'skill-registry/kernel';
import { actorOf, EXIT, isPath } from '../../../../../lib/command-line/index.ts';
import { forTerminal, toWire } from '../../../../../lib/text/index.ts';
import type { CommandTerminal, OpenRegistry, TrustAction, TrustSubject } from '../../../core/command-line.ts';
import { decidable } from '../approvals.ts';
import { describeTrust } from '../describe.ts';
import type { SkillTrust, TrustDecision } from '../types.ts';
import { isConfirmedWithId } from './confirm.ts';

export const skillTrust: TrustSubject = {
  async show(id, options, terminal) {
    const { registry } = await terminal.openRegistry(options);
    const found = await registry.admin.trustOf(id);
    terminal.print(toWire(found), () => forTerminal(describeTrust(found), terminal, terminal.terminal));
    return EXIT.done;
  },
  async decide(action, id, options, terminal) {
    if (isPath(id)) return undefined;
    const { registry } = await terminal.openRegistry(options);
    try {
      const found = await registry.admin.trustOf(id);
      const digest = options.digest ?? (action === 'allow' ? await digestOfYes(found, terminal) : found.digest);
      if (digest === undefined) {
        terminal.say(`${id} stays as it is`);
        return EXIT.problem;
      }
      const decided = await decideShown(registry, action, id, { ...actorOf(options, terminal), digest }, terminal);
      terminal.print({ action, ...toWire(decided) });
      return EXIT.done;
    } catch (error) {
      if (!isCodedError(error, 'SKILL_NOT_FOUND') || options.digest !== undefined || options.root !== undefined)
        throw error;
      return undefined;
    }
  },
};

export async function decideShown(
  { admin }: OpenRegistry['registry'],
  action: TrustAction,
  id: string,
  decision: TrustDecision,
  { say }: CommandTerminal,
): Promise<SkillTrust> {
  const decided = await admin.decideTrust(action, id, decision);
  const isHeld = decided.verdict === 'block';
  const allowed = `is allowed: ${isHeld ? 'agents are given it' : 'publish gives it to others'}`;
  say(`${id} ${action === 'allow' ? allowed : `is ${isHeld ? 'held' : 'not published'} from now on`}`);
  return decided;
}

export const SKILL_QUESTION = 'Agents follow what a skill says. Give it to them?';

// --- internal ---

async function digestOfYes(found: SkillTrust, { agreesTo }: CommandTerminal): Promise<string | undefined> {
  const { digest, findings, skillId: id, verdict } = found;
  if (decidable(findings).length === 0) return digest;
  const see = `what was found with skill-registry approvals show ${id}`;
  const isBlock = verdict === 'block';
  const question = isBlock ? SKILL_QUESTION : 'Who gets this skill gets its keys. May it be published?';
  const confirm: typeof isConfirmedWithId = (asking, asked) =>
    isConfirmedWithId(asking, asked, isBlock ? id : undefined);
  return (await agreesTo(describeTrust(found), question, see, `approvals allow ${id}`, confirm)) ? digest : undefined;
}
