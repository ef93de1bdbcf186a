import { createSkillRegistry, type SkillRegistryOptions } from 'skill-registry';
import { createMcpServer } from 'skill-registry/mcp';
import { expect, it, onTestFinished } from 'vitest';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const TREE = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }) };

async function open(config: SkillRegistryOptions['config'] = {}) {
  const registry = await createSkillRegistry({ root: tempFolder(TREE), cache: 'memory', config });
  onTestFinished(() => registry.close());
  return registry;
}

class Turn {
  get agentId(): string {
    return 'bob';
  }
}

it('reads what a turn inherits: no agent gets a skill that is disabled for it', async () => {
  const registry = await open({ disabled: [{ skill: 'tea', agent: 'bob' }] });
  for (const turn of [new Turn(), Object.create({ agentId: 'bob' })]) {
    await expect(registry.read('tea', {}, turn)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    expect(registry.visible(turn)).toEqual([]);
  }
  await expect(registry.read('tea', {}, { agentId: 'ann' })).resolves.toMatchObject({ skillId: 'tea' });
});

it('keeps the very object of a source, which may give other skills later', async () => {
  const registry = await open();
  class Shelf {
    readonly id = 'shelf';
    rows = [{ id: 'mug', description: 'Holds tea.', body: 'Hold.' }];
    skills() {
      return this.rows;
    }
  }
  const shelf = new Shelf();
  await registry.addSource(shelf);
  shelf.rows = [{ id: 'jug', description: 'Pours.', body: 'Pour.' }];
  await registry.refresh();
  expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(expect.arrayContaining(['jug']));
  expect(registry.snapshot().byId.has('mug')).toBe(false);
});

it('checks options that are inherited, and those whose getter throws', async () => {
  await expect(createSkillRegistry(Object.create({ root: '/none/such' }))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  const throwing = {
    get root(): string {
      throw new Error('no');
    },
  };
  await expect(createSkillRegistry(throwing)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

it('gives no map of a snapshot that can be changed by mistake, and the same turn outside of workflows', async () => {
  const registry = await open();
  expect(() => (registry.snapshot().byId as Map<string, unknown>).clear()).toThrow('cannot be changed');
  expect(() => (registry.snapshot().byQualifiedId as Map<string, unknown>).delete('skills:tea')).toThrow();
  expect(registry.snapshot().byId.has('tea')).toBe(true);
  const turn = { threadId: 't' };
  expect(registry.admin.workflows.at(turn)).toBe(turn);
});

it('offers the tool that also changes skills over MCP only where an agent is named', async () => {
  const registry = await open({ dialect: ['operator'] });
  const namesFor = async (turn: { readonly agentId?: string }): Promise<string> => {
    const server = await createMcpServer(registry, { turn });
    const tools = (server.server as unknown as { _requestHandlers: Map<string, (...given: unknown[]) => unknown> })
      ._requestHandlers;
    const answer = await tools.get('tools/list')?.({ method: 'tools/list', params: {} }, { mcpReq: {} });
    return JSON.stringify(answer);
  };
  expect(await namesFor({})).not.toContain('"name":"skill"');
  expect(await namesFor({ agentId: 'ann' })).toContain('"name":"skill"');
});
