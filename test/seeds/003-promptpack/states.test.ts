import type { SkillRegistry } from 'skill-registry';
import type { TurnContext } from 'skill-registry/kernel';
import { beforeAll, expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { atEndOfSuite, skillMd, type Tree } from '../../helpers/temp-folder.ts';

const below = (path: string): Tree => ({
  [`${path}/SKILL.md`]: skillMd(
    { name: path.split('/').at(-1) ?? '', description: `Does ${path}.` },
    `Body of ${path}.`,
  ),
  [`${path}/notes.md`]: `Notes of ${path}.`,
});
const STATES = {
  triage: { skills: './skills/billing' },
  all: {},
  file: { skills: 'skills/tea/SKILL.md' },
  pattern: { skills: 'skills/*/refund' },
  person: { skills: 'escalation' },
  shut: { skills: 'none' },
};
const PACK = {
  id: 'support',
  skills: ['./skills', { name: 'escalation', description: 'Escalates.', instructions: 'Ask for help.' }],
  workflow: { version: 1, entry: 'triage', states: STATES },
};
const SEEN: Readonly<Record<keyof typeof STATES, readonly string[]>> = {
  triage: ['invoice', 'refund'],
  all: ['invoice', 'refund', 'tea', 'escalation'],
  file: ['tea'],
  pattern: ['refund'],
  person: ['escalation'],
  shut: [],
};

const atEnd = atEndOfSuite();
let registry: SkillRegistry;
beforeAll(async () => {
  const tree = { ...below('skills/tea'), ...below('skills/billing/refund'), ...below('skills/billing/invoice') };
  const opened = await openRegistry(
    { 'support.json': JSON.stringify(PACK), ...tree },
    { sources: [{ pack: 'support.json' }] },
    atEnd,
  );
  registry = opened.registry;
});

const inState = (state?: string): TurnContext => ({ workflowState: { pack: 'support', ...(state ? { state } : {}) } });
const idsIn = (turn: TurnContext): readonly string[] =>
  registry.list({ limit: 200 }, turn).skills.map(({ skillId }) => skillId);

it('4a.5, 4a.23, 4d.6 a workflow state sees the folder, file, pattern or skill it names, all when it names none, nothing for none', () => {
  for (const [state, ids] of Object.entries(SEEN)) expect(idsIn(inState(state)), state).toEqual(ids);
});

it('4d.1, 4d.3, 4d.4, 4d.5, 8.4 a state holds at every door, from the entry state on', async () => {
  for (const [state, ids] of [...Object.entries(SEEN), [undefined, SEEN.triage] as const]) {
    const turn = inState(state);
    const text = (await registry.context('tea refund invoice escalation', turn)) ?? '';
    const through = await Promise.all(
      SEEN.all.map(async (id) => {
        const read = await runRegistryTool(registry, 'read_skill', { skill_id: id }, turn);
        const file = await runRegistryTool(registry, 'read_skill_resource', { skill_id: id, path: 'notes.md' }, turn);
        const code = (file.error as { code: string } | undefined)?.code;
        const doors = [
          text.includes(`\`${id}\``),
          registry.list({ query: id }, turn).skills.some(({ skillId }) => skillId === id),
          read.success,
          code !== 'SKILL_NOT_FOUND',
        ];
        return [id, ...new Set(doors)];
      }),
    );
    expect(through, state).toEqual(SEEN.all.map((id) => [id, (ids as readonly string[]).includes(id)]));
  }
});

it('4a.20 a skill is loaded and its files are read as often as wanted, and nothing is loaded in a state without it', async () => {
  for (const state of ['triage', 'triage', 'all']) {
    const read = await runRegistryTool(registry, 'read_skill', { skill_id: 'refund' }, inState(state));
    expect(read).toMatchObject({ success: true, content: 'Body of skills/billing/refund.' });
  }
  const file = { skill_id: 'refund', path: 'notes.md' };
  expect(await runRegistryTool(registry, 'read_skill_resource', file, inState('triage'))).toMatchObject({
    content: 'Notes of skills/billing/refund.',
  });
  const refused = await runRegistryTool(registry, 'read_skill', { skill_id: 'refund' }, inState('file'));
  expect(refused).toMatchObject({ success: false, error: { code: 'SKILL_NOT_FOUND' } });
});
