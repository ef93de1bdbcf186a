import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';
import { workspace } from '../helpers/workspace.ts';

const ALLOW = { writes: { create: 'allow', update: 'allow', delete: 'allow' } };
const SKILL = skillMd({ name: 'tea', description: 'Brew tea.' });

it('everything is code for agents where links lead to more folders than are searched', async () => {
  const many = tempFolder({});
  for (let at = 0; at <= 10_000; at += 1) mkdirSync(join(many, String(at)));
  const tree: Tree = { 'skills/tea/SKILL.md': SKILL, 'extensions/box/lib': { link: many } };
  const { codeOf } = await workspace(tree, ALLOW);
  expect(await codeOf('write_file', { path: 'skills/tea/x.js', content: 'evil' })).toBe('EXTENSION_PROTECTED');
});
