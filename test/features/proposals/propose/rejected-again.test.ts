import type { ProposalInput } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';
import { ADA, LONGER, TEA, type TeaRegistry, teaRegistry } from '../../../helpers/tea.ts';

const REASON = 'Two minutes are right.';

/** What the tool answers an agent that proposes a content. */
function ask({ registry }: TeaRegistry, content: string, more: object = {}) {
  const args = { skill_id: 'tea', content, justification: 'Needed.', ...more };
  return runRegistryTool(registry, 'propose_skill_update', args, { agentId: 'brewer' });
}

/** Proposes and rejects. @returns the id. */
async function rejected(opened: TeaRegistry, input: Partial<ProposalInput>, reason = REASON): Promise<string> {
  const { proposals } = opened.registry;
  const given = { skillId: 'tea', justification: 'Needed.', author: 'agent:brewer', ...input };
  const { proposalId } = await proposals.propose(given);
  await proposals.reject(proposalId, { ...ADA, reason });
  return proposalId;
}

const NOTE = 'One.\n\nTwo.\n';
const REFUSED = { error: { code: 'PROPOSAL_REJECTED', message: expect.stringContaining(REASON) } };

/** The same text with what nobody sees. */
const SAME: Readonly<Record<string, string>> = {
  'with a line end more': `${NOTE}\n`,
  'without the last line end': NOTE.trimEnd(),
  'with other line ends': NOTE.replaceAll('\n', '\r\n'),
  'with blanks and tabs at the ends of lines': NOTE.replaceAll('.\n', '. \t\u00a0\n'),
  'with a byte order mark': `\ufeff${NOTE}`,
  'with characters that nobody sees': 'O\u200bne.\n\nTwo\u00ad.\u{e0041}\n',
};

describe('a rejected text is the same', () => {
  it(Object.keys(SAME).join(', '), async () => {
    const opened = await teaRegistry();
    const file = { path: 'references/a.md' };
    const id = await rejected(opened, { ...file, content: NOTE });
    for (const [how, content] of Object.entries(SAME)) {
      const answer = await ask(opened, content, file);
      expect(answer, how).toMatchObject(REFUSED);
      expect(JSON.stringify(answer)).toContain(id);
    }
    expect(await ask(opened, NOTE.replace('Two', 'Three'), file)).toMatchObject({ success: true });
  });

  it('whichever of the two has more, in SKILL.md, and before a person edited it', async () => {
    const opened = await teaRegistry();
    const id = await opened.propose(`${LONGER}  \n\n`);
    await opened.registry.proposals.edit(id, { content: TEA.replace('two', 'five'), ...ADA });
    await opened.registry.proposals.reject(id, { ...ADA, reason: REASON });
    for (const content of [LONGER, TEA.replace('two', 'five').trimEnd()])
      expect(await ask(opened, content)).toMatchObject(REFUSED);
  });

  it('as a change of the skill that a person has made since, when it was to create it', async () => {
    const opened = await teaRegistry();
    const content = TEA.replace('name: tea', 'name: mate');
    await rejected(opened, { skillId: 'mate', kind: 'create', content });
    await opened.registry.admin.management.create('mate', content.replace('two', 'nine'), ADA);
    expect(await ask(opened, content, { skill_id: 'mate' })).toMatchObject(REFUSED);
  });

  it('but not with an indent, in another file, or where it is not asked by an agent', async () => {
    const opened = await teaRegistry();
    await rejected(opened, { path: 'references/a.md', content: NOTE });
    expect(await ask(opened, `  ${NOTE}`, { path: 'references/a.md' })).toMatchObject({ success: true });
    expect(await ask(opened, NOTE, { path: 'references/b.md' })).toMatchObject({ success: true });
    const byPerson = { skillId: 'tea', path: 'references/a.md', content: NOTE, justification: 'Yes.', author: ADA.by };
    expect(await opened.registry.proposals.propose(byPerson)).toMatchObject({ state: 'open' });
  });

  it('after its texts were purged, twice, with the reason without what it quotes, and so is a removal', async () => {
    const opened = await teaRegistry({ 'skills/tea/references/a.md': NOTE });
    const { proposals } = opened.registry;
    const edited = await opened.propose(LONGER);
    await proposals.edit(edited, { content: TEA.replace('two', 'thirty-one'), ...ADA });
    await proposals.reject(edited, { ...ADA, reason: `${REASON} Nobody wants "thirty-one" minutes.` });
    const removal = await rejected(opened, { path: 'references/a.md', remove: true });
    for (const by of ['person:ada', 'person:eve']) await proposals.purge([edited, removal], { by });
    for (const content of [LONGER, `${TEA.replace('two', 'thirty-one')}\n`]) {
      const answer = await ask(opened, content);
      expect(answer).toMatchObject(REFUSED);
      expect(JSON.stringify(answer)).toContain('Nobody wants [purged] minutes.');
    }
    const again = { skillId: 'tea', path: 'references/a.md', remove: true, justification: 'Old.' } as const;
    await expect(proposals.propose(again)).rejects.toMatchObject({ code: 'PROPOSAL_REJECTED' });
    expect(await ask(opened, TEA.replace('two', 'four'))).toMatchObject({ success: true });
  });
});
