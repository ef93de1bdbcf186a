import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { runTool, type ToolResult } from 'skill-registry/kernel';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openRoot } from '../../../helpers/open-registry.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { type AtEnd, atEndOfSuite, skillMd, tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { type Attempt, FORGED, outsideFolder, SECRET, setTraps, TRAPPED, UNDECODED } from '../../../helpers/traps.ts';

interface Place {
  readonly root: string;
  readonly outside: string;
  /** The skill `good`. */
  readonly dir: string;
}

/** Two skills, and skills that lead out of their source. */
function hostilePlace(atEnd: AtEnd = onTestFinished): Place {
  const outside = outsideFolder(atEnd);
  const tree = {
    'secret.txt': SECRET,
    'skills/good/SKILL.md': skillMd({ name: 'good', description: 'A good skill.' }, 'Good body.'),
    'skills/good/references/guide.md': 'Good guide.',
    'skills/sibling/SKILL.md': skillMd({ name: 'sibling', description: 'Another skill.' }),
    'skills/sibling/private.md': SECRET,
    'skills/leaves': { link: outside },
    'skills/borrowed/SKILL.md': { link: join(outside, 'SKILL.md') },
    'skills/borrowed/notes.md': SECRET,
  };
  const root = tempFolder(tree, atEnd);
  return { root, outside, dir: join(root, 'skills', 'good') };
}

/** The same; `good` is full of traps. */
async function trappedPlace(atEnd: AtEnd = onTestFinished): Promise<Place & { readonly hasDevice: boolean }> {
  const place = hostilePlace(atEnd);
  return { ...place, hasDevice: await setTraps(place.dir, place.outside, atEnd) };
}

function openRegistry({ root }: Place): Promise<SkillRegistry> {
  return openRoot(root);
}

function callTool(registry: SkillRegistry, name: string, args: unknown): Promise<ToolResult> {
  const tool = registry.tools().find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return runTool(tool, args, { turn: {}, signal: new AbortController().signal });
}

/** The code of a refusal; the whole result when it is none. */
function codeOf(result: ToolResult): unknown {
  const { success, error } = result as { success: boolean; error?: { code?: string } };
  return success || Object.keys(result).length !== 2 ? result : error?.code;
}

async function expectGoodIsServed(registry: SkillRegistry): Promise<void> {
  const list = await callTool(registry, 'list_skills', {});
  expect(list).toMatchObject({ success: true, total: 2, skills: [{ skill_id: 'good' }, { skill_id: 'sibling' }] });
  const skill = await callTool(registry, 'read_skill', { skill_id: 'good' });
  expect(skill).toMatchObject({ success: true, content: 'Good body.' });
  const guide = await callTool(registry, 'read_skill_resource', { skill_id: 'good', path: 'references/guide.md' });
  expect(guide).toMatchObject({ success: true, content: 'Good guide.' });
  expect(JSON.stringify([list, skill, guide])).not.toContain(SECRET);
}

describe.each([
  ['forged', FORGED, hostilePlace],
  ['encoded or look-alike', UNDECODED, hostilePlace],
  ['trapped', TRAPPED, trappedPlace],
] as const)('a path that is %s', (_kind, attempts: readonly Attempt[], makePlace) => {
  // One for all of them: whatever is refused changes nothing, so the good skill is still served after each.
  const atEnd = atEndOfSuite();
  let place: Place;
  let registry: SkillRegistry;
  beforeAll(async () => {
    place = await makePlace(atEnd);
    registry = await openRoot(place.root, {}, atEnd);
  });

  it.each(attempts)('is refused: %s', async (_title, path, code) => {
    const asked = typeof path === 'string' ? path : path(place.outside, place.dir);
    const result = await callTool(registry, 'read_skill_resource', { skill_id: 'good', path: asked });
    expect(codeOf(result)).toBe(code);
    expect(JSON.stringify(result)).not.toContain(SECRET);
    expect(JSON.stringify(result)).not.toContain(place.outside);
    await expectGoodIsServed(registry);
  });
});

it('refuses a device node', async ({ skip }) => {
  const place = await trappedPlace();
  skip(!place.hasDevice, 'making a device node takes privileges this process does not have');
  const result = await callTool(await openRegistry(place), 'read_skill_resource', { skill_id: 'good', path: 'device' });
  expect(codeOf(result)).toBe('RESOURCE_NOT_FOUND');
});

it.each([
  ['the parent', '..'],
  ['the grandparent', '../..'],
  ['the folder itself', '.'],
  ['the root', '/'],
  ['nothing', ''],
  ['a blank', ' '],
  ['a folder that is no skill', 'good/references'],
  ['a skill and a slash', 'good/'],
  ['a skill and the way to another', 'good/../sibling'],
  ['a skill and NUL', 'good\0'],
  ['a skill in capitals', 'GOOD'],
  ['a skill after a blank', ' good'],
  ['the prototype', '__proto__'],
  ['the constructor', 'constructor'],
  ['a method', 'toString'],
  ['another method', 'hasOwnProperty'],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['a qualified way up', 'skills:../x'],
  ['a qualified way out', 'skills:../../..'],
  ['a qualified way round', 'skills:good/../sibling'],
  ['a qualified nothing', 'skills:'],
  ['a qualified absolute path', 'skills:/etc'],
  ['no source', ':good'],
  ['a source that does not exist', 'other:good'],
  ['a linked folder that leaves the source', 'leaves'],
  ['that folder with its source', 'skills:leaves'],
  ['a skill whose SKILL.md leaves the source', 'borrowed'],
  ['a backslash', '..\\good'],
  ['an encoded way up', '%2e%2e%2fgood'],
])('finds no skill under the id of %s', async (_title, skill_id) => {
  const place = hostilePlace();
  const registry = await openRegistry(place);
  for (const path of ['SKILL.md', 'secret.txt', 'guide.md', 'notes.md', 'skills/sibling/private.md']) {
    const result = await callTool(registry, 'read_skill_resource', { skill_id, path });
    expect(codeOf(result)).toBe('SKILL_NOT_FOUND');
    expect(JSON.stringify(result)).not.toContain(SECRET);
    expect(JSON.stringify(result).length).toBeLessThan(500);
  }
  expect(codeOf(await callTool(registry, 'read_skill', { skill_id }))).toBe('SKILL_NOT_FOUND');
  await expectGoodIsServed(registry);
});

