import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { shippedManifest } from '../../extensions/skill_registry/core/config/owner-file.ts';
import { openRegistry } from '../../extensions/skill_registry/core/registry.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const TREE = {
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }, 'Boil water.'),
  'skills/tea/references/pot.md': 'A pot.',
};

it('opens no registry without a guard, and leaves nothing open', async () => {
  const root = tempFolder(TREE);
  const opening = openRegistry({ root, config: { sources: [{ path: 'skills' }] } }, []);
  await expect(opening).rejects.toMatchObject({ code: 'GUARD_MISSING' });
  // Neither a config nor an unknown option stands for a decision of the program.
  const asked = openRegistry({ root, config: { sources: [{ path: 'skills' }], noGuard: true } as object }, []);
  await expect(asked).rejects.toMatchObject({ code: 'GUARD_MISSING' });
  expect(existsSync(join(root, 'data', 'skill_registry', 'history.db'))).toBe(false);
});

it('closes what was opened before a feature fails', async () => {
  const root = tempFolder(TREE);
  const closed: string[] = [];
  const opens = { id: 'opens', open: () => ({ close: () => void closed.push('opens') }) };
  const fails = { id: 'fails', open: () => Promise.reject(new Error('no')) };
  await expect(openRegistry({ root, noGuard: true }, [opens, fails])).rejects.toThrow('no');
  expect(closed).toEqual(['opens']);
});

it('lists, searches, shows and reads without any feature, where the program says so', async () => {
  const root = tempFolder(TREE);
  const registry = await openRegistry({ root, noGuard: true, config: { sources: [{ path: 'skills' }] } }, []);
  onTestFinished(() => registry.close());
  expect(registry.admin.hasGuard()).toBe(false);
  expect(registry.list({ query: 'brew' }).skills).toMatchObject([{ skillId: 'tea' }]);
  expect(await registry.context('')).toContain('`tea`');
  expect((await registry.readResource('tea', 'references/pot.md')).content).toBe('A pot.');
  const [tool] = registry.tools(['read_skill']);
  const call = { turn: {}, signal: new AbortController().signal };
  expect(await runTool(tool as never, { skill_id: 'tea' }, call)).toMatchObject({
    success: true,
    content: 'Boil water.',
  });
  expect(() => registry.tools(['propose_skill_update'])).toThrow(
    /Tools: list_skills, read_skill, read_skill_resource\./,
  );
});

it('knows no keys of features, and reports those of the owner, but not those that the manifest of the package shows', async () => {
  const root = tempFolder({ ...TREE, 'data/skill_registry/config.yaml': 'usage: false\ntools: [load_skill]\n' });
  const manifest = shippedManifest();
  const { config } = parse(readFileSync(manifest, 'utf8')) as { config: object };
  const problemsOf = async (given: object): Promise<readonly unknown[]> => {
    const registry = await openRegistry({ root, noGuard: true, manifest, config: given }, []);
    await registry.close();
    return registry.problems().map(({ code, details }) => [code, details?.key]);
  };
  expect(await problemsOf(config)).toEqual([]);
  expect(await problemsOf({ ...config, usage: false, tools: ['load_skill'] })).toEqual([
    ['CONFIG_KEY_INVALID', 'usage'],
    ['CONFIG_KEY_INVALID', 'tools.0'],
  ]);
});
