import type { Skill, SkillRegistry } from 'skill-registry';
import { describeFindings } from '../extensions/skill_registry/features/proposals/propose/describe.ts';
import type { SkillTrust } from '../extensions/skill_registry/host.ts';
import { printable } from '../lib/text/index.ts';
import type { Terminal } from './terminal.ts';

export function sayHeld(skillId: string, heldBecause: string | null, { say }: Terminal): void {
  if (heldBecause === null) return;
  say(
    `${skillId} is held, no agent is given it: ${heldBecause}; other programs that read this folder see it; see skill-registry trust show ${skillId}`,
  );
}

export async function inspectChanged(
  { admin, snapshot }: SkillRegistry,
  isMeant: (skill: Skill) => boolean,
  terminal: Terminal,
): Promise<void> {
  // Remote skills have no folder, and inspecting them would fetch them.
  const here = [...snapshot().byQualifiedId.values()].filter((skill) => skill.dir !== null && isMeant(skill));
  for (const { id, qualifiedId } of here) sayHeld(id, (await admin.trustOf(qualifiedId)).heldBecause, terminal);
}

/** Safe for a terminal. */
export function describeTrust({ qualifiedId, digest, origin, findings, heldBecause, allowed }: SkillTrust): string {
  const state = heldBecause === null ? (allowed ? 'allowed by a person' : 'not held') : `held: ${heldBecause}`;
  const scope =
    origin === 'own'
      ? 'your own: what is allowed are these findings in its folder, across edits'
      : 'brought in: what is allowed are these bytes';
  const found = findings.length > 0 ? describeFindings(findings) : 'Nothing was found in it.';
  return printable(`${qualifiedId} is ${state}\n${digest} (${scope})\n\n${found}`);
}
