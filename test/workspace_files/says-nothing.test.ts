import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';
import { workspace } from '../helpers/workspace.ts';

const ALLOW = { writes: { create: 'allow', update: 'allow' } };
const NOTHING: readonly [what: string, frontmatter: string][] = [
  ['an empty list', 'name: new\ndescription: []'],
  ['a list', 'name: new\ndescription: [draft]'],
  ['a number', 'name: new\ndescription: 3'],
  ['a truth value', 'name: new\ndescription: true'],
  ['a line', 'name: new\ndescription: "---"'],
  ['digits', 'name: new\ndescription: "3."'],
  ['braille blanks', 'name: new\ndescription: "\u2800\u2800"'],
  ['tag characters', 'name: new\ndescription: "\u{e0041}\u{e0042}"'],
  ['a Hangul filler', 'name: new\ndescription: \u3164'],
];

describe.each(NOTHING)('a description that is %s', (_, frontmatter) => {
  const content = `---\n${frontmatter}\n---\nBody.\n`;

  it('is none: an agent is told what to mend', async () => {
    const { call } = await workspace({}, ALLOW);
    const mend = expect.stringMatching(/DESCRIPTION_MISSING: Write description:/);
    for (const path of ['skills/new/SKILL.md', 'skills/group/new/SKILL.md'])
      expect(await call('write_file', { path, content })).toMatchObject({
        error: { code: 'SKILL_INVALID', message: mend },
      });
    const good = content.replace('name: new', 'name: good');
    expect(await call('write_file', { path: 'skills/good/SKILL.md', content: good })).toMatchObject({
      error: { code: 'SKILL_INVALID', message: mend },
    });
  });

  it.each(['spec', 'strict', 'lenient'])('is reported by validate: %s', async (profile) => {
    const cwd = tempFolder({ 'new/SKILL.md': content });
    const { stderr } = await runCommand(['validate', 'new', '--profile', profile], { cwd });
    expect(stderr).toMatch(/description/i);
  });
});

it('frontmatter of nothing but a comment is none', async () => {
  const { call } = await workspace({}, ALLOW);
  const result = await call('write_file', { path: 'skills/new/SKILL.md', content: '---\n# name: new\n---\nBody.\n' });
  expect(result).toMatchObject({ error: { message: expect.stringContaining('FRONTMATTER_MISSING') } });
});

it('a skill that had no description before is still changed', async () => {
  const old = '---\nname: old\ndescription: 3\n---\nOld.\n';
  const { call, root } = await workspace({ 'skills/old/SKILL.md': old, 'skills/bare/SKILL.md': 'Old.\n' }, ALLOW);
  const change = (id: string, content: string) => call('write_file', { path: `skills/${id}/SKILL.md`, content });
  expect(await change('old', old.replace('Old.', 'New.'))).toMatchObject({ success: true });
  expect(await change('bare', 'New.\n')).toMatchObject({ success: true });
  expect(readFileSync(join(root, 'skills/old/SKILL.md'), 'utf8')).toContain('New.');
  const lost = await change('good', skillMd({ name: 'good', description: '"..."' }));
  expect(lost).toMatchObject({ error: { code: 'SKILL_INVALID' } });
});
