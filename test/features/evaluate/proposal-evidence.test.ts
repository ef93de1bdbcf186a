import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProposalInput } from 'skill-registry';
import { expect, it } from 'vitest';
import { attack } from '../../helpers/held.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { evalsJson, TEA_SUITE } from '../../helpers/suites.ts';
import { ADA } from '../../helpers/tea.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

async function evidenceOf(input: Partial<ProposalInput>, tree: Tree = {}) {
  const { registry, root } = await openRegistry({ ...TEA_SUITE, ...tree });
  const author = 'agent:brewer';
  const { proposalId } = await registry.proposals.propose({ skillId: 'tea', justification: 'Weak.', author, ...input });
  return { registry, root, proposalId, evidence: await registry.admin.proposalEvidence(proposalId) };
}

it('runs both contents of a change, and tells the queries that it moves', async () => {
  const content = skillMd(
    { name: 'tea', description: 'Grinds coffee beans. Coffee beans!' },
    'Longer instructions than before.',
  );
  const { evidence, registry } = await evidenceOf({ content, evidence: 'All 40 tests pass.' });
  expect(evidence.before).toMatchObject({ totals: { passed: 3, failed: 0 }, triggers: { precision: 1, recall: 1 } });
  expect(evidence.after).toMatchObject({ totals: { passed: 1, failed: 2 }, triggers: { precision: 0, recall: 0 } });
  expect(evidence.after?.tokens.l2).toBeGreaterThan(evidence.before?.tokens.l2 ?? Number.NaN);
  expect(evidence.changes).toEqual([
    { query: 'brew green tea', shouldTrigger: true, before: 'tea', after: null },
    { query: 'grind coffee beans', shouldTrigger: false, before: 'coffee', after: 'tea' },
  ]);
  expect(evidence).toMatchObject({ notRun: null, claims: [{ by: 'agent:brewer', text: 'All 40 tests pass.' }] });
  expect(registry.list({ query: 'grind coffee beans' }).skills[0]?.skillId).toBe('coffee');
});

it('gives the content after approving the digest and the result that it has afterwards', async () => {
  const content = skillMd({ name: 'tea', description: 'Brews green tea in a pot.' });
  const { evidence, registry, proposalId } = await evidenceOf({ content });
  await registry.proposals.approve(proposalId, ADA);
  const { at: _, ...after } = evidence.after ?? {};
  expect(await registry.admin.evaluate('tea')).toMatchObject(after);
  expect((await registry.history.revisions('tea')).at(-1)?.digest).toBe(evidence.after?.digest);
  expect(await registry.admin.proposalEvidence(proposalId)).toMatchObject({
    before: null,
    after: null,
    notRun: 'the proposal is decided',
  });
});

it('reads the test cases that a proposal brings, and those it breaks', async () => {
  const cases = evalsJson([{ id: 1, prompt: 'Tea.', expectations: ['It is warm.'] }]);
  const { evidence } = await evidenceOf({ path: 'evals/evals.json', content: cases });
  expect([evidence.before?.cases, evidence.after?.cases]).toMatchObject([[], [{ id: '1', notRun: 1 }]]);
  const broken = await evidenceOf({ path: 'evals/trigger-eval.json', content: '{}' });
  expect(broken.evidence.after).toMatchObject({ triggers: null, problems: [{ code: 'TRIGGER_EVAL_INVALID' }] });
  const removed = await evidenceOf({ path: 'evals/trigger-eval.json', remove: true });
  expect(removed.evidence.after).toMatchObject({ triggers: null, suite: null, problems: [] });
});

it('runs one content where there is only one', async () => {
  const content = skillMd({ name: 'cocoa', description: 'Makes cocoa.', metadata: '{ trigger_keywords: [cocoa] }' });
  const made = await evidenceOf({ skillId: 'cocoa', kind: 'create', content });
  expect(made.evidence).toMatchObject({
    before: null,
    after: { totals: { failed: 0 }, validity: { errors: [] } },
    notRun: null,
  });
  const gone = await evidenceOf({ kind: 'delete' });
  expect(gone.evidence).toMatchObject({ before: { totals: { passed: 3 } }, after: null, notRun: null });
});

it('runs nothing of a content that would be held, and nothing where the proposal is stale', async () => {
  const content = skillMd({ name: 'tea', description: 'Brews a pot of green tea.' }, attack(7));
  const held = await evidenceOf({ content });
  expect(held.evidence).toMatchObject({ before: { totals: { passed: 3 } }, after: null });
  expect(held.evidence.notRun).toMatch(/^the new content would be held: \S.+ \(SKILL\.md\)$/);
  const stale = await evidenceOf({ oldString: 'Do it well.', newString: 'Do it better.' });
  writeFileSync(join(stale.root, 'skills/tea/SKILL.md'), skillMd({ name: 'tea', description: 'Tea.' }, 'Do it badly.'));
  await stale.registry.refresh();
  expect(await stale.registry.admin.proposalEvidence(stale.proposalId)).toMatchObject({
    ...{ before: null, after: null, notRun: 'the proposal does not apply to the present content' },
  });
});
