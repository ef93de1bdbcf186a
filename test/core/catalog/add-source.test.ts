import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CustomSource } from 'skill-registry';
import { boot, type Kernel } from 'skill-registry/kernel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const skill = (path: string, body: string): Tree => ({
  [`${path}/SKILL.md`]: skillMd({ name: path.split('/').at(-1) as string, description: `Does ${path}.` }, body),
});
const TREE: Tree = {
  ...skill('skills/own', 'Own.'),
  ...skill('more/late', 'Late.'),
  ...skill('more/own', 'Other own.'),
};
const own = (id: string, body: string) => ({ id, description: `Does ${id}.`, body });
const TURN = { agentId: 'talker' };

async function open() {
  const opened = await openRegistry(TREE);
  const changes: (readonly string[])[] = [];
  opened.registry.onChange((ids) => changes.push(ids));
  const ids = () => opened.registry.list({}, TURN).skills.map(({ skillId }) => skillId);
  const sources = () => opened.registry.snapshot().sources.map(({ id }) => id);
  return { ...opened, changes, ids, sources };
}

describe('a source that is added at run time', () => {
  it.each([
    ['an entry of the config', () => ({ path: 'more' }), 'more'],
    [
      'a source of its own',
      () => ({ id: 'theirs', skills: [own('late', 'Late.'), own('own', 'Other own.')] }),
      'theirs',
    ],
  ])('brings its skills, last in order, and takes them away: %s', async (_, source, id) => {
    const { registry, root, changes, ids, sources } = await open();
    const remove = await registry.addSource(source());
    expect([ids(), sources(), changes]).toEqual([['own', 'late'], ['skills', id], [['late']]]);
    expect(await registry.context('', TURN)).toContain('• `late` — Does');
    expect(await registry.read('late', {}, TURN)).toMatchObject({ content: 'Late.', source: id });
    expect(await registry.read('own')).toMatchObject({ content: 'Own.' });
    expect(await registry.read(`${id}:own`)).toMatchObject({ content: 'Other own.' });
    const policy = id === 'theirs' ? undefined : expect.objectContaining({ source: id, action: 'update' });
    expect(registry.admin.writePolicy(join(root, 'more/late/SKILL.md'))).toEqual(policy);

    const removing = remove();
    // Between the end of a source and the next snapshot a skill of it is not found; it does not fail otherwise.
    await expect(registry.read('late')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    await removing;
    expect([ids(), sources(), changes]).toEqual([['own'], ['skills'], [['late'], ['late']]]);
    expect(registry.problems()).toEqual([]);
    await expect(registry.read(`${id}:own`)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('gets a number where its id is taken, and reads its own skills', async () => {
    const { registry, sources } = await open();
    const theirs = (): CustomSource => ({ id: 'skills', skills: [own('own', 'Other own.')] });
    const removeFirst = await registry.addSource(theirs());
    const removeSecond = await registry.addSource({ path: 'more', id: 'skills' });
    expect(sources()).toEqual(['skills', 'skills-2', 'skills-3']);
    expect(await registry.read('skills-2:own')).toMatchObject({ content: 'Other own.', source: 'skills-2' });
    expect(await registry.read('skills:own')).toMatchObject({ content: 'Own.', source: 'skills' });
    await removeFirst();
    await registry.addSource(theirs());
    // Called twice, it takes nobody else's place away.
    await removeFirst();
    await registry.addSource(theirs());
    expect(sources()).toEqual(['skills', 'skills-3', 'skills-2', 'skills-4']);
    await removeSecond();
    expect(sources()).toEqual(['skills', 'skills-2', 'skills-4']);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'more'],
    ['a number', 42],
    ['a list', [{ path: 'more' }]],
    ['no kind of place', {}],
    ['two kinds of place', { path: 'more', package: 'x' }],
    ['a key that does not exist', { path: 'more', preloaded: true }],
    ['a value of another type', { path: 'more', preload: 'yes' }],
    ['a name that is no package', { package: '../x' }],
    ['an id with a colon', { path: 'more', id: 'a:b' }],
    ['an inline skill without instructions', { inline: { name: 'x', description: 'y' } }],
    ['half a source', { id: 'x', onChange: () => () => {} }],
    ['a source without an id', { skills: [] }],
    ['a source whose skills are no list', { id: 'x', skills: {} }],
    ['a source with an id that cannot stand in a qualified one', { id: 'a:b', skills: [] }],
    ['a source that cannot be told of a change', { id: 'x', skills: [], onChange: 5 }],
  ])('is refused: %s', async (_, source) => {
    const { registry, sources } = await open();
    await expect(registry.addSource(source as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.not.stringMatching(/ignored|left out/),
    });
    expect(sources()).toEqual(['skills']);
  });

  it('is watched from then on', async () => {
    const { registry, root, ids } = await open();
    const ending = new AbortController();
    const watching = registry.watch(ending.signal);
    await registry.addSource({ path: 'more' });
    rmSync(join(root, 'more/late'), { recursive: true });
    await waitFor('the skill to have gone', () => !ids().includes('late'));
    ending.abort();
    await watching;
  });

  it('is refused after the end', async () => {
    const { registry } = await open();
    const remove = await registry.addSource({ path: 'more' });
    await registry.close();
    await expect(registry.addSource({ path: 'more' })).rejects.toMatchObject({ code: 'REGISTRY_CLOSED' });
    await remove();
  });
});

describe('an extension that contributes a source', () => {
  const EXTENSION: Tree = {
    'extensions/recipes/manifest.yaml':
      'id: recipes\nname: Recipes\nversion: 1.0.0\nentrypoint: main:Main\ndepends_on: [skill_registry]\n',
    'extensions/recipes/main.js': `
      import { join } from 'node:path';
      export class Main {
        async initialize(context) { this.context = context; }
        async start() {
          const { registry } = this.context.getExtension('skill_registry');
          this.remove = await registry.addSource({ path: join(this.context.extensionDir, 'skills'), id: 'recipes' });
        }
        async stop() { await this.remove(); }
        async destroy() {}
        healthCheck() { return true; }
      }`,
    ...skill('extensions/recipes/skills/cake', 'Bake.'),
  };
  const promptOf = async (kernel: Kernel): Promise<string> => {
    const parts = await kernel.describeTurn('orchestrator_agent', 'x', {});
    return parts.map(({ text }) => text).join('\n');
  };

  it('gives agents its skills as long as it runs', async () => {
    const root = tempFolder({ ...TREE, ...EXTENSION });
    const kernel = await boot({ root });
    onTestFinished(() => kernel.shutdown());
    expect(kernel.problems()).toEqual([]);
    expect(await promptOf(kernel)).toContain('• `cake` — Does extensions/recipes/skills/cake.');
    expect(kernel.commands().map(({ name }) => name)).toContain('skills:cake');
    await kernel.reload();
    expect(kernel.problems()).toEqual([]);
    expect(await promptOf(kernel)).toContain('`cake`');
    rmSync(join(root, 'extensions/recipes'), { recursive: true });
    await kernel.reload();
    expect(kernel.problems()).toEqual([]);
    expect(await promptOf(kernel)).not.toContain('`cake`');
    expect(kernel.commands().map(({ name }) => name)).not.toContain('skills:cake');
  });

  it('takes them with it when it fails, if it handed on its signal', async () => {
    const failing = String(EXTENSION['extensions/recipes/main.js'])
      .replace("id: 'recipes' }", "id: 'recipes' }, { signal: this.context.signal }")
      .replace('async stop() { await this.remove(); }', 'async stop() {}')
      .replace(
        ');\n        }\n        async stop',
        ");\n          throw new Error('burnt');\n        }\n        async stop",
      );
    const root = tempFolder({ ...TREE, ...EXTENSION, 'extensions/recipes/main.js': failing });
    const kernel = await boot({ root });
    onTestFinished(() => kernel.shutdown());
    expect(kernel.problems().map(({ code }) => code)).toEqual(['EXTENSION_START_FAILED']);
    await waitFor('the skill to have gone', async () => !(await promptOf(kernel)).includes('`cake`'));
  });
});
