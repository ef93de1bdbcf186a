import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { embeddingsServer } from '../../helpers/embeddings-server.ts';
import { callTool, httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { semanticRegistry, TOWN, skill as townSkill } from '../../helpers/semantic-registry.ts';

it('1a.30 relevance to the prompt is scored with embeddings inside the context provider', async () => {
  const many = Object.assign(
    {},
    ...Array.from({ length: 60 }, (_, at) => townSkill(`filler-${at}`, 'Sort the toys of a child into boxes.')),
  );
  const { registry } = await semanticRegistry(await embeddingsServer(), {
    tree: { ...TOWN, ...many },
    config: { catalog: { budget_tokens: 120 } },
  });
  expect(await registry.context('mend my car')).not.toContain('`garage`');
  await registry.admin.embedSkills();
  expect(await registry.context('mend my car', { threadId: 'new' })).toContain('`garage`');
});

it('1a.31 the catalog and its full text are kept in SQLite, and list_skills finds with them', async () => {
  const tree = {
    'data/.keep': '',
    ...skill('tea', {}, 'Steep the leaves.'),
    ...skill('bread', {}, 'Knead the dough.'),
  };
  const { root, registry } = await openRegistry(tree);
  const found = await runRegistryTool(registry, 'list_skills', { query: 'kneading dough' });
  expect(found).toMatchObject({ success: true, total: 1, skills: [{ skill_id: 'bread' }] });
  await registry.close();
  expect(existsSync(join(root, 'data/skill_registry/cache.db'))).toBe(true);
});

it('1a.40 skills are offered over MCP', async () => {
  const { serving } = await serveRegistry(skill('tea'));
  const { result } = await callTool(await httpClient(serving.url), 'read_skill', { skill_id: 'tea' });
  expect(result).toMatchObject({ success: true, content: 'Body of tea.' });
});
