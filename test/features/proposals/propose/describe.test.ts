import type { Proposal } from 'skill-registry';
import { expect, it } from 'vitest';
import { describeRevisions } from '../../../../extensions/skill_registry/features/history/commands/history.ts';
import { proposalsCommand } from '../../../../extensions/skill_registry/features/proposals/conversation.ts';
import {
  describeProposal,
  describeProposals,
  undoText,
} from '../../../../extensions/skill_registry/features/proposals/propose/describe.ts';
import { forTerminal } from '../../../../lib/text/index.ts';
import { openRoot } from '../../../helpers/open-registry.ts';
import { ADA, LONGER, TEA } from '../../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { proposal } from './proposal.ts';

const WAITING: readonly Proposal[] = [
  proposal({ id: 'brew-tea-20260102T030405Z-1a2b3c', skillId: 'brew-tea' }),
  proposal({ id: 'brew-tea-20260102T030406Z-4d5e6f', skillId: 'brew-tea', kind: 'delete' }),
];

it.each([40, 60, 80, 100])(
  'gives at %i columns an end of each id that a command takes, and no line is cut off',
  (width) => {
    const lines = describeProposals(WAITING, width).split('\n');
    expect(lines.slice(1).map((line) => line.slice(0, 8).trim())).toEqual(['1a2b3c', '4d5e6f']);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(lines[0]?.includes('CREATED')).toBe(width >= 80);
  },
);

it('gives longer ends where two ids end in the same six characters, and whole ids to a file', () => {
  const same = ['brew-tea-20260102T030405Z-1a2b3c', 'brew-tea-20260102T030406Z-1a2b3c'].map((id) => proposal({ id }));
  const ends = describeProposals(same, 80).split('\n').slice(1);
  expect(ends.map((line) => line.split(' ')[0])).toEqual(['5Z-1a2b3c', '6Z-1a2b3c']);
  for (const { id } of WAITING) expect(describeProposals(WAITING)).toContain(id);
});

it('says of a proposal which of its warnings would be called an attack', () => {
  const checks = [
    { kind: 'rule', level: 'block', text: 'Runs it.' },
    { kind: 'rule', level: 'warn', text: 'Hides it.' },
  ] as unknown as Proposal['checks'];
  expect(describeProposals([proposal({ checks })], 80)).toMatch(/ 2, attack$/);
  expect(describeProposal(proposal({ checks }))).toMatch(
    /Checks \(!! looks like an attack, ! a warning, .*\n {2}!! Runs it\.\n {2}! Hides it\./,
  );
  const shown = forTerminal(describeProposal(proposal({ checks })), { environment: {} }, true);
  expect(shown).toContain('\u001b[31m\u001b[1m  !! Runs it.');
});

it('says what a removal would take away, and how each kind of change is undone', () => {
  expect(describeProposal(proposal({ kind: 'delete', diff: '' }))).toContain('What would go: skill-registry show tea');
  expect(undoText(proposal(), 3)).toBe('To undo it: skill-registry rollback tea 2');
  expect(undoText(proposal({ kind: 'create' }), 1)).toBe('To undo it: skill-registry remove tea');
  expect(undoText(proposal({ kind: 'delete' }), 2)).toBe('To undo it: skill-registry rollback tea');
});

it('has in a narrow window the day of each revision, and first what a person said of it', () => {
  const base = { digest: `sha256:${'0'.repeat(64)}`, skillId: 'tea', kind: 'proposal', files: [] } as const;
  const at = '2026-01-02T03:04:05.678Z';
  const of = {
    ...base,
    at,
    by: 'person:ada',
    proposal: 'tea-20260102T030405Z-1a2b3c',
    number: 2,
    reason: 'As agreed.',
  };
  expect(describeRevisions([of], 60).split('\n')[1]).toMatch(
    /^ +2 {2}2026-01-02 {2}proposal {2}person:ada {2}As agreed/,
  );
  expect(describeRevisions([of], 100)).toContain('2026-01-02 03:04 ');
  expect(describeRevisions([of])).toContain('2026-01-02 03:04:05');
});

it('lists in a conversation as wide as the window', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }] } });
  const input = { skillId: 'tea', content: LONGER, justification: 'Weak.', author: 'agent:brewer' };
  const { proposalId } = await registry.proposals.propose(input);
  const listed = await proposalsCommand(registry).execute('', {} as never);
  if (listed.kind !== 'print') throw new Error(listed.kind);
  expect(listed.text).toContain(proposalId);
  const narrow = listed.atWidth?.(60) ?? '';
  expect(narrow).toContain(proposalId.slice(-6));
  expect(Math.max(...narrow.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
});

it('says of each proposal whether there is a text to edit, as editing decides it', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': TEA,
    'skills/tea/references/a.md': 'First.\n',
    'skills/cup/SKILL.md': TEA.replaceAll('tea', 'cup'),
  });
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }] } });
  const { proposals, admin } = registry;
  const ask = async (input: object): Promise<string> =>
    (await proposals.propose({ skillId: 'tea', justification: 'So.', author: 'agent:brewer', ...input })).proposalId;
  const pot = TEA.replaceAll('tea', 'pot');
  const ids = {
    change: await ask({ content: LONGER }),
    file: await ask({ path: 'references/a.md', remove: true }),
    gone: await ask({ skillId: 'cup', path: 'references/b.md', content: 'New.\n' }),
    removal: await ask({ kind: 'delete' }),
    created: await ask({ skillId: 'pot', kind: 'create', content: pot }),
  };
  const seen = async (): Promise<Record<string, readonly unknown[]>> => {
    const found: Record<string, readonly unknown[]> = {};
    for (const [name, id] of Object.entries(ids)) {
      const { state, editable } = await proposals.get(id);
      const text = await proposals.text(id).then(
        () => true,
        () => false,
      );
      expect([name, state, editable]).toEqual([name, state, text]);
      found[name] = [state, editable];
    }
    return found;
  };
  const no = ['open', false];
  expect(await seen()).toEqual({
    change: ['open', true],
    file: no,
    gone: ['open', true],
    removal: no,
    created: ['open', true],
  });
  await admin.management.write('tea', 'SKILL.md', TEA.replace('two', 'nine'), ADA);
  await admin.management.write('tea', 'references/a.md', 'Second.\n', ADA);
  await admin.management.remove('cup', ADA);
  writeTree(root, { 'skills/pot/SKILL.md': pot.replace('Serve', 'Drink') });
  await registry.refresh();
  const stale = ['stale', false];
  expect(await seen()).toEqual({ change: ['stale', true], file: stale, gone: stale, removal: stale, created: stale });
});
