import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolSet as ToolSet6 } from 'ai';
import type { ToolSet as ToolSet7 } from 'ai-7';
import { skillTools } from 'skill-registry/ai-sdk';
import { expect, it } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { loadedModules } from '../helpers/loaded-modules.ts';

it('loads nothing of the AI SDK, and names it in no declaration', () => {
  const loaded = loadedModules("import 'skill-registry/ai-sdk'");
  expect(loaded).toContain('extensions/skill_registry/ai-sdk.ts');
  expect(loaded.filter((file) => /node_modules\/(ai|@ai-sdk)\//.test(file))).toEqual([]);
  const declaration = readFileSync(join(packageRoot(), 'dist/extensions/skill_registry/ai-sdk.d.ts'), 'utf8');
  expect(declaration).not.toMatch(/from '(ai|@ai-sdk)/);
});

it('gives tools that both versions of the AI SDK take, as the compiler sees it', () => {
  const tools = skillTools({ tools: () => [] });
  const both: readonly [ToolSet6, ToolSet7] = [tools, tools];
  expect(both).toEqual([{}, {}]);
  // Were the types not found, nothing would be wrong with these.
  // @ts-expect-error
  const wrong6: ToolSet6 = { a: { inputSchema: 5 } };
  // @ts-expect-error
  const wrong7: ToolSet7 = { a: { inputSchema: 5 } };
  expect([wrong6, wrong7]).toHaveLength(2);
});
