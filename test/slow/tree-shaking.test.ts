import { expect, it } from 'vitest';
import { loadedModules } from '../helpers/loaded-modules.ts';

const packagesOf = (files: readonly string[]): ReadonlySet<string> =>
  new Set(files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));

it('loads no MCP, web, model or command code with the library, not even when it is used', () => {
  const files = loadedModules(`
    import { createSkillRegistry } from 'skill-registry';
    const registry = await createSkillRegistry({ config: { sources: [{ path: 'skills' }] } });
    await registry.context('review');
    await registry.close();`);
  expect(files).toContain('extensions/skill_registry/registry.ts');
  expect(files.filter((file) => /^(cli|extensions\/(?!skill_registry))\//.test(file))).toEqual([]);
  const unwanted = /^(ai|@ai-sdk\/.*|@modelcontextprotocol\/.*|hono|@hono\/.*|commander|marked.*|jiti)$/;
  expect([...packagesOf(files)].filter((name) => unwanted.test(name))).toEqual([]);
});

it('loads neither the AI SDK nor MCP with the door for the AI SDK: the host has its own', () => {
  const files = loadedModules("import { skillTools } from 'skill-registry/ai-sdk'; skillTools;");
  expect(files).toContain('extensions/skill_registry/ai-sdk.ts');
  const unwanted = /^(ai|@ai-sdk\/.*|@modelcontextprotocol\/.*|hono|commander)$/;
  expect([...packagesOf(files)].filter((name) => unwanted.test(name))).toEqual([]);
});
