import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeSources } from '../../../extensions/skill_registry/core/sources/make-sources.ts';
import { packageRoot } from '../../../kernel/host.ts';

const NO_PAGES = { fetchCopy: async () => ({ isComplete: true }), onProgress: () => undefined };

const make = async (...configs: readonly { path?: string; shipped?: true; id?: string }[]) => {
  const sources = await makeSources(
    configs.map((config) => ({
      allow_outside: false,
      preload: false,
      optional: false,
      ignore_files: false,
      bare_files: false,
      ...config,
    })),
    {
      ...{ root: '/root', configFile: '/root/config.yaml', taken: new Set() },
      ...NO_PAGES,
    },
  );
  return sources.map(({ id, location }) => [id, location]);
};

it.each([
  ['skills', 'skills', '/root/skills'],
  ['./a/../b/', 'b', '/root/b'],
  ['../shared', 'shared', '/shared'],
  ['/abs/olute', 'olute', '/abs/olute'],
  ['~/skills', 'skills', join(homedir(), 'skills')],
  ['~notahome', '~notahome', '/root/~notahome'],
  ['.', 'root', '/root'],
  ['x/SKILL.md', 'x', '/root/x'],
  ['x/skill.md', 'x', '/root/x'],
  ['x/Skill.MD', 'x', '/root/x'],
  ['x/skills.md', 'skills', '/root/x/skills.md'],
  ['/', 'source', '/'],
  ['my skills: new', 'my-skills-new', '/root/my skills: new'],
])('the path %s makes the source %s', async (path, id, location) => {
  expect(await make({ path })).toEqual([[id, location]]);
});

it('the shipped skills are those of the package', async () => {
  expect(await make({ shipped: true })).toEqual([['shipped', join(packageRoot(), 'skills')]]);
});

it('sources keep their order, and ids that are taken get a number', async () => {
  expect(
    await make({ path: 'a/skills' }, { path: 'b/skills' }, { path: 'c', id: 'skills-2' }, { path: 'd/skills' }),
  ).toEqual([
    ['skills', '/root/a/skills'],
    ['skills-2', '/root/b/skills'],
    ['skills-2-2', '/root/c'],
    ['skills-3', '/root/d/skills'],
  ]);
});
