import { expect, it } from 'vitest';
import { skill } from '../helpers/boot-root.ts';
import { callTool, httpClient, serveRegistry } from '../helpers/mcp.ts';
import type { Tree } from '../helpers/temp-folder.ts';

const TREE: Tree = {
  ...Object.assign({}, ...Array.from({ length: 30 }, (_, at) => skill(`chess-${at}`))),
  ...skill('rust-style', { paths: '["**/*.rs"]' }),
};

it.each(['legacy', 'modern'] as const)('lists for a %s client what is for a file that it names', async (era) => {
  const { serving } = await serveRegistry(TREE);
  const client = await httpClient(serving.url, era);
  const { tools } = await client.listTools();
  const { inputSchema } = tools.find(({ name }) => name === 'list_skills') ?? {};
  expect(inputSchema?.properties).toMatchObject({
    paths: { type: 'array', maxItems: 100, items: { maxLength: 1000 } },
  });
  const idsFor = async (args: Record<string, unknown>) => {
    const { result } = await callTool(client, 'list_skills', { query: 'chess', ...args });
    return (result.skills as readonly { readonly skill_id: string }[]).map(({ skill_id }) => skill_id);
  };
  expect(await idsFor({})).not.toContain('rust-style');
  expect(await idsFor({ paths: ['src/main.rs'] })).toContain('rust-style');
  expect(await idsFor({ paths: ['../main.rs', 'a.py'] })).toEqual(await idsFor({}));
  expect((await callTool(client, 'list_skills', { paths: ['a'.repeat(1001)] })).isError).toBe(true);
});

it('lists nothing out of the scope of its door', async () => {
  const { serving } = await serveRegistry(TREE, { mcp: { turn: { boundSkills: ['chess-1'] } } });
  const client = await httpClient(serving.url);
  const { result } = await callTool(client, 'list_skills', { paths: ['src/main.rs'] });
  expect(result).toMatchObject({ total: 1, skills: [{ skill_id: 'chess-1' }] });
});
