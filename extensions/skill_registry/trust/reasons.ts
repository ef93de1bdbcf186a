import type { Problem } from 'skill-registry/kernel';
import { oneLine } from '../../../lib/text/index.ts';
import type { Finding } from '../inspect/types.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';

export const NOT_INSPECTED = 'it is not inspected yet';
/** At 10 milliseconds a skill. A busy machine takes longer; the next answer then says so. */
export function secondsUntilInspected(skills: number): number {
  return Math.max(2, Math.ceil(skills / 100));
}

/** Its files may be partly new and partly old. */
export const CHANGE_WAITS: string =
  'a change of it was interrupted, and nothing undoes it in a root that nobody has approved (skill-registry trust allow in the root)';

export function blockReason([first, ...others]: readonly Finding[]): string {
  if (!first) return 'something in it would be called an attack';
  const at = first.line === undefined ? '' : `:${first.line}`;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${first.rule} in ${oneLine(first.file, 200)}${at}${more}`;
}

export function otherDigest({ id }: Skill, given: string, now: string): ReturnType<typeof invalidArgument> {
  return invalidArgument(
    `"${id}" has the digest ${now} now, not ${given}: it has changed since it was shown. See it again: skill-registry trust show ${id}.`,
  );
}

export function notHeld({ id }: Skill): ReturnType<typeof invalidArgument> {
  return invalidArgument(
    `Nothing in "${id}" holds it or keeps it from being published, so there is nothing to decide. See skill-registry trust show ${id}.`,
  );
}

export function trustUnusableProblem(file: string, reason: string): Problem {
  const message = `This file is ignored, so no held skill is allowed: ${reason}.`;
  return { code: 'TRUST_UNUSABLE', severity: 'warning', file, message };
}
