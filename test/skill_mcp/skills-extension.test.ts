import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { expect, it } from 'vitest';
import { type Era, httpClient, serveRegistry } from '../helpers/mcp.ts';
import { skillMd, type Tree } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const ERAS: readonly Era[] = ['modern', 'legacy'];

const plain = (id: string): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Does ${id}.` }, `Body of ${id}.`),
});

const TEA: Tree = {
  ...plain('tea'),
  'skills/tea/references/green & black.md': 'Steep.\r\n',
  'skills/tea/references/deep/more.md': '\ufeffWith a byte order mark.',
  'skills/tea/assets/leaf.png': Uint8Array.from([0x89, 0x50, 0xff, 0x00]),
  // Never handed out.
  'skills/tea/.env': 'TOKEN=1',
  'skills/tea/.git/config': '',
  'skills/tea/assets/server.pem': 'key',
};

it.each(ERAS)(
  'lists, gets and reads every file, and the client finds every digest and size right (%s)',
  async (era) => {
    const { serving, loaded } = await serveRegistry({ ...TEA, ...plain('cup') });
    const skills = new SkillsClient(await httpClient(serving.url, era));
    const { skills: entries } = await skills.list();
    expect(entries.map(({ uri }) => uri)).toEqual(['skill://cup/SKILL.md', 'skill://tea/SKILL.md']);
    expect(loaded).toEqual([]);
    const [, tea] = entries;
    if (!tea || tea.resources === 'dynamic') throw new Error('no entry');
    expect((await skills.get(tea.uri)).skill).toEqual(tea);
    expect(tea.frontmatter).toEqual({ name: 'tea', description: 'Does tea.' });
    const files = await Promise.all(tea.resources.map(({ uri }) => skills.read(tea, uri)));
    expect(files.every(({ verified }) => verified)).toBe(true);
    expect(files.map(({ uri, mimeType }) => `${uri} ${mimeType}`)).toEqual([
      'skill://tea/SKILL.md text/markdown',
      'skill://tea/assets/leaf.png image/png',
      'skill://tea/references/deep/more.md text/markdown',
      'skill://tea/references/green%20&%20black.md text/markdown',
    ]);
    expect(loaded.map(({ skillId, path, outcome }) => [skillId, path, outcome])).toContainEqual([
      'tea',
      'references/deep/more.md',
      'success',
    ]);
  },
);

it('reads directories at every level, subdirectories marked as such, and no file as one', async () => {
  const { serving } = await serveRegistry(TEA, { mcp: { pageSize: 1 } });
  const skills = new SkillsClient(await httpClient(serving.url));
  const children = async (uri: string): Promise<readonly string[]> =>
    (await skills.readDirectory(uri)).resources.map(({ name, mimeType }) => `${name} ${mimeType}`);
  expect(await children('skill://tea')).toEqual([
    'SKILL.md text/markdown',
    'assets inode/directory',
    'references inode/directory',
  ]);
  expect(await children('skill://tea/references')).toEqual(['deep inode/directory', 'green & black.md text/markdown']);
  for (const uri of ['skill://tea/SKILL.md', 'skill://tea/nope', 'skill://nope', 'skill://tea/', 'file:///etc']) {
    await expect(skills.readDirectory(uri)).rejects.toMatchObject({ code: -32602 });
  }
});

it('walks pages to the end, and refuses a cursor it has not given', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const { serving } = await serveRegistry(Object.assign({}, ...ids.map(plain)), { mcp: { pageSize: 2 } });
  const client = await httpClient(serving.url);
  const skills = new SkillsClient(client);
  expect((await skills.list()).skills.map(({ frontmatter }) => frontmatter.name)).toEqual(ids);
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(ids);
  expect((await client.listResources()).resources.map(({ name }) => name)).toEqual(ids);
  await expect(skills.list({ cursor: 'nonsense' })).rejects.toMatchObject({ code: -32602 });
});

it('publishes only what conforms and names the rest, which tools and prompts still give', async () => {
  const tree = {
    ...plain('tea'),
    'skills/cup/SKILL.md': skillMd({ name: 'mug', description: 'Cups.' }),
    'skills/bare/SKILL.md': 'No frontmatter at all.',
    'skills/lower/skill.md': skillMd({ name: 'lower', description: 'Lower case.' }),
    'skills/secret/SKILL.md': skillMd({ name: 'secret', description: 'S.', 'disable-model-invocation': 'true' }),
  };
  const { serving, door, told } = await serveRegistry(tree);
  const client = await httpClient(serving.url);
  const skills = new SkillsClient(client);
  expect((await skills.list()).skills.map(({ uri }) => uri)).toEqual(['skill://tea/SKILL.md']);
  const problems = await door.problems();
  expect(problems.map(({ code, details }) => [code, details?.skill_id])).toEqual([
    ['SKILL_NOT_PUBLISHED', 'bare'],
    ['SKILL_NOT_PUBLISHED', 'cup'],
    ['SKILL_NOT_PUBLISHED', 'lower'],
  ]);
  expect(problems[1]?.message).toContain('"mug" must match the last path segment "cup"');
  await waitFor('the problems to be told', () => told.length === 3);
  for (const uri of ['skill://cup/SKILL.md', 'skill://secret/SKILL.md', 'skill://tea/x.md', 'skill://%ff/SKILL.md']) {
    await expect(skills.get(uri)).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  }
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
    'bare',
    'cup',
    'lower',
    'secret',
    'tea',
  ]);
});

it('gives an entry and bytes that agree, whatever has changed on the disk since they were listed', async () => {
  const { serving, root } = await serveRegistry({ ...TEA, 'skills/tea/guide.md': 'one' });
  const client = await httpClient(serving.url);
  const skills = new SkillsClient(client);
  const [before] = (await skills.list()).skills;
  if (!before) throw new Error('no entry');
  // The same size, so that only the content tells.
  writeFileSync(join(root, 'skills/tea/guide.md'), 'two');
  await expect(skills.read(before, 'guide.md', { cacheMode: 'refresh' })).rejects.toMatchObject({ reason: 'digest' });
  const { skill: after } = await skills.get(before.uri);
  expect(await skills.read(after, 'guide.md')).toMatchObject({ text: 'two', verified: true });
  rmSync(join(root, 'skills/tea/guide.md'));
  await expect(client.readResource({ uri: 'skill://tea/guide.md' }, { cacheMode: 'refresh' })).rejects.toMatchObject({
    code: -32602,
  });
});
