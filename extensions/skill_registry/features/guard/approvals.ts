import type { NewDecision, Subject, Trust } from '../../../../lib/trust/index.ts';
import type { Finding } from '../../core/skill/guard.ts';
import { KEY_RULE } from './inspect/rule-set.ts';
import type { TrustDecision } from './types.ts';

export interface Inspected {
  /** Real path of the skill's folder or file. */
  readonly path: string;
  readonly digest: string;
  readonly broughtIn: boolean;
  readonly findings: readonly Pick<Finding, 'rule' | 'excerpt'>[];
}

/** The findings that hold a skill; if none, the keys that keep it from being published. */
export function decidable(findings: readonly Finding[]): readonly Finding[] {
  const blocks = findings.filter(({ level }) => level === 'block');
  return blocks.length > 0 ? blocks : findings.filter(({ rule }) => rule === KEY_RULE);
}

/** A person allowed this content in any folder, or, for an own skill, each finding in this one (also after edits). */
export function isAllowed(trust: Pick<Trust, 'decisions'>, inspected: Inspected): boolean {
  const allowed = new Set(trust.decisions().flatMap((one) => (one.action === 'allow' ? [subjectKey(one)] : [])));
  const isDecided = (subject: Subject): boolean => allowed.has(subjectKey(subject));
  const findings = findingsOf(inspected);
  // Without findings there is nothing that a person can have allowed.
  return isDecided(contentOf(inspected)) || (!inspected.broughtIn && findings.length > 0 && findings.every(isDecided));
}

/** For each finding of an own skill, or for the content that was brought in. @throws TRUST_UNUSABLE. */
export function decide(
  trust: Pick<Trust, 'decide'>,
  action: NewDecision['action'],
  inspected: Inspected,
  { by, reason }: Pick<TrustDecision, 'by' | 'reason'>,
): void {
  const findings = inspected.broughtIn ? [] : findingsOf(inspected);
  // Its content may have been allowed when it was brought in.
  const content = inspected.broughtIn || action === 'revoke' ? [contentOf(inspected)] : [];
  for (const subject of [...findings, ...content]) trust.decide({ ...subject, action, by, reason });
}

// --- internal ---

function contentOf({ path, digest }: Inspected): Subject {
  return { kind: 'content', path, digest };
}

function findingsOf({ path, findings }: Inspected): readonly Subject[] {
  return findings.map(({ rule, excerpt }) => ({ kind: 'finding', path, rule, excerpt }));
}

/** A content is compared without its path, which says only where it was decided about. */
function subjectKey(subject: Subject): string {
  const { kind } = subject;
  if (kind === 'content') return JSON.stringify([kind, subject.digest]);
  return JSON.stringify([kind, subject.path, ...(kind === 'finding' ? [subject.rule, subject.excerpt] : [])]);
}
