import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot, runTool } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../../kernel/host.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';

it('runs the extension that the documentation shows, as it stands', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/extension-contract.md'), 'utf8');
  const [, manifest = '', code = ''] = /```yaml\n([\s\S]*?)```[\s\S]*?```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const root = tempFolder({ 'extensions/hello/manifest.yaml': manifest, 'extensions/hello/main.ts': code });
  const kernel = await boot({ root });
  onTestFinished(() => kernel.shutdown());
  const hello = kernel.tools().find(({ extensionId }) => extensionId === 'hello');
  if (!hello) throw new Error('the tool is not offered');
  const call = { turn: {}, signal: new AbortController().signal };
  expect(await runTool(hello.tool, { name: 'Ada' }, call)).toEqual({ success: true, greeting: 'Hello, Ada!' });
  expect(kernel.problems()).toEqual([]);
  expect(kernel.getExtension('hello')).toHaveProperty('getTools');
  expect(() => kernel.getExtension('gone')).toThrow(expect.objectContaining({ code: 'EXTENSION_NOT_RUNNING' }));

  const [, program = ''] = /A test needs no terminal and no model:\n\n```js\n(.*?)```/s.exec(page) ?? [];
  writeTree(root, {
    'package.json': '{ "type": "module" }',
    'test.js': program,
    'node_modules/skill-registry': { link: packageRoot() },
  });
  expect(execFileSync('node', ['test.js'], { cwd: root, encoding: 'utf8' })).toBe(
    "{ success: true, greeting: 'Hello, Ada!' }\n[] RUNNING\n",
  );
});
