import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool, type TurnContext } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import type { Snapshot } from '../../extensions/skill_registry/core/catalog/snapshot.ts';
import { shippedManifest } from '../../extensions/skill_registry/core/config/owner-file.ts';
import type { Core, Feature } from '../../extensions/skill_registry/core/feature.ts';
import { openRegistry } from '../../extensions/skill_registry/core/registry.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

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

it('goes on when the listener of a feature throws, tells the others, and reports it once', async () => {
  const root = tempFolder(TREE);
  const told: string[] = [];
  const fails = {
    id: 'fails',
    open({ events }: Core) {
      events.on('offered', () => {
        throw new Error('no offers');
      });
      events.on('loaded', async () => Promise.reject(new Error('no loads')));
      events.on('loaded', ({ outcome }) => void told.push(outcome));
      return {};
    },
  };
  const registry = await openRegistry({ root, noGuard: true, config: { sources: [{ path: 'skills' }] } }, [fails]);
  onTestFinished(() => registry.close());
  for (const query of ['brew', 'tea']) expect(registry.list({ query }).skills).toMatchObject([{ skillId: 'tea' }]);
  expect((await registry.read('tea')).content).toBe('Boil water.');
  expect(told).toEqual(['success']);
  await waitFor('the rejected promise is reported', () => registry.problems().length > 1);
  expect(registry.problems().map(({ code, message }) => `${code} ${message}`)).toEqual([
    expect.stringMatching(/^HOOK_FAILED a listener of "offered" failed: no offers\. /),
    expect.stringMatching(/^HOOK_FAILED a listener of "loaded" failed: no loads\. /),
  ]);
});

it('shows a turn only what a feature leaves of the skills, and nothing in a state that no feature knows', async () => {
  const root = tempFolder({ ...TREE, 'skills/pot/SKILL.md': skillMd({ name: 'pot', description: 'Holds tea.' }) });
  const config = { sources: [{ path: 'skills' }] };
  const turn = { agentId: 'cook', workflowState: { pack: 'kitchen' } };
  const turns = {
    at: (given: TurnContext) => given,
    narrow: ({ agentId }: TurnContext, { byId }: Snapshot) =>
      agentId === undefined
        ? undefined
        : { key: agentId, only: () => new Map([...byId].filter(([id]) => id === 'tea')), nothing: false },
    text: () => undefined,
  };
  const seen = async (features: readonly Feature[]) => {
    const registry = await openRegistry({ root, noGuard: true, config }, features);
    onTestFinished(() => registry.close());
    const read = (id: string) =>
      registry.read(id, {}, turn).then(
        ({ skillId }) => skillId,
        (error) => error.code,
      );
    return {
      agent: registry.list({}, turn).skills.map(({ skillId }) => skillId),
      everybody: registry.list().total,
      read: [await read('tea'), await read('pot')],
    };
  };
  const narrows: Feature = { id: 'narrows', open: () => ({ turns }) };
  expect(await seen([narrows])).toEqual({ agent: ['tea'], everybody: 2, read: ['tea', 'SKILL_NOT_FOUND'] });
  const none = ['SKILL_NOT_FOUND', 'SKILL_NOT_FOUND'];
  expect(await seen([])).toEqual({ agent: [], everybody: 2, read: none });
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
