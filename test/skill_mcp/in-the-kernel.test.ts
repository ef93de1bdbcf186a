import { boot, type Kernel } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { httpClient } from '../helpers/mcp.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const TREE: Tree = {
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }),
  'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds tea.' }),
  'extensions/waiter/manifest.yaml':
    'id: waiter\nname: Waiter\nversion: 1.0.0\ndescription: Waits.\ndepends_on: [skill_registry]\nagent: { integration_mode: tool, uses_skills: [tea] }\n',
};

async function bootWith(config: Readonly<Record<string, unknown>>): Promise<Kernel> {
  const kernel = await boot({ root: tempFolder(TREE), enable: ['skill_mcp'], config: { skill_mcp: config } });
  onTestFinished(() => kernel.shutdown());
  return kernel;
}

it('is off unless it is enabled', async () => {
  const kernel = await boot({ root: tempFolder(TREE) });
  onTestFinished(() => kernel.shutdown());
  expect(kernel.extensions().find(({ id }) => id === 'skill_mcp')).toMatchObject({ state: 'DISABLED' });
});

it('serves the registry of the kernel to one agent’s scope, until the kernel stops', async () => {
  const kernel = await bootWith({ agent: 'waiter', http: { port: 0 } });
  const told = await waitFor('the address', () => kernel.undelivered().find((text) => text.includes('/mcp')));
  const client = await httpClient(told.split(' ').at(-1) ?? '');
  expect((await client.listResources()).resources.map(({ name }) => name)).toEqual(['tea']);
  await kernel.shutdown();
  await expect(client.listResources({}, { cacheMode: 'refresh' })).rejects.toThrow();
});

it('opens nothing with a config that is wrong, or for an agent that is not there', async () => {
  const wrong = await bootWith({ http: { port: 'x' } });
  expect(wrong.extensions().find(({ id }) => id === 'skill_mcp')).toMatchObject({
    state: 'ERROR',
    reason: expect.stringContaining('http.port'),
  });
  const missing = await bootWith({ agent: 'cook', http: { port: 0 } });
  const problem = await waitFor('the problem', () => missing.problems().find(({ code }) => code === 'SERVICE_DIED'));
  expect(problem.message).toContain('names no agent "cook". Agents:');
});
