import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ADA, LONGER, TEA, teaRegistry } from '../../../helpers/tea.ts';
import { writeTree } from '../../../helpers/temp-folder.ts';

const write = (root: string, text: string): void => writeFileSync(join(root, 'skills/tea/SKILL.md'), text);

describe('a proposal whose text has changed since', () => {
  it('is merged when both changes do not touch, and both stay', async () => {
    const { root, registry, tea, propose } = await teaRegistry();
    const id = await propose(LONGER);
    write(root, TEA.replace('Rinse the pot.', 'Rinse the pot with hot water.'));
    expect(await registry.proposals.approve(id, ADA)).toMatchObject({ state: 'approved', merged: true });
    expect(tea()).toBe(LONGER.replace('Rinse the pot.', 'Rinse the pot with hot water.'));
    const kinds = (await registry.history.revisions('tea')).map(({ kind }) => kind);
    expect(kinds).toEqual(['seen', 'edited', 'proposal']);
  });

  it('is stale when both changed the same line, shows where, and is never applied', async () => {
    const { root, registry, tea, propose } = await teaRegistry();
    const id = await propose(LONGER);
    const byHand = TEA.replace('two minutes', 'ten minutes');
    write(root, byHand);
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
    expect(tea()).toBe(byHand);
    const { state, conflict, file } = await registry.proposals.get(id);
    expect(state).toBe('stale');
    expect(conflict).toMatch(/ten minutes[\s\S]*three minutes/);
    expect(readFileSync(file, 'utf8')).toContain('## Conflict');
  });

  it('can be approved after all when the text is back, and once it has been edited to fit', async () => {
    const { root, registry, tea, propose } = await teaRegistry();
    const [first, second] = [await propose(LONGER), await propose(TEA.replace('two minutes', 'four minutes'))];
    write(root, TEA.replace('two minutes', 'ten minutes'));
    await expect(registry.proposals.approve(first, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
    await expect(registry.proposals.approve(second, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
    await registry.proposals.edit(second, { content: TEA.replace('two minutes', 'four minutes'), ...ADA });
    await registry.proposals.approve(second, ADA);
    expect(tea()).toBe(TEA.replace('two minutes', 'four minutes'));
    write(root, TEA);
    await registry.proposals.approve(first, ADA);
    expect(tea()).toBe(LONGER);
  });

  it('is not applied when both changes merge into a frontmatter that cannot be read', async () => {
    const licensed = (text: string): string => text.replace('name: tea\n', 'name: tea\nlicense: MIT\n');
    const base = TEA.replace('name: tea\n', 'name: tea\ntags: [hot]\nversion: 1.0.0\nauthor: ada\n');
    const { root, registry, tea, propose } = await teaRegistry({ 'skills/tea/SKILL.md': base });
    const id = await propose(base.replace('Brews tea.\n', 'Brews tea.\nlicense: Apache-2.0\n'));
    write(root, licensed(base));
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'SKILL_INVALID' });
    expect(tea()).toBe(licensed(base));
    expect(await registry.proposals.get(id)).toMatchObject({ state: 'open' });
    write(root, base);
    expect(await registry.proposals.approve(id, ADA)).toMatchObject({ state: 'approved', merged: false });
  });

  it('is not applied when both changes together are larger than a file may be', async () => {
    const limits = { file_bytes: TEA.length + 60 };
    const { root, registry, tea, propose } = await teaRegistry({}, { limits });
    const id = await propose(TEA.replace('Warm the pot.', `Warm the pot ${'very '.repeat(8)}well.`));
    const byHand = TEA.replace('Rinse the pot.', `Rinse the pot ${'very '.repeat(8)}well.`);
    write(root, byHand);
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'RESOURCE_TOO_LARGE' });
    expect(tea()).toBe(byHand);
    expect(await registry.proposals.get(id)).toMatchObject({ state: 'open', decision: null });
  });

  it('is stale when it would remove a skill of which any file has changed', async () => {
    const tree = { 'skills/tea/references/a.md': 'a\n' };
    const { root, registry, tea } = await teaRegistry(tree, { writes: { delete: 'propose' } });
    const input = { skillId: 'tea', kind: 'delete', justification: 'Nobody drinks it.' } as const;
    const { proposalId: id } = await registry.proposals.propose(input);
    writeFileSync(join(root, 'skills/tea/references/a.md'), 'What a person wants to keep.\n');
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
    expect(tea()).toBe(TEA);
    expect(await registry.proposals.get(id)).toMatchObject({ state: 'stale' });
    writeFileSync(join(root, 'skills/tea/references/a.md'), 'a\n');
    expect(await registry.proposals.approve(id, ADA)).toMatchObject({ state: 'approved' });
    expect(registry.snapshot().skills).toEqual([]);
  });

  it('is stale when it would make a skill that a person has made meanwhile', async () => {
    const { root, registry } = await teaRegistry();
    const [content, byHand] = [TEA.replace('name: tea', 'name: mate'), TEA.replace('name: tea', 'name: Mate')];
    const input = { skillId: 'mate', kind: 'create', content, justification: 'Needed.' } as const;
    const { proposalId: id } = await registry.proposals.propose(input);
    writeTree(root, { 'skills/mate/SKILL.md': byHand });
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
    expect(readFileSync(join(root, 'skills/mate/SKILL.md'), 'utf8')).toBe(byHand);
  });

  it('is stale when the skill has gone', async () => {
    const { root, registry, propose } = await teaRegistry();
    const id = await propose(LONGER);
    rmSync(join(root, 'skills/tea'), { recursive: true });
    await registry.refresh();
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
  });
});

