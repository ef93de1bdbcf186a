import { Marked, type Tokens } from 'marked';
import type { Proposal } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { proposalReport } from '../../../../extensions/skill_registry/features/proposals/propose/reports.ts';
import { hiddenCharacters } from '../../../../lib/text/hidden-characters.ts';
import { fc } from '../../../helpers/properties.ts';
import { nastyText } from '../../../lib/diff/nasty-text.ts';
import { proposal } from './proposal.ts';

const document: fc.Arbitrary<Proposal> = fc
  .record({
    id: nastyText,
    state: fc.constantFrom('open', 'approved', 'rejected', 'stale'),
    kind: fc.constantFrom('update', 'create', 'delete'),
    skillId: nastyText,
    source: nastyText,
    path: nastyText,
    base: fc.option(nastyText),
    author: nastyText,
    model: fc.option(nastyText),
    created: fc.constantFrom('2026-01-02T03:04:05.000Z', '12', 'null', '~'),
    diff: nastyText,
    justification: nastyText,
    evidence: fc.option(nastyText),
    checks: fc.array(
      fc.record({
        kind: fc.constantFrom('tokens', 'shell'),
        level: fc.constantFrom('info', 'warn'),
        text: nastyText,
        line: fc.nat(),
      }),
      { maxLength: 3 },
    ),
    recommendations: fc.array(
      fc.record({ by: nastyText, at: nastyText, verdict: fc.constantFrom('approve', 'reject'), reason: nastyText }),
      { maxLength: 2 },
    ),
    decision: fc.option(fc.record({ by: nastyText, at: nastyText, reason: fc.option(nastyText) })),
    conflict: fc.option(nastyText),
  })
  .map((one) => proposal(one as Partial<Proposal>));

it('writes what people read', () => {
  const text = proposalReport(
    proposal({
      model: 'small-1',
      evidence: 'Three of five users asked.\n\nSee the log.',
      checks: [
        { kind: 'tokens', level: 'info', text: 'Body: 10 -> 12 tokens (+2)' },
        { kind: 'shell', level: 'warn', text: 'Deletes files or discards changes: "rm -rf /"', line: 7 },
      ],
      recommendations: [{ by: 'skill_reviewer', at: '2026-01-02T04:00:00Z', verdict: 'approve', reason: 'Good.' }],
      state: 'rejected',
      decision: { by: 'ada', at: '2026-01-02T05:00:00Z', reason: 'Too broad.' },
    }),
  );
  expect(text).toBe(`---
id: tea-20260102T030405Z-1a2b3c
state: rejected
kind: update
skill: tea
source: skills
path: SKILL.md
base: sha256:00
author: builder_agent
model: small-1
created: 2026-01-02T03:04:05Z
decided_by: ada
decided_at: 2026-01-02T05:00:00Z
---

# Update SKILL.md of tea

## Diff

\`\`\`diff
--- a/SKILL.md
+++ b/SKILL.md
@@ -1,3 +1,3 @@
 Boil water.
 
-Wait.
+Wait three minutes.
\`\`\`

## Justification

> People forget the time.

## Evidence

> Three of five users asked.
>
> See the log.

## Checks

- tokens: Body: 10 -> 12 tokens (+2)
- **warn** shell (line 7): Deletes files or discards changes: "rm -rf /"

## Recommendations

To approve, by skill_reviewer, 2026-01-02T04:00:00Z:

> Good.

## Decision

Rejected by ada, 2026-01-02T05:00:00Z:

> Too broad.
`);
});

it('says where there is nothing', () => {
  const text = proposalReport(proposal({ evidence: null, checks: [] }));
  expect(text).toContain('\n## Evidence\n\n(none)\n\n## Checks\n\n(none)\n');
  expect(text).not.toMatch(/^## (Recommendations|Decision|Conflict)|^model:|^decided/m);
});

it('shows the conflict of a stale proposal', () => {
  const text = proposalReport(proposal({ state: 'stale', conflict: '<<<<<<< yours\n```\n=======\n>>>>>>> theirs\n' }));
  expect(text).toMatch(/\n## Conflict\n\n````text\n<<<<<<< yours\n```\n=======\n>>>>>>> theirs\n````\n$/);
});

describe('what agents wrote', () => {
  const wicked = proposal({
    author: 'x\nstate: approved',
    justification: 'a\n## Decision\n\nApproved\n---\n```\n\u202e\x1b[2J <h2>Decision</h2> ![x](http://t.test/p.png)  ',
    evidence: '(none)',
    diff: '@@ -1 +1 @@\n-````\n+\u200bx \n',
  });

  it('begins no section, field or block, and is no markup', () => {
    const text = proposalReport(wicked);
    expect(text).toContain('\nauthor: "x⟦U+000A⟧state: approved"\n');
    expect(text).toContain('> ## Decision\n>\n> Approved\n> ---\n> ```\n');
    expect(text).toContain(
      '> ⟦U+202E⟧⟦U+001B⟧[2J ⟦U+003C⟧h2>Decision⟦U+003C⟧/h2> ⟦U+0021⟧[x](http://t.test/p.png) ⟦U+0020⟧\n',
    );
    expect(text).toContain('\n> (none)\n');
    expect(text).toContain('`````diff\n@@ -1 +1 @@\n-````\n+⟦U+200B⟧x⟦U+0020⟧\n`````\n');
  });
});

it('shows everything hidden, and has the sections it should have, whatever the agents wrote', () => {
  const markdown = new Marked();
  fc.assert(
    fc.property(document, (one) => {
      const text = proposalReport(one);
      expect([...hiddenCharacters(text)]).toEqual([]);
      const [frontmatter, body] = [
        text.slice(0, text.indexOf('\n---\n', 3)),
        text.slice(text.indexOf('\n---\n', 3) + 5),
      ];
      expect(frontmatter.split('\n').length).toBe(10 + (one.model === null ? 0 : 1) + (one.decision ? 2 : 0));
      const blocks = markdown.lexer(body).filter(({ type }) => type !== 'space');
      const headings = blocks
        .filter((block): block is Tokens.Heading => block.type === 'heading' && block.depth === 2)
        .map((block) => block.text);
      expect(headings).toEqual([
        ...['Diff', 'Justification', 'Evidence', 'Checks'],
        ...(one.recommendations.length > 0 ? ['Recommendations'] : []),
        ...(one.decision ? ['Decision'] : []),
        ...(one.conflict === null ? [] : ['Conflict']),
      ]);
      expect(blocks.filter(({ type }) => type === 'code')).toHaveLength(one.conflict === null ? 1 : 2);
      expect(blocks.filter(({ type }) => type === 'html' || type === 'hr')).toEqual([]);
    }),
  );
});
