import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { skill } from '../helpers/boot-root.ts';
import { callTool, httpClient, serveRegistry } from '../helpers/mcp.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';

it('Y31 the catalog and its full text are kept in SQLite, and list_skills finds with them (decision 44)', async () => {
  const tree = { ...skill('tea', {}, 'Steep the leaves.'), ...skill('bread', {}, 'Knead the dough.') };
  const { root, registry } = await openRegistry(tree);
  const found = await runRegistryTool(registry, 'list_skills', { query: 'kneading dough' });
  expect(found).toMatchObject({ success: true, total: 1, skills: [{ skill_id: 'bread' }] });
  await registry.close();
  const database = new Database(join(root, 'data/skill_registry/cache.db'), { readonly: true });
  expect(database.prepare('SELECT count(*) AS n FROM search_document').get()).toEqual({ n: 2 });
  database.close();
});

it('Y40 skills are offered over MCP', async () => {
  const { serving } = await serveRegistry(skill('tea'));
  const { result } = await callTool(await httpClient(serving.url), 'read_skill', { skill_id: 'tea' });
  expect(result).toMatchObject({ success: true, content: 'Body of tea.' });
});
