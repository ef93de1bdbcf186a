/** Why a skill is held, as `Skill.heldBecause` says it, where others than the guard must know it. */

export const NOT_INSPECTED = 'it is not inspected yet';

/** Begins a reason that no approval on this machine ends. Who gives it reports the skills as one problem. */
export const RULED_OUT = 'ruled out: ';

/** Its files may be partly new and partly old. */
export const CHANGE_WAITS: string =
  'a change of it was interrupted, and nothing undoes it in a root that nobody has approved (skill-registry approvals allow in the root)';
