import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { openTrust } from '../../../lib/trust/index.ts';
import { attack } from '../../helpers/held.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const POT = TEA.replaceAll('tea', 'pot');
const evil = (host: number, text = TEA): string => `${text}\n\`\`\`sh\n${attack(host)}\n\`\`\`\n`;

interface House {
  readonly root: string;
  readonly from: string;
  readonly registry: SkillRegistry;
  /** A SKILL.md on disk; undefined when it is not there. */
  text(id: string): string | undefined;
}

/** A registry without skills, and an origin with `pot` and `tea`. */
async function house(tea: string): Promise<House> {
  const { root, registry } = await openRegistry({ 'skills/x.md': '' });
  const run = { content: 'echo\n', mode: 0o755 };
  const from = tempFolder({ 'pot/SKILL.md': POT, 'tea/SKILL.md': tea, 'tea/notes.txt': 'Notes.\n', 'tea/run.sh': run });
  const fileOf = (id: string): string => join(root, 'skills', id, 'SKILL.md');
  const text = (id: string) => (existsSync(fileOf(id)) ? readFileSync(fileOf(id), 'utf8') : undefined);
  return { root, from, registry, text };
}

const isAllowed = (blocked: string | undefined): boolean =>
  openTrust()
    .decisions()
    .some((one) => one.kind === 'content' && one.action === 'allow' && blocked?.endsWith(`@${one.digest}`));

it('writes the other skills and then throws, when a program adds one that looks like an attack', async () => {
  const { from, registry, text } = await house(evil(141));
  const plan = await registry.origin.add(from, { all: true });
  const [pot, tea] = plan.skills;
  expect(pot?.blocked).toBeUndefined();
  await expect(plan.apply(ADA)).rejects.toMatchObject({
    code: 'SKILL_BLOCKED',
    message: expect.stringMatching(/^"tea" looks like an attack: .*, SKILL\.md:\d+\)\..* are written: pot\./),
    details: {
      refused: [{ skill_id: 'tea', allow_block: tea?.blocked, findings: [{ level: 'block', file: 'SKILL.md' }] }],
      changed: [{ id: 'pot', revision: 1 }],
    },
  });
  expect([text('pot'), text('tea')]).toEqual([POT, undefined]);
  expect(isAllowed(tea?.blocked)).toBe(false);
});

it('lets in only what a person names by its id and its digest', async () => {
  const { from, registry, text } = await house(evil(142));
  const plan = await registry.origin.add(from, { skills: ['tea'] });
  const blocked = plan.skills[0]?.blocked ?? '';
  const others = [
    [`pot${blocked.slice(3)}`, ADA, 'SKILL_BLOCKED'],
    [`tea@sha256:${'0'.repeat(64)}`, ADA, 'SKILL_BLOCKED'],
    [blocked, { by: 'agent:brewer' }, 'INVALID_ARGUMENT'],
    [blocked.slice(4), ADA, 'INVALID_ARGUMENT'],
  ] as const;
  for (const [name, actor, code] of others) {
    await expect(plan.apply(actor, { allowBlock: [name] }), name).rejects.toMatchObject({ code });
    expect([text('tea'), isAllowed(blocked)], name).toEqual([undefined, false]);
  }
  await expect(plan.apply(ADA, { allow: [blocked] } as object)).rejects.toThrow('allowBlock');
  expect(await plan.apply(ADA, { allowBlock: [blocked] })).toMatchObject([{ id: 'tea', revision: 1 }]);
  expect(text('tea')).toBe(evil(142));
  const { digest, allowed } = await registry.admin.trustOf('tea');
  expect({ name: `tea@${digest}`, allowed }).toEqual({ name: blocked, allowed: true });
  expect(registry.visible().map(({ id }) => id)).toEqual(['tea']);
});

it('writes the bytes that were inspected, whatever the origin has when they are written', async () => {
  const { from, registry, text } = await house(TEA);
  const plan = await registry.origin.add(from, { skills: ['tea'] });
  writeTree(from, { 'tea/SKILL.md': evil(143) });
  await plan.apply(ADA);
  expect(text('tea')).toBe(TEA);
  const update = await registry.origin.update();
  const [skill] = update.skills;
  writeTree(from, { 'tea/SKILL.md': evil(144) });
  await update.apply(ADA, { allowBlock: [skill?.blocked ?? ''] });
  expect(text('tea')).toBe(evil(143));
  expect((await registry.admin.trustOf('tea')).allowed).toBe(true);
  await expect((await registry.origin.update()).apply(ADA)).rejects.toMatchObject({ code: 'SKILL_BLOCKED' });
  expect(text('tea')).toBe(evil(143));
});

