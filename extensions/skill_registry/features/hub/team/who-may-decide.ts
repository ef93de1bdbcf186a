import { CodedError } from 'skill-registry/kernel';
import { asReadForInspection } from '../../guard/files-for-inspection.ts';
import { inspectFiles, type ReadPart } from '../../guard/inspect-files.ts';
import { nameKey } from '../../history/journal/writer.ts';
import type { Decider } from '../../history/types.ts';
import type { IncomingFile } from '../../install/opened-origin.ts';
import { type AllowedFinding, MOST_ALLOWED } from '../wire.ts';
import type { Team } from './team.ts';

/**
 * Only what an inspection has found nothing in, or what was shown. @param after - As the decision leaves the skill.
 * @returns what is allowed by that. @throws SHOWN_CHANGED, BLOCK_NOT_CONFIRMED.
 */
export async function assertSeen(
  skillId: string,
  { inspected }: Pick<Decider, 'inspected'>,
  after: readonly IncomingFile[],
): Promise<readonly AllowedFinding[]> {
  const { digest, inspection } = await inspectFiles(() => filesToInspect(after));
  // Also what somebody has allowed before.
  const blocks = inspection.findings.filter(({ level }) => level === 'block');
  if (inspected === undefined && blocks.length > 0) {
    const found = [...new Set(blocks.map(({ message }) => message))].join('; ');
    const message = `This looks like an attack: ${found}. Nothing was changed. A person who has looked at it names what was seen: inspected.`;
    throw new CodedError('BLOCK_NOT_CONFIRMED', message, { inspected: digest });
  }
  if (inspected !== undefined && inspected !== digest) {
    const message = `The files of "${skillId}" are others than those that were inspected for this decision. Nothing was changed. Look at it again, then decide.`;
    throw new CodedError('SHOWN_CHANGED', message);
  }
  return blocks.slice(0, MOST_ALLOWED).map(({ rule, file, excerpt }) => ({ rule, file, excerpt }));
}

/** @param persons - Who proposed or edited it. @throws FOUR_EYES. */
export function assertOther({ fourEyes }: Team, by: string, persons: readonly string[]): void {
  if (!fourEyes || !persons.some((person) => nameKey(person) === nameKey(by))) return;
  const message = `${by} has proposed or edited this, and here somebody else approves it (four_eyes). Nothing was changed.`;
  throw new CodedError('FOUR_EYES', message, { persons });
}

export function filesToInspect(files: readonly IncomingFile[]): readonly ReadPart[] {
  const [skillFile, others] = [files.filter(isSkillFile), files.filter((file) => !isSkillFile(file))];
  return [...asReadForInspection([...skillFile, ...others])];
}

// --- internal ---

function isSkillFile({ path }: IncomingFile): boolean {
  return path === 'SKILL.md';
}