describe('applying', () => {
  it('keeps the mode, the line ends and the BOM of the file', async () => {
    const crlf = `\ufeff${TEA.replaceAll('\n', '\r\n')}`;
    const { root, registry, tea, propose } = await teaRegistry({ 'skills/tea/SKILL.md': crlf });
    const file = join(root, 'skills/tea/SKILL.md');
    chmodSync(file, 0o640);
    await registry.proposals.approve(await propose(LONGER), ADA);
    expect(tea()).toBe(`\ufeff${LONGER.replaceAll('\n', '\r\n')}`);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it('makes, changes and removes files beside SKILL.md', async () => {
    const { root, registry } = await teaRegistry({ 'skills/tea/references/old.md': 'old\n' });
    const propose = async (input: object) =>
      (await registry.proposals.propose({ skillId: 'tea', justification: 'Needed.', ...input })).proposalId;
    const make = await propose({ path: 'references/deep/new.md', content: 'new\n' });
    const change = await propose({ path: 'references/old.md', diff: '@@\n-old\n+older\n' });
    await registry.proposals.approve(make, ADA);
    await registry.proposals.approve(change, ADA);
    expect(readFileSync(join(root, 'skills/tea/references/deep/new.md'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(root, 'skills/tea/references/old.md'), 'utf8')).toBe('older\n');
    await registry.proposals.approve(await propose({ path: 'references/deep/new.md', remove: true }), ADA);
    expect(registry.admin.resources('tea').map(({ path }) => path)).toEqual(['references/old.md']);
  });

  it('makes the skill a creation asks for, and archives the one a deletion names', async () => {
    const { root, registry } = await teaRegistry({}, { writes: { create: 'propose', delete: 'propose' } });
    const content = '---\nname: coffee\ndescription: Brews coffee.\n---\n\nGrind.\n';
    const made = await registry.proposals.propose({
      skillId: 'coffee',
      kind: 'create',
      content,
      justification: 'Asked for.',
    });
    await registry.proposals.approve(made.proposalId, ADA);
    expect(readFileSync(join(root, 'skills/coffee/SKILL.md'), 'utf8')).toBe(content);
    const gone = await registry.proposals.propose({
      skillId: 'tea',
      kind: 'delete',
      justification: 'Nobody drinks it.',
    });
    await registry.proposals.approve(gone.proposalId, ADA);
    expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['coffee']);
    await registry.history.restore('tea', ADA);
    expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['coffee', 'tea']);
  });
});