it('asks the decisions of the moment in which it writes', async () => {
  const { from, registry, text } = await house(evil(145));
  const plan = await registry.origin.add(from, { skills: ['tea'] });
  const digest = plan.skills[0]?.blocked?.slice(4) ?? '';
  const decide = (action: 'allow' | 'revoke') =>
    openTrust().decide({ kind: 'content', path: from, digest, action, by: 'person:ada' });
  decide('allow');
  const allowed = await registry.origin.add(from, { skills: ['tea'] });
  expect(allowed.skills[0]?.blocked).toBeUndefined();
  decide('revoke');
  await expect(allowed.apply(ADA)).rejects.toMatchObject({ code: 'SKILL_BLOCKED' });
  expect(text('tea')).toBeUndefined();
});

it('keeps what is here when the update looks like an attack in a file that conflicts, or as it was before', async () => {
  const { root, from, registry, text } = await house(TEA);
  await (await registry.origin.add(from, { all: true })).apply(ADA);
  const lock = (): string => readFileSync(join(root, 'skills-lock.json'), 'utf8');
  const before = lock();
  const mine = TEA.replace('two minutes', 'ten minutes');
  writeFileSync(join(root, 'skills/tea/SKILL.md'), mine);
  await registry.refresh();
  writeTree(from, { 'tea/SKILL.md': evil(146, LONGER) });
  const plan = await registry.origin.update(['tea']);
  expect(plan.skills[0]).toMatchObject({ files: [{ change: 'conflict' }], blocked: expect.stringMatching(/^tea@/) });
  await expect(plan.apply(ADA)).rejects.toMatchObject({ code: 'SKILL_BLOCKED', details: { changed: [] } });
  expect([text('tea'), lock(), await registry.proposals.list()]).toEqual([mine, before, []]);
  // What is known of the old version counts for it alone.
  writeFileSync(join(root, 'skills/tea/SKILL.md'), TEA);
  await registry.refresh();
  const first = await registry.origin.update(['tea']);
  await first.apply(ADA, { allowBlock: [first.skills[0]?.blocked ?? ''] });
  writeTree(from, { 'tea/SKILL.md': `${evil(146, LONGER)}\nMore.\n` });
  const second = await registry.origin.update(['tea']);
  expect(second.skills[0]?.findings).toMatchObject([{ level: 'block' }]);
  await expect(second.apply(ADA)).rejects.toMatchObject({ code: 'SKILL_BLOCKED' });
  expect(text('tea')).toBe(evil(146, LONGER));
});

it('lets in what it writes, and shows it to agents, when a file conflicts and another one looks like an attack', async () => {
  const { root, from, registry, text } = await house(TEA);
  await (await registry.origin.add(from, { all: true })).apply(ADA);
  const mine = TEA.replace('two minutes', 'ten minutes');
  writeFileSync(join(root, 'skills/tea/SKILL.md'), mine);
  await registry.refresh();
  writeTree(from, { 'tea/SKILL.md': LONGER, 'tea/notes.txt': attack(147) });
  const plan = await registry.origin.update(['tea']);
  const [skill] = plan.skills;
  const [block, warning] = skill?.findings ?? [];
  expect([block?.level, warning?.level, skill?.findings.length]).toEqual(['block', 'warn', 2]);
  await expect(plan.apply(ADA)).rejects.toMatchObject({
    details: { refused: [{ findings: [{ level: 'block', file: 'notes.txt' }] }], changed: [] },
  });
  const [changed] = await plan.apply(ADA, { allowBlock: [skill?.blocked ?? ''] });
  expect([text('tea'), readFileSync(join(root, 'skills/tea/notes.txt'), 'utf8')]).toEqual([mine, attack(147)]);
  expect(await registry.admin.trustOf('tea')).toMatchObject({ heldBecause: null, allowed: true });
  expect(changed?.proposals).toHaveLength(1);
});
