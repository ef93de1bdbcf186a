/** Why a skill is held, as `Skill.heldBecause` says it, where others than the guard must know it. */

export const NOT_INSPECTED = 'it is not inspected yet';

/** Its files may be partly new and partly old. */
export const CHANGE_WAITS: string =
  'a change of it was interrupted, and nothing undoes it in a root that nobody has approved (skill-registry approvals allow in the root)';
