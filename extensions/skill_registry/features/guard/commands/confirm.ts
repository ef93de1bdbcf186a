import { CodedError } from 'skill-registry/kernel';
import { isConfirmed, type Terminal } from '../../../../../lib/command-line/index.ts';
import { printable } from '../../../../../lib/text/index.ts';
import type { OpenRegistry } from '../../../core/command-line.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import { wordsToType } from '../describe.ts';

/** @param attacked - Id of a skill with a finding of level `block`: the person must type it. */
export async function isConfirmedWithId(
  { ask }: Pick<Required<Terminal>, 'ask'>,
  question: string,
  attacked?: string,
): Promise<boolean> {
  if (attacked === undefined) return isConfirmed({ ask }, question);
  const words = wordsToType(attacked.trim());
  const what = words === attacked.trim() ? `the id of the skill (${printable(words)})` : `"${printable(words)}"`;
  return (await ask(`${question} To do it, type ${what}: `))?.trim() === words;
}

/** For such a skill when nobody can type its id. @param instead - Command that asks. */
export function blockNotConfirmed(what: string, instead: string): CodedError {
  const message = `This looks like an attack, so only somebody who types the id of the skill ${what}. Nothing was changed. Look at it and decide at a terminal (${instead}) or in a browser (skill-registry review).`;
  return new CodedError('BLOCK_NOT_CONFIRMED', message);
}

export function sayHeld(skillId: string, heldBecause: string | null, { say }: Terminal): void {
  if (heldBecause === null) return;
  say(
    `${skillId} is held, no agent is given it: ${heldBecause}; other programs that read this folder see it; see skill-registry approvals show ${skillId}`,
  );
}

export async function inspectChanged(
  { admin, snapshot }: OpenRegistry['registry'],
  isMeant: (skill: Skill) => boolean,
  terminal: Terminal,
): Promise<void> {
  // Remote skills have no folder, and inspecting them would fetch them.
  const here = [...snapshot().byQualifiedId.values()].filter((skill) => skill.dir !== null && isMeant(skill));
  for (const { id, qualifiedId } of here) {
    const looking = terminal.during(`Inspecting ${id}`, admin.trustOf(qualifiedId));
    sayHeld(id, (await looking).heldBecause, terminal);
  }
}