it.each([
  ['no path', { skill_id: 'good' }],
  ['no skill', { path: 'SKILL.md' }],
  ['null', { skill_id: 'good', path: null }],
  ['a list', { skill_id: 'good', path: ['references', 'guide.md'] }],
  ['an object that turns into a path', { skill_id: 'good', path: { toString: (): string => 'SKILL.md' } }],
  ['a number for an id', { skill_id: 0, path: 'SKILL.md' }],
  ['a base of its own', { skill_id: 'good', path: 'SKILL.md', base: '/' }],
  ['no object', 'good'],
])('refuses arguments of the wrong shape: %s', async (_title, args) => {
  const registry = await openRegistry(hostilePlace());
  expect(codeOf(await callTool(registry, 'read_skill_resource', args))).toBe('INVALID_ARGUMENT');
});

it('reads a file under every honest spelling of its path', async () => {
  const registry = await openRegistry(hostilePlace());
  for (const path of [
    'references/guide.md',
    './references/guide.md',
    'references//guide.md',
    'references/./guide.md',
  ]) {
    const result = await callTool(registry, 'read_skill_resource', { skill_id: 'good', path });
    expect(result).toMatchObject({ success: true, path, content: 'Good guide.' });
  }
});

it('serves skills whose directories are called like members of an object', async () => {
  const names = ['__proto__', 'constructor', 'toString'];
  const root = tempFolder(Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, `Body of ${name}.`])));
  const registry = await openRoot(root);
  for (const name of names)
    expect(await callTool(registry, 'read_skill', { skill_id: name })).toMatchObject({ content: `Body of ${name}.` });
});

it('says which links were not followed, and offers nothing behind them', async () => {
  const place = await trappedPlace();
  const registry = await openRegistry(place);
  const outsideLinks = registry.problems().filter(({ code }) => code === 'SYMLINK_OUTSIDE');
  expect(outsideLinks.map(({ file }) => file)).toEqual([
    join(place.root, 'skills/borrowed/SKILL.md'),
    join(place.root, 'skills/leaves'),
  ]);
  expect(JSON.stringify([registry.problems(), registry.list(), await registry.context('code')])).not.toContain(SECRET);
  const skill = await registry.read('good');
  expect(skill.resources).toEqual([{ path: 'references/guide.md', size: 11 }]);
});

it.skipIf(process.platform !== 'linux')('leaves no descriptor open, whatever was refused', async () => {
  const place = await trappedPlace();
  const registry = await openRegistry(place);
  await expectGoodIsServed(registry);
  const before = readdirSync('/proc/self/fd').length;
  for (let n = 0; n < 20; n++) {
    for (const [, path] of [...TRAPPED, ['', 'references/guide.md'] as const])
      await callTool(registry, 'read_skill_resource', { skill_id: 'good', path });
  }
  // Other work of this process may hold a few for a moment.
  expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 15);
});

it('refuses a skill that became a link since it was found', async () => {
  const place = hostilePlace();
  const registry = await openRegistry(place);
  rmSync(place.dir, { recursive: true });
  writeTree(place.root, { 'skills/good': { link: place.outside } });
  for (const path of ['guide.md', 'references/guide.md', 'SKILL.md'])
    expect(codeOf(await callTool(registry, 'read_skill_resource', { skill_id: 'good', path }))).toBe('PATH_TRAVERSAL');
  expect(codeOf(await callTool(registry, 'read_skill', { skill_id: 'good' }))).toBe('PATH_TRAVERSAL');
  await registry.refresh();
  expect(codeOf(await callTool(registry, 'read_skill', { skill_id: 'good' }))).toBe('SKILL_NOT_FOUND');
});

it('refuses the same on the command line', async () => {
  const { root } = await trappedPlace();
  const attempts = [
    ['good', '../sibling/private.md', 'PATH_TRAVERSAL', 1],
    ['good', 'folder-outside/secret.txt', 'PATH_TRAVERSAL', 1],
    ['good', 'fifo', 'RESOURCE_NOT_FOUND', 1],
    ['../..', 'secret.txt', 'SKILL_NOT_FOUND', 1],
  ] as const;
  const shown = await Promise.all(
    attempts.map(([id, path]) =>
      runCommand(['show', id, '--resource', path, '--json', '--skills', 'skills'], { cwd: root }),
    ),
  );
  expect(
    shown.map(({ status, stdout, stderr }, index) => {
      const { error } = JSON.parse(stdout) as { error: { code: string } };
      expect(stderr).toContain(error.code);
      expect(stdout + stderr).not.toContain(SECRET);
      return [...(attempts[index]?.slice(0, 2) ?? []), error.code, status];
    }),
  ).toEqual(attempts);
  const empty = await runCommand(['show', 'good', '--resource', '', '--skills', 'skills'], { cwd: root });
  expect(empty).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining("'--resource <path>' is empty"),
  });
});
