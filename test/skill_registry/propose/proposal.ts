import type { ProposalDocument, ProposalEdit } from '../../../extensions/skill_registry/propose/proposal-file.ts';

/** An open proposal; `change` says what is different. */
export function proposal(change: Partial<ProposalDocument> = {}): ProposalDocument {
  return {
    id: 'tea-20260102T030405Z-1a2b3c',
    state: 'open',
    kind: 'update',
    skill: 'tea',
    source: 'skills',
    path: 'SKILL.md',
    base: 'sha256:00',
    author: 'builder_agent',
    model: null,
    created: '2026-01-02T03:04:05Z',
    diff: '--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,3 +1,3 @@\n Boil water.\n \n-Wait.\n+Wait three minutes.\n',
    justification: 'People forget the time.',
    evidence: null,
    checks: [],
    recommendations: [],
    decision: null,
    conflict: null,
    ...change,
  };
}

/** The part of it that a person may change. */
export function editOf({ diff, justification, evidence }: ProposalDocument): ProposalEdit {
  return { diff, justification, evidence };
}
