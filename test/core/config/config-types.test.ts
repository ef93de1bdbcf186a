import { createSkillRegistry, type SkillRegistryConfigInput } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function keysOfProblems(config: SkillRegistryConfigInput): Promise<readonly unknown[]> {
  const registry = await createSkillRegistry({ root: tempFolder(), config: { sources: [], ...config } });
  onTestFinished(() => registry.close());
  return registry.problems().map(({ code, details }) => [code, details?.key]);
}

// Every comment below is an error of `npm run types` when what it stands over compiles.

it('neither compiles with a misspelt key nor passes it over in silence', async () => {
  const problem = (key: string) => [['CONFIG_KEY_INVALID', key]];
  // @ts-expect-error sources
  expect(await keysOfProblems({ sorces: 'x' })).toEqual(problem('sorces'));
  // @ts-expect-error pinned
  expect(await keysOfProblems({ catalog: { pined: ['a'] } })).toEqual(problem('catalog.pined'));
  // @ts-expect-error the keys are those of YAML
  expect(await keysOfProblems({ limits: { skillTokens: 5 } })).toEqual(problem('limits.skillTokens'));
  // @ts-expect-error preload
  expect(await keysOfProblems({ sources: [{ path: '.', preloaded: true }] })).toEqual(problem('sources.0.preloaded'));
  // @ts-expect-error a text
  expect(await keysOfProblems({ validation: 5 })).toEqual(problem('validation'));
  // @ts-expect-error a tool
  expect(await keysOfProblems({ tools: ['list_skill'] })).toEqual(problem('tools.0'));
});

it('compiles with every key left out but the one that is wanted', async () => {
  expect(await keysOfProblems({ catalog: { budget_tokens: 500 }, watch: { mode: 'off' } })).toEqual([]);
  expect(await keysOfProblems({ sources: [{ preset: 'claude', optional: true }], writes: { create: 'deny' } })).toEqual(
    [],
  );
  expect(await keysOfProblems({ inject: undefined, gates: { settings: { odd: 1 } } })).toEqual([]);
});

it('takes an entry of sources at run time by the same type', async () => {
  const registry = await createSkillRegistry({ root: tempFolder(), config: { sources: [] } });
  onTestFinished(() => registry.close());
  // @ts-expect-error preload
  await expect(registry.addSource({ path: '.', preloaded: true })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
