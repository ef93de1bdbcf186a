import { CodedError } from 'skill-registry/kernel';

export { invalidArgument } from '../../../../lib/errors/index.ts';

import { nearestIds } from '../../../../lib/text/index.ts';
import type { Admission } from './guard.ts';
import type { Skill } from './skill.ts';

/** Thrown by the registry and returned by its tools. The kernel defines the codes of files. */
type RegistryError = CodedError<
  'SKILL_NOT_FOUND' | 'SKILL_NOT_INSPECTED' | 'SKILL_HELD' | 'SKILL_DISABLED' | 'REGISTRY_CLOSED' | 'STORE_UNAVAILABLE'
>;

/** @param known - The ids that the caller may see; the message names the nearest. */
export function skillNotFound(skillId: string, known: Iterable<string> = []): RegistryError {
  const nearest = nearestIds(known, skillId);
  const near =
    nearest.length > 0 ? ` Nearest: ${nearest.join(', ')}.` : ' No id is like it: take one from a list of skills.';
  const shown = skillId.length > 100 ? `${skillId.slice(0, 100)}…` : skillId;
  return new CodedError('SKILL_NOT_FOUND', `No skill ${JSON.stringify(shown)}.${near}`, { skill_id: shown, nearest });
}

/** @param retryAfterMs - Undefined: nothing inspects it now. */
export function skillNotInspected(skillId: string, retryAfterMs?: number): RegistryError {
  const again =
    retryAfterMs === undefined
      ? 'read it first'
      : `its inspection takes longer. Ask again in about ${Math.ceil(retryAfterMs / 1000)} s`;
  const message = `"${skillId}" is not inspected yet: ${again}.`;
  return new CodedError('SKILL_NOT_INSPECTED', message, { skill_id: skillId, retry_after_ms: retryAfterMs });
}

/** @throws SKILL_NOT_INSPECTED while the inspection goes on. */
export function assertInspected(admission: Admission, { id }: Pick<Skill, 'id'>): void {
  if (!admission.given && admission.retryAfterMs !== undefined) throw skillNotInspected(id, admission.retryAfterMs);
}

/** For people and for the code that binds an agent; a model gets `skillNotFound`. */
export function skillHeldOrDisabled(code: 'SKILL_HELD' | 'SKILL_DISABLED', skillId: string): RegistryError {
  const message =
    code === 'SKILL_HELD'
      ? `"${skillId}" is held, so no agent is given it. skill-registry approvals show ${skillId} says why.`
      : `"${skillId}" is disabled in the config. skill-registry disable ${skillId} --off enables it.`;
  return new CodedError(code, message, { skill_id: skillId });
}

export function registryClosed(): RegistryError {
  return new CodedError('REGISTRY_CLOSED', 'The registry has been closed; create a new one.');
}

/** `reason`: why no database can be opened, and what to do. */
export function storeUnavailable(reason: string): RegistryError {
  const effect = 'The history cannot be read or written here, so skills can be read, but not changed.';
  return new CodedError('STORE_UNAVAILABLE', `${effect} ${reason}`);
}
