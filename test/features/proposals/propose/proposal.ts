import type { Proposal } from 'skill-registry';

/** An open proposal; `change` says what is different. */
export function proposal(change: Partial<Proposal> = {}): Proposal {
  return {
    id: 'tea-20260102T030405Z-1a2b3c',
    state: 'open',
    kind: 'update',
    skillId: 'tea',
    source: 'skills',
    path: 'SKILL.md',
    base: 'sha256:00',
    author: 'builder_agent',
    model: null,
    created: '2026-01-02T03:04:05Z',
    diff: '--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,3 +1,3 @@\n Boil water.\n \n-Wait.\n+Wait three minutes.\n',
    editable: true,
    justification: 'People forget the time.',
    evidence: null,
    checks: [],
    recommendations: [],
    decision: null,
    conflict: null,
    version: 'sha256:01',
    revision: null,
    purged: null,
    file: '/data/proposals/tea.md',
    ...change,
  };
}
