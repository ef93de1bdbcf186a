import { expect, it, onTestFinished } from 'vitest';
import type { Feature } from '../../../extensions/skill_registry/core/feature.ts';
import { openRegistry } from '../../../extensions/skill_registry/core/registry.ts';
import features from '../../../extensions/skill_registry/features.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

it('checks, shows and applies a change when no feature evaluates skills', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const needed = (features as readonly Feature[]).filter(({ id }) => ['guard', 'history', 'proposals'].includes(id));
  const registry = await openRegistry({ root, config: { sources: [{ path: 'skills' }] } }, needed);
  onTestFinished(() => registry.close());
  const { proposals, admin } = registry;
  const { proposalId } = await proposals.propose({ skillId: 'tea', content: LONGER, justification: 'More water.' });
  const proposal = await proposals.get(proposalId);
  expect(proposal.checks.map(({ kind }) => kind)).toContain('size');
  expect(proposal.checks.map(({ kind }) => kind)).not.toContain('retrieval');
  const text = await admin.proposalText(proposal);
  expect(text).toContain('Justification\n  More water.\n\nChecks');
  expect(await proposals.approve(proposalId, ADA)).toMatchObject({ state: 'approved', revision: 2 });
});
