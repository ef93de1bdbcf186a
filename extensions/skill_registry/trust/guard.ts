import { isCodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/digest/index.ts';
import type { Skill } from '../skill/skill.ts';
import type { HeldSkills, Judgement } from './held-skills.ts';
import { NOT_INSPECTED } from './reasons.ts';
import type { Admission, Guard, LeavingBytes, LeavingLine } from './types.ts';

export interface GuardOptions {
  readonly held: Pick<HeldSkills, 'known' | 'judge'>;
  /** Whether a skill belongs to this package: it is trusted like the code that reads it. */
  readonly isOfPackage: (skill: Skill) => boolean;
  /** Called before a skill is judged: facts outside its files may hold it. */
  readonly renew: () => Promise<void>;
  /** Called when a skill is held or released, but the catalog shows it differently. */
  readonly onOther: () => Promise<unknown>;
}

export function createGuard({ held, isOfPackage, renew, onOther }: GuardOptions): Guard {
  const judge = async (leaving: LeavingBytes): Promise<Judgement> => {
    const { skill, bytes, path = 'SKILL.md' } = leaving;
    const judged = bytes && { path, bytes, digest: leaving.digest ?? digestOf(bytes) };
    try {
      return await held.judge(skill, judged);
    } catch (error) {
      const known = held.known(skill);
      // SKILL.md is gone. A person gets what was read; an agent is not told that a held skill is gone.
      if (isCodedError(error) && (leaving.audience === 'person' || known.heldBecause !== undefined)) return known;
      throw error;
    }
  };
  const admitBytes = async (leaving: LeavingBytes): Promise<Admission> => {
    if (isOfPackage(leaving.skill)) return { given: true };
    await renew();
    const judgement = await judge(leaving);
    if (judgement.heldBecause !== leaving.skill.heldBecause) await onOther();
    return admissionOf(judgement, leaving);
  };
  function admit(leaving: LeavingLine): Admission;
  function admit(leaving: LeavingBytes): Promise<Admission>;
  function admit(leaving: LeavingLine | LeavingBytes): Admission | Promise<Admission> {
    return leaving.kind === 'line' ? admissionOf(held.known(leaving.skill), leaving) : admitBytes(leaving);
  }
  return { admit };
}

// --- internal ---

function admissionOf(
  { heldBecause, findings, listing }: Judgement,
  { audience }: Pick<LeavingLine | LeavingBytes, 'audience'>,
): Admission {
  if (heldBecause === undefined) return { given: true, listing };
  if (audience === 'person') return { given: true, heldBecause, listing };
  const code = heldBecause === NOT_INSPECTED ? 'SKILL_NOT_INSPECTED' : 'SKILL_HELD';
  return { given: false, code, findings, heldBecause };
}
