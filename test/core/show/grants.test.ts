import type { TurnContext } from 'skill-registry/kernel';
import { describe, expect, it } from 'vitest';
import { agent, bootRoot, skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

const TREE = {
  ...skill('own'),
  ...skill('other'),
  'skills/other/references/guide.md': 'Guide of other.',
  ...skill('quiet', { 'disable-model-invocation': 'true' }),
  'skills/quiet/notes.md': 'Quiet notes.',
};
const TURN: TurnContext = { agentId: 'talker', threadId: 'one', boundSkills: ['own'] };

async function open() {
  const { registry, loaded } = await openRegistry(TREE);
  const read = async (skill_id: string, turn: TurnContext = TURN) =>
    (await runRegistryTool(registry, 'read_skill', { skill_id }, turn)).success;
  const resource = async (skill_id: string, path: string, turn: TurnContext = TURN) =>
    (await runRegistryTool(registry, 'read_skill_resource', { skill_id, path }, turn)).success;
  const listed = (turn: TurnContext = TURN) => registry.list({}, turn).skills.map(({ skillId }) => skillId);
  const invoke = (id: string, turn: TurnContext = TURN) => registry.read(id, { audience: 'person' }, turn);
  return { registry, loaded, read, resource, listed, invoke };
}

describe('what a person loads in a conversation', () => {
  it('is readable for its agent from then on, with its files, and is listed', async () => {
    const { read, resource, listed, invoke, registry } = await open();
    expect([await read('other'), await resource('other', 'references/guide.md'), listed()]).toEqual([
      false,
      false,
      ['own'],
    ]);
    await invoke('other');
    expect([await read('other'), await resource('other', 'references/guide.md')]).toEqual([true, true]);
    expect(listed().sort()).toEqual(['other', 'own']);
    expect(await registry.context('', TURN)).toContain('`other`');
    expect(await read('skills:other')).toBe(true);
  });

  it.each<[string, TurnContext]>([
    ['another agent', { ...TURN, agentId: 'helper' }],
    ['another thread', { ...TURN, threadId: 'two' }],
    ['no thread', { agentId: 'talker', boundSkills: ['own'] }],
    ['neither', { boundSkills: ['own'] }],
    ['a thread that looks like both', { boundSkills: ['own'], threadId: '["one","talker"]' }],
  ])('is not for %s', async (_, turn) => {
    const { read, resource, listed, invoke } = await open();
    await invoke('other');
    expect([await read('other', turn), await resource('other', 'references/guide.md', turn), listed(turn)]).toEqual([
      false,
      false,
      ['own'],
    ]);
  });

  it('is not for anybody when it was loaded outside of a conversation', async () => {
    const { read, invoke, registry } = await open();
    await invoke('other', { agentId: 'talker' });
    await registry.read('other');
    expect([await read('other'), await read('other', { agentId: 'talker', boundSkills: [] })]).toEqual([false, false]);
  });

  it('opens nothing that a person only tried to load, and nothing a model or a binding loads', async () => {
    const { read, invoke, registry } = await open();
    await expect(invoke('othr')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    await registry.read('other', { audience: 'binding' }, TURN);
    await read('other', { agentId: 'talker', threadId: 'one' });
    expect(await read('other')).toBe(false);
  });

  it('opens no other skill of the same id', async () => {
    const body = { name: 'twin', description: 'Does it.' };
    const { registry } = await openRegistry(
      {
        'one/twin/SKILL.md': skillMd(body, 'First.'),
        'two/twin/SKILL.md': skillMd({ ...body, 'disable-model-invocation': 'true' }, 'Second.'),
      },
      { sources: [{ path: 'one' }, { path: 'two' }] },
    );
    await registry.read('twin', { audience: 'person' }, TURN);
    expect(await registry.read('twin', {}, TURN)).toMatchObject({ content: 'First.' });
    await expect(registry.read('two:twin', {}, TURN)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('is used and still not advertised where its author wants no model to choose it', async () => {
    const { read, resource, listed, invoke, registry, loaded } = await open();
    const turn = { agentId: 'talker', threadId: 'one' };
    expect(await read('quiet', turn)).toBe(false);
    expect(loaded.at(-1)).toMatchObject({ outcome: 'refused', error: 'SKILL_NOT_MODEL_INVOCABLE' });
    await invoke('quiet', turn);
    expect([await read('quiet', turn), await resource('quiet', 'notes.md', turn)]).toEqual([true, true]);
    expect(listed(turn)).toEqual(['other', 'own']);
    expect(registry.list({ query: 'quiet' }, turn).total).toBe(0);
    expect(await registry.context('quiet', turn)).not.toContain('quiet');
    expect(await read('quiet', { ...turn, threadId: 'two' })).toBe(false);
  });

  it('is forgotten when a thousand other conversations have come', async () => {
    const { read, invoke } = await open();
    await invoke('other');
    for (let number = 0; number < 1000; number++) await invoke('own', { ...TURN, threadId: `t${number}` });
    expect([await read('other'), await read('own')]).toEqual([false, true]);
  });
});

it('a slash command in the kernel lets the agent of that conversation use the skill, and no other', async () => {
  const talker = agent('talker', 'uses_skills: [own], uses_tools: [skill_registry]');
  const helper = agent('helper', 'uses_skills: [own], uses_tools: [skill_registry]');
  const { kernel } = await bootRoot({ ...TREE, ...talker, ...helper });
  const seen = async (agentId: string, threadId: string) => {
    const parts = await kernel.describeTurn(agentId, 'x', { threadId });
    return parts.map(({ text }) => text).join('\n');
  };
  expect(await seen('talker', 'one')).not.toContain('`other`');
  const result = await kernel.runCommand('/skills:other now', { agentId: 'talker', threadId: 'one' });
  expect(result).toMatchObject({
    kind: 'send',
    message: 'Apply Skill "other" with arguments: "now"\n\nInstructions:\nBody of other.',
  });
  expect(await seen('talker', 'one')).toContain('`other`');
  expect(await seen('talker', 'two')).not.toContain('`other`');
  expect(await seen('helper', 'one')).not.toContain('`other`');
});
