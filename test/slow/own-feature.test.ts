import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const PARTS = ['lib', 'kernel', 'extensions', 'cli', 'skills'];
const REGISTRY = 'extensions/skill_registry';
const CONFIG = 'sources: [{ glossary: words.txt }]\n';

/** Run in the copy. */
const PROGRAM = `
import { createSkillRegistry } from 'skill-registry';
import { serveReview } from './extensions/skill_review/index.ts';
const [root] = process.argv.slice(2);
const registry = await createSkillRegistry({ root, config: { sources: [{ glossary: 'words.txt' }] } });
const { content } = await registry.read('glossary', {}, { agentId: 'clerk' });
const asked = { isHeldReadable: () => true, isTrusted: () => true, agents: async () => [] };
const serving = await serveReview({ registry, root, by: 'person:ada', ...asked });
const entered = await fetch(serving.url, { redirect: 'manual' });
const cookie = entered.headers.getSetCookie()[0].split(';')[0];
const page = await fetch(new URL('/glossary', serving.url), { headers: { cookie } });
const shown = { content, readers: [...registry.admin.glossaryReaders()], status: page.status, page: await page.text() };
await serving.close();
await registry.close();
console.log(JSON.stringify(shown));
`;

it('adds the feature of docs/internals/add-a-feature.md by a folder and three lines, and is whole again without them', () => {
  const copy = tempFolder();
  for (const part of [...PARTS, 'package.json', 'tsconfig.json'])
    cpSync(join(packageRoot(), part), join(copy, part), { recursive: true });
  symlinkSync(join(packageRoot(), 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'try.mjs'), PROGRAM);
  const folder = join(copy, REGISTRY, 'features/glossary');
  const list = join(copy, REGISTRY, 'features.ts');
  const before = readFileSync(list, 'utf8');

  cpSync(join(packageRoot(), 'examples/own-feature'), folder, { recursive: true });
  writeFileSync(list, withLines(before));
  expect(compile(copy)).toBe('');
  const root = tempFolder({ 'words.txt': 'tea: a drink\n', 'data/skill_registry/config.yaml': CONFIG });
  const tried = JSON.parse(run(copy, ['try.mjs', root])) as Readonly<Record<string, unknown>>;
  expect(tried).toMatchObject({ content: 'tea: a drink', readers: [['clerk', 1]], status: 200 });
  expect(tried.page).toMatch(/href="\/glossary"[\s\S]*clerk/);
  expect(run(copy, ['cli/main.ts', 'glossary', 'tea', '--root', root, '--trust'])).toBe('tea: a drink\n');

  rmSync(folder, { recursive: true });
  writeFileSync(list, before);
  expect(compile(copy)).toBe('');
});

// --- internal ---

/** With the lines that the page names, each after the last of its sort. */
function withLines(list: string): string {
  const page = readFileSync(join(packageRoot(), 'docs/internals/add-a-feature.md'), 'utf8');
  const [, block = ''] = /```ts\n(import \{ glossary.*?)```/s.exec(page) ?? [];
  const [imported = '', exported = '', named = ''] = block.trimEnd().split('\n');
  const added = list
    .replace(/(\nimport [^\n]*)(?=\n\n)/, `$1\n${imported}`)
    .replace(/(\nexport \*[^\n]*)(?=\n\n)/, `$1\n${exported}`)
    .replace(/\n\];/, `\n${named}\n];`);
  expect(added.split('\n')).toHaveLength(list.split('\n').length + 3);
  return added;
}

/** What does not compile. */
function compile(copy: string): string {
  const config = { extends: './tsconfig.json', include: PARTS };
  writeFileSync(join(copy, 'tsconfig.all.json'), JSON.stringify(config));
  const tsc = join(packageRoot(), 'node_modules/.bin/tsc');
  return spawnSync(tsc, ['-p', 'tsconfig.all.json'], { cwd: copy, encoding: 'utf8' }).stdout;
}

function run(cwd: string, args: readonly string[]): string {
  const fromSources = ['--import', 'tsx', '--conditions=source', ...args];
  const { stdout, stderr } = spawnSync(process.execPath, fromSources, { cwd, encoding: 'utf8' });
  return stdout || stderr;
}
