import { levelWord, oneLine, printable } from '../../../../lib/text/index.ts';
import type { Finding } from '../../core/skill/guard.ts';
import { reachLines } from './shown-reach.ts';
import type { SkillTrust } from './types.ts';

/** One per line; control characters are visible. */
export function describeFindings(findings: readonly Finding[]): string {
  const texts = findings.map(({ rule, level, file, line, excerpt, message }) => {
    const at = line === undefined ? file : `${file}:${line}`;
    return `${levelWord(level)}  ${message}\n       ${at} (${rule})${excerpt === '' ? '' : `\n       ${excerpt}`}`;
  });
  return printable(texts.join('\n'));
}

/** For a person who is about to approve a change that would be held. */
export function describeBlockFindings(blocks: readonly Finding[]): string {
  return `This looks like an attack. If you approve the change, agents are given it:\n${describeFindings(blocks)}`;
}

/** Safe for a terminal. */
export function describeTrust({
  qualifiedId,
  digest,
  origin,
  findings,
  reach,
  heldBecause,
  allowed,
}: SkillTrust): string {
  const state = heldBecause === null ? (allowed ? 'allowed by a person' : 'not held') : `held: ${heldBecause}`;
  const scope =
    origin === 'own'
      ? 'your own: an approval is for these findings in its folder, also after edits'
      : 'brought in: an approval is for exactly these bytes';
  const found = findings.length > 0 ? describeFindings(findings) : 'Nothing was found in it.';
  return printable([`${qualifiedId} is ${state}\n${digest} (${scope})\n\n${found}`, ...reachLines(reach)].join('\n'));
}

/** What a person types to allow an attack: the id, which must not be what is typed by habit. */
export function wordsToType(skillId: string): string {
  return HABITS.test(skillId) ? `skill ${skillId}` : skillId;
}

export function blockReason([first, ...others]: readonly Finding[]): string {
  if (!first) return 'something in it looks like an attack';
  const at = first.line === undefined ? '' : `:${first.line}`;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${first.message} (${first.rule}, ${oneLine(first.file, 200)}${at})${more}`;
}

// --- internal ---

/** Answers to questions, and keys of menus. */
const HABITS = /^([a-z0-9]|no|ok|yes|skip|quit|edit|allow|approve|reject)$/i;
