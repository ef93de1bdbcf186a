import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd } from '../../helpers/temp-folder.ts';
import { workspace } from '../../helpers/workspace.ts';

const ALLOW = {
  writes: { create: 'allow', update: 'allow', delete: 'allow' },
  tools: ['skill', 'create_skill'],
};
const BODY = 'Brew it well.';
const TEA = skillMd({ name: 'tea', description: 'Brews tea.' }, BODY);

/** What is wrong with a text for the skill `tea`, and what the refusal says to write. */
const LACKING: readonly (readonly [string, string, string])[] = [
  ['no frontmatter', BODY, 'name: tea, and description'],
  ['an empty frontmatter', `---\n---\n${BODY}`, 'name: tea, and description'],
  ['frontmatter without a field', `---\n{}\n---\n${BODY}`, 'Write name: tea'],
  ['no name', skillMd({ description: 'Brews tea.' }, BODY), 'Write name: tea'],
  ['a name that is no text', `---\nname: { a: b }\ndescription: Brews tea.\n---\n${BODY}`, 'Write name: tea'],
  ['a quote that is never closed', `---\nname: tea\ndescription: "Brews.\n---\n${BODY}`, 'Put it in single quotes'],
  ['broken YAML', `---\nname: tea\ndescription: *tea\n---\n${BODY}`, 'Correct it from this line on'],
  ['a field twice', `---\nname: tea\nname: tea\ndescription: Brews.\n---\n${BODY}`, 'Correct it from this line on'],
  ['frontmatter below blank lines', `\n\n${TEA}`, 'Remove them'],
  ['no description but when_to_use', skillMd({ name: 'tea', when_to_use: 'For tea.' }, BODY), 'Write description'],
  ['no description', skillMd({ name: 'tea' }, BODY), 'Write description'],
  ['an empty description', skillMd({ name: 'tea', description: '""' }, BODY), 'Write description'],
  ['the name of another skill', skillMd({ name: 'good', description: 'Brews tea.' }, BODY), 'Write name: tea'],
];

describe.each(LACKING)('a SKILL.md with %s', (_, content, mend) => {
  const refused = { success: false, error: { code: 'SKILL_INVALID', message: expect.stringContaining(mend) } };

  it('is refused where agents may write: the file tool', async () => {
    const { call, root } = await workspace({}, ALLOW);
    const paths = ['skills/tea/SKILL.md', 'skills/group/tea/SKILL.md', 'skills/group/tea/skill.md'];
    for (const path of paths) expect(await call('write_file', { path, content }), path).toMatchObject(refused);
    const path = 'skills/tea/SKILL.md';
    expect(await call('write_file', { path, content: TEA })).toMatchObject({ success: true });
    expect(await call('write_file', { path, content })).toMatchObject(refused);
    expect(readFileSync(join(root, path), 'utf8')).toBe(TEA);
    const good = { path: 'skills/group/cup/SKILL.md', content: TEA.replace('name: tea', 'name: cup') };
    expect(await call('write_file', good)).toMatchObject({ success: true, created: true });
  });

  it('is refused where agents may write: the skill tool', async () => {
    const { registry } = await openRegistry(
      { 'skills/good/SKILL.md': skillMd({ name: 'good', description: 'Good.' }) },
      ALLOW,
    );
    const skill = (args: object) => runRegistryTool(registry, 'skill', { name: 'tea', ...args });
    expect(await skill({ action: 'create', content })).toMatchObject(refused);
    expect(await skill({ action: 'create', content: TEA })).toMatchObject({ success: true });
    expect(await skill({ action: 'edit', content })).toMatchObject(refused);
    expect((await registry.read('tea', { view: 'raw' })).content).toBe(TEA);
  });
});

it('fields are not patched away, and create_skill wants a description', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': TEA }, ALLOW);
  for (const fields of [{ description: null }, { description: ' ' }, { name: 'good' }]) {
    const result = await runRegistryTool(registry, 'skill', { action: 'patch', name: 'tea', fields });
    expect(result).toMatchObject({ success: false, error: { code: 'SKILL_INVALID' } });
  }
  const args = { skill_id: 'cup', description: ' ', body: BODY, justification: 'Learnt.' };
  expect(await runRegistryTool(registry, 'create_skill', args)).toMatchObject({ error: { code: 'SKILL_INVALID' } });
});

it('what was so before is not held against a change', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': BODY }, ALLOW);
  const patch = { action: 'patch', name: 'tea', old_string: 'well', new_string: 'better' };
  expect(await runRegistryTool(registry, 'skill', patch)).toMatchObject({ success: true });
});
