import { CodedError } from 'skill-registry/kernel';
import { didYouMean, listed } from '../../../../lib/text/index.ts';
import type { Finding } from '../../core/skill/guard.ts';
import { blockReason } from '../guard/describe.ts';
import type { ChangedSkill } from './types.ts';

export function originInvalid(what: string, why: string, cause?: unknown): CodedError<'ORIGIN_INVALID'> {
  const message = `Skills cannot be taken from ${JSON.stringify(what.slice(0, 200))}: ${why}`;
  return new CodedError('ORIGIN_INVALID', message, {}, cause);
}

/** A plan is applied only to the state that the person was shown. */
export function planOutdated(skillId: string, what: string): CodedError<'SHOWN_CHANGED'> {
  const why = 'somebody has edited it, or another command has run meanwhile. Nothing was written.';
  const advice = 'Run the command again to see what it would do now.';
  const message = `${what} since ${JSON.stringify(skillId)} was looked at: ${why} ${advice}`;
  return new CodedError('SHOWN_CHANGED', message, { skill_id: skillId });
}

/** @param changed - The other skills of the plan, which are written. */
export function skillBlocked(
  refused: readonly { readonly skillId: string; readonly allowBlock: string; readonly findings: readonly Finding[] }[],
  changed: readonly ChangedSkill[],
): CodedError<'SKILL_BLOCKED'> {
  const whys = refused.map(({ skillId, findings }) => `"${skillId}" looks like an attack: ${blockReason(findings)}.`);
  const done = changed.length === 0 ? '' : ` The others are written: ${changed.map(({ id }) => id).join(', ')}.`;
  const names = JSON.stringify(refused.map(({ allowBlock }) => allowBlock));
  const advice = `A person who has read it lets in exactly these files with allowBlock: ${names}, or at the command line`;
  const message = `${whys.join(' ')} Nothing of it was written.${done} ${advice} with --allow-block.`;
  const details = refused.map(({ skillId, allowBlock, findings }) => {
    return { skill_id: skillId, allow_block: allowBlock, findings };
  });
  return new CodedError('SKILL_BLOCKED', message, { refused: details, changed });
}

export function severalSkills(what: string, names: readonly string[]): CodedError<'ORIGIN_INVALID'> {
  const message = `${JSON.stringify(what.slice(0, 200))} has ${names.length} skills: ${listed(names, 30)}. Choose with --skill NAME, or take --all.`;
  return new CodedError('ORIGIN_INVALID', message, { skills: names });
}

export function noSuchSkill(what: string, wanted: string, names: readonly string[]): CodedError<'ORIGIN_INVALID'> {
  const why = `it has no skill ${JSON.stringify(wanted)}.${didYouMean(wanted, names)} It has: ${listed(names, 30)}.`;
  return originInvalid(what, why);
}
