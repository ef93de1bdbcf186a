import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

test('the program of docs/library.md runs as it stands, in a project of its own', () => {
  const page = readFileSync(join(packageRoot(), 'docs/library.md'), 'utf8');
  const [, program = ''] = /a test runs this program\.\n\n```js\n(.*?)```/s.exec(page) ?? [];
  const project = tempFolder({
    'package.json': '{ "type": "module" }',
    'main.js': program,
    'skills/tea/SKILL.md': '---\nname: tea\ndescription: How to brew tea.\n---\nBoil water. Wait three minutes.\n',
    'skills/tea/references/cups.md': 'Cups.\n',
    'node_modules/skill-registry': { link: packageRoot() },
  });
  const printed = execFileSync('node', ['main.js'], { cwd: project, encoding: 'utf8' });
  expect(printed.split('\n')).toEqual([
    "Boil water. Wait three minutes. [ 'references/cups.md' ]",
    "[ 'load success', 'proposal proposed' ]",
    expect.stringMatching(/^No skill "coffee"\. .* \[\]$/),
    '',
  ]);
  expect(readFileSync(join(project, 'skills/tea/SKILL.md'), 'utf8')).toContain('three minutes');
});
