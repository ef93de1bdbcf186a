import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRegistry } from '../../../helpers/open-registry.ts';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';

const TEA = '---\nname: tea\ndescription: Brews tea.\n---\n\n# Tea\n\nBoil water.\nSteep for two minutes.\nServe.\n';
const BETTER = TEA.replace('two minutes', 'three minutes');
const DIFF = '@@ -6,4 +6,4 @@\n Boil water.\n-Steep for two minutes.\n+Steep for three minutes.\n Serve.\n';
const PERSON = { by: 'person:ada' };

const open = (tree = {}, config = {}) => openRegistry({ 'skills/tea/SKILL.md': TEA, ...tree }, config);
const teaOf = (root: string): string => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8');

describe('propose_skill_update', () => {
  it('keeps a proposal as a file people can read, and changes nothing', async () => {
    const { root, registry } = await open();
    const result = await runRegistryTool(registry, 'propose_skill_update', {
      skill_id: 'tea',
      diff: DIFF,
      justification: 'Two minutes are too short.',
      evidence: 'The user said it was weak.',
    });
    expect(result).toMatchObject({ success: true, state: 'open' });
    const { file, proposal_id } = result as unknown as { file: string; proposal_id: string };
    expect(proposal_id).toMatch(/^tea-\d{8}T\d{6}Z-[0-9a-f]{6}$/);
    expect(readdirSync(join(root, 'data/skill_registry/proposals'))).toEqual([`${proposal_id}.md`]);
    // Told by its place below the root: where that lies is nothing for a model.
    expect(file).toBe(`data/skill_registry/proposals/${proposal_id}.md`);
    const text = readFileSync(join(root, file), 'utf8');
    for (const part of [
      'state: open',
      'skill: tea',
      'source: skills',
      '## Diff',
      '-Steep for two minutes.',
      '## Evidence',
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/## Justification\n+> Two minutes are too short\./);
    expect(text).toMatch(/base: sha256:[0-9a-f]{64}/);
    expect(teaOf(root)).toBe(TEA);
  });

  it('takes the whole new text as well, and is applied when a person approves', async () => {
    const { root, registry } = await open();
    const { proposalId } = await registry.proposals.propose({
      skillId: 'tea',
      content: BETTER,
      justification: 'Weak.',
    });
    const decision = await registry.proposals.approve(proposalId, { by: 'person:ada', reason: 'True.' });
    expect(decision).toMatchObject({ state: 'approved', skillId: 'tea', merged: false });
    expect(teaOf(root)).toBe(BETTER);
    expect((await registry.read('tea')).content).toContain('three minutes');
    const kept = await registry.proposals.get(proposalId);
    expect(kept.decision).toMatchObject({ by: 'person:ada', reason: 'True.' });
    expect(readFileSync(kept.file, 'utf8')).toContain('state: approved');
    const revisions = await registry.history.revisions('tea');
    expect(revisions.map(({ kind, by }) => [kind, by])).toEqual([
      ['seen', 'unknown'],
      ['proposal', 'person:ada'],
    ]);
  });

  it('is kept with its reason when it is rejected, and the skill stays as it is', async () => {
    const { root, registry } = await open();
    const { proposalId } = await registry.proposals.propose({
      skillId: 'tea',
      content: BETTER,
      justification: 'Weak.',
    });
    await registry.proposals.reject(proposalId, { ...PERSON, reason: 'Two minutes are right for green tea.' });
    expect(teaOf(root)).toBe(TEA);
    const { file, state } = await registry.proposals.get(proposalId);
    expect(state).toBe('rejected');
    expect(readFileSync(file, 'utf8')).toContain('Two minutes are right for green tea.');
    await expect(registry.proposals.approve(proposalId, PERSON)).rejects.toMatchObject({ code: 'PROPOSAL_DECIDED' });
  });

  it('takes a diff that names the file from the root, and tells the reviewer what it put up with', async () => {
    const { registry } = await open();
    const diff = `--- a/skills/tea/SKILL.md\n+++ b/skills/tea/SKILL.md\n${DIFF.replace('@@ -6,4 +6,4 @@', '@@ -90,9 +90,9 @@')}`;
    const { proposalId } = await registry.proposals.propose({ skillId: 'tea', diff, justification: 'Weak.' });
    const { checks } = await registry.proposals.get(proposalId);
    expect(
      checks
        .filter(({ kind }) => kind === 'diff')
        .map(({ text }) => text)
        .join(),
    ).toContain('hunk 1');
    const other = diff.replaceAll('skills/tea/', 'skills/coffee/');
    await expect(
      registry.proposals.propose({ skillId: 'tea', diff: other, justification: 'Weak.' }),
    ).rejects.toMatchObject({
      code: 'PROPOSAL_DIFF_FAILED',
    });
  });

  it('says which trigger queries of other skills it would take over', async () => {
    const { registry } = await open({
      'skills/pour/SKILL.md': '---\nname: pour\ndescription: Pours this cup of oolong.\n---\n\nPour.\n',
      'skills/pour/evals/trigger-eval.json': '[{ "query": "pour this cup of oolong", "should_trigger": true }]',
    });
    const content = TEA.replace('Brews tea.', 'Pour this cup of oolong. '.repeat(8).trim());
    const { proposalId } = await registry.proposals.propose({
      skillId: 'tea',
      content,
      justification: 'Found more.',
    });
    const { checks } = await registry.proposals.get(proposalId);
    expect(checks.filter(({ kind }) => kind === 'retrieval')).toMatchObject([
      {
        level: 'warn',
        text: expect.stringMatching(/pour this cup of oolong.*a query of pour, would find tea instead of pour/),
      },
    ]);
  });
});
