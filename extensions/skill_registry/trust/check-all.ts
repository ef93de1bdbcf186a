import { createBreaks } from '../../../lib/breaks/index.ts';
import type { Skill } from '../skill/skill.ts';

/**
 * Checks each skill whose present SKILL.md was not checked by this process, in slices.
 *
 * @returns true when some skills have another state than before: then it stops early, after a second. False when none has.
 */
export type CheckAll = (skills: readonly Skill[], signal: AbortSignal) => Promise<boolean>;

/** After this time, the changes that were found so far are shown. */
const SHOWN_AFTER_MS = 1_000;

export function createCheckAll(
  judge: (skill: Skill) => Promise<{ readonly heldBecause: string | undefined }>,
  pathOf: (skill: Skill) => string,
): CheckAll {
  /** Finished and running checks of this process, by the path of the skill and the digest of its SKILL.md. */
  const checked = new Map<string, Promise<unknown>>();
  return async (skills, signal) => {
    const takeBreak = createBreaks();
    const showAfter = performance.now() + SHOWN_AFTER_MS;
    let isChanged = false;
    for (const skill of skills) {
      await takeBreak();
      if (signal.aborted) return false;
      const content = `${pathOf(skill)}\0${skill.digest}`;
      if (checked.has(content)) {
        await checked.get(content);
        continue;
      }
      const checking = judge(skill);
      checked.set(content, checking);
      if ((await checking).heldBecause !== skill.heldBecause) isChanged = true;
      if (isChanged && performance.now() > showAfter) return true;
    }
    return isChanged;
  };
}
