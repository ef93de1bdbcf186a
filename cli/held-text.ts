import type { Skill, SkillRegistry } from 'skill-registry';
import type { SkillTrust } from '../extensions/skill_registry/host.ts';
import { describeFindings } from '../extensions/skill_registry/propose/describe.ts';
import { printable } from '../lib/text/index.ts';
import type { Terminal } from './terminal.ts';

/** What a person is told when a change was made and the skill is held. */
export function heldText(skillId: string, heldBecause: string): string {
  return printable(
    `${skillId} is held, no agent is given it: ${heldBecause}; other programs that read this folder see it; see skill-registry trust show ${skillId}\n`,
  );
}

/** Inspects the skills that were brought in, and says on standard error which of them are held. */
export async function printHeld(
  { admin, snapshot }: Pick<SkillRegistry, 'admin' | 'snapshot'>,
  isMeant: (skill: Skill) => boolean,
  terminal: Terminal,
): Promise<void> {
  // What a server has is in no folder, and asking would fetch it.
  const here = [...snapshot().byQualifiedId.values()].filter((skill) => skill.dir !== null && isMeant(skill));
  for (const skill of here) {
    const { heldBecause } = await admin.trustOf(skill.qualifiedId);
    if (heldBecause !== null) terminal.err(heldText(skill.id, heldBecause));
  }
}

/** The findings in a skill, and whether they hold it; safe for a terminal. */
export function describeTrust({ qualifiedId, digest, origin, findings, heldBecause, allowed }: SkillTrust): string {
  const state = heldBecause === null ? (allowed ? 'allowed by a person' : 'not held') : `held: ${heldBecause}`;
  const scope =
    origin === 'own'
      ? 'your own: what is allowed are these findings in its folder, across edits'
      : 'brought in: what is allowed are these bytes';
  const found = findings.length > 0 ? describeFindings(findings) : 'Nothing was found in it.';
  return printable(`${qualifiedId} is ${state}\n${digest} (${scope})\n\n${found}`);
}
