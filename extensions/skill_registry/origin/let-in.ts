import { openTrust, type Trust } from '../../../lib/trust/index.ts';
import { folderOf } from '../history/skill-location.ts';
import type { Actor } from '../history/types.ts';
import type { Finding } from '../inspect/types.ts';
import { invalidArgument } from '../skill/errors.ts';
import { asReadForInspection } from '../sources/walk/files-for-inspection.ts';
import { decide, type Inspected, isAllowed } from '../trust/approvals.ts';
import { type InspectedSkill, inspectFiles } from '../trust/inspect-files.ts';
import { skillBlocked } from './errors.ts';
import type { IncomingFile } from './opened-origin.ts';
import type { ApplyOptions, ChangedSkill } from './types.ts';
import type { SkillToWrite } from './write-skill.ts';

/** Inspects files before they are written. The digest is the one that `trust show` says of them afterwards. */
export function inspectIncoming(files: readonly IncomingFile[]): Promise<InspectedSkill> {
  return inspectFiles(
    () => asReadForInspection(files),
    () => undefined,
  );
}

/** What lets in exactly these files, for `allowBlock`; undefined when nothing blocks them, or this user has allowed them. */
export function blockedAs(id: string, looked: InspectedSkill, trust: Trust = openTrust()): string | undefined {
  const content = contentOf('', looked);
  return content.findings.length === 0 || isAllowed(trust, content) ? undefined : `${id}@${content.digest}`;
}

/**
 * Writes the skills of a plan, but for those with a `block` finding that nobody has allowed: of them nothing is written. For each one
 * that `allowBlock` names the decision is recorded first, so that nothing is written when that fails.
 *
 * @throws SKILL_BLOCKED when the others are written; INVALID_ARGUMENT for an `allowBlock` that is no such text, or is
 *   given by somebody who is no person; TRUST_UNUSABLE; as `write`.
 */
export async function writeAllowed(
  skills: readonly SkillToWrite[],
  actor: Actor,
  { allowBlock = [] }: ApplyOptions,
  write: (skills: readonly SkillToWrite[]) => Promise<readonly ChangedSkill[]>,
): Promise<readonly ChangedSkill[]> {
  const { by } = actor;
  const wrong = allowBlock.find((name) => !/.@sha256:[0-9a-f]{64}$/.test(name));
  if (wrong !== undefined)
    throw invalidArgument(`What is let in is <id>@sha256:<64 hex digits>, got ${JSON.stringify(wrong.slice(0, 200))}.`);
  if (allowBlock.length > 0 && !by.startsWith('person:'))
    throw invalidArgument(`Only a person lets in what looks like an attack, and ${JSON.stringify(by)} is none.`);
  const trust = openTrust();
  const taken: SkillToWrite[] = [];
  const refused: Parameters<typeof skillBlocked>[0][number][] = [];
  for (const skill of skills) {
    const { location, looked, origin } = skill;
    const blocked = blockedAs(location.skillId, looked, trust);
    const content = contentOf(folderOf(location), looked);
    if (blocked === undefined) taken.push(skill);
    else if (allowBlock.includes(blocked)) {
      decide(trust, 'allow', content, { by, reason: actor.reason ?? `let in from ${origin}` });
      taken.push(skill);
    } else refused.push({ skillId: location.skillId, allowBlock: blocked, findings: content.findings });
  }
  const changed = taken.length === 0 ? [] : await write(taken);
  if (refused.length > 0) throw skillBlocked(refused, changed);
  return changed;
}

// --- internal ---

/** What is brought in is allowed by its bytes alone. */
function contentOf(
  path: string,
  { digest, inspection }: InspectedSkill,
): Inspected & { readonly findings: readonly Finding[] } {
  const findings = inspection.findings.filter(({ level }) => level === 'block');
  return { path, digest, broughtIn: true, findings };
}
