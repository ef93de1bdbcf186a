import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { skillMd } from '../helpers/temp-folder.ts';
import { workspace } from '../helpers/workspace.ts';

const NOTE = skillMd({ name: 'note', description: 'A note.' });
const ALLOW = { writes: { create: 'allow', update: 'allow' } };
const BARE = { ...ALLOW, sources: [{ path: 'skills', bare_files: true }] };
/** Every place where a new file is a skill, though it is no SKILL.md in a folder directly below the source. */
const PLACES: readonly [what: string, path: string, config: object][] = [
  ['a bare file', 'skills/note.md', BARE],
  [
    'a bare file of a folder in the source',
    'skills/deep/note.md',
    { ...ALLOW, sources: [{ path: 'skills' }, { path: 'skills/deep', bare_files: true }] },
  ],
  [
    'a file that is a source',
    'skills/note.md',
    { ...ALLOW, sources: [{ path: 'skills' }, { path: 'skills/note.md', optional: true }] },
  ],
  ['a SKILL.md below another folder', 'skills/group/note/SKILL.md', ALLOW],
];

describe.each(PLACES)('%s that an agent writes without review', (_, path, config) => {
  it.each([
    ['no frontmatter', 'Just text.', 'FRONTMATTER_MISSING'],
    ['no description', '---\nname: note\n---\n', 'DESCRIPTION_MISSING'],
    ['the name of another', skillMd({ name: 'good', description: 'Another.' }), 'Write name: note'],
  ])('is refused with %s, and what to mend is said', async (__, content, message) => {
    const { root, call } = await workspace({}, config as never);
    const result = await call('write_file', { path, content }, { agentId: 'writer' });
    expect(result).toMatchObject({ error: { code: 'SKILL_INVALID', message: expect.stringContaining(message) } });
    expect(existsSync(join(root, path))).toBe(false);
  });

  it('is a revision of its author, with the reason', async () => {
    const { registry, call } = await workspace({}, config as never);
    const args = { path, content: NOTE, justification: 'Learnt.' };
    const result = await call('write_file', args, { agentId: 'writer' });
    expect(result).toMatchObject({ success: true, created: true, revision: 1 });
    const revisions = await registry.history.revisions('note');
    expect(revisions).toMatchObject([{ number: 1, kind: 'created', by: 'agent:writer', reason: 'Learnt.' }]);
    expect(Buffer.from(await registry.history.read('note', 1)).toString()).toBe(NOTE);
  });

  it('is held to the profile of its source', async () => {
    const { sources = [{ path: 'skills' }], ...rest } = config as { sources?: object[] };
    const spec = sources.map((source) => ({ ...source, validation: 'spec' }));
    const content = skillMd({ name: 'note', description: 'A note.', colour: 'red' });
    const { codeOf } = await workspace({}, { ...rest, sources: spec });
    expect(await codeOf('write_file', { path, content })).toBe('SKILL_INVALID');
  });
});

it('a bare file that would take the id of a skill, or is there, is no new skill', async () => {
  const { call } = await workspace({ 'skills/note.md': NOTE }, BARE);
  const taken = await call('write_file', {
    path: 'skills/good.md',
    content: skillMd({ name: 'good', description: 'B.' }),
  });
  const there = await call('write_file', { path: 'skills/note.md', content: NOTE });
  for (const result of [taken, there])
    expect(result).toMatchObject({
      error: { code: 'WRITE_DENIED', message: expect.stringContaining('only a person changes it') },
    });
});

it('other files of such a source are no skills', async () => {
  const { call } = await workspace({}, BARE);
  for (const path of ['skills/README.md', 'skills/notes.txt', 'skills/group/note.md'])
    expect(await call('write_file', { path, content: 'Just text.' })).toMatchObject({ success: true, created: true });
});
