import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { pack } from '../helpers/packed.ts';
import { writeTree } from '../helpers/temp-folder.ts';

/** A TypeScript project of somebody else with the packed package, what it depends on, and no @types. */
let project = '';
const MODULES = join(packageRoot(), 'node_modules');

beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-types-')));
  const run = promisify(execFile);
  await run('tar', ['-xzf', pack(project).tarball], { cwd: project });
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(join(project, 'package'), join(project, 'node_modules/skill-registry'));
  for (const name of readdirSync(MODULES)) {
    if (name !== '@types' && !name.startsWith('.'))
      symlinkSync(join(MODULES, name), join(project, 'node_modules', name));
  }
  writeTree(project, {
    'package.json': '{ "private": true, "type": "module" }',
    'library.ts': `
      import { createSkillRegistry, defineSource, type SkillRegistry } from 'skill-registry';
      export const source = defineSource({ id: 'a', skills: async () => [{ id: 'b', description: 'c', body: 'd' }] });
      export async function use(registry: SkillRegistry): Promise<number> {
        await registry.addSource(source);
        return (await registry.history.read('b', 1)).length + (await registry.read('b')).approxTokens;
      }
      // @ts-expect-error sources
      export const misspelt = createSkillRegistry({ config: { sorces: 'x' } });`,
    'kernel.ts': `
      import { boot, defineTool, type Extension, z } from 'skill-registry/kernel';
      export const tool = defineTool({
        name: 'a', description: 'b', input: z.object({ c: z.string() }), execute: async ({ c }) => ({ success: true, c }),
      });
      // @ts-expect-error a member is missing
      export const extension: Extension = { async start() {} };
      export const kernel = boot({ root: '.' });`,
    'ai-sdk.ts': `
      import { createSkillRegistry } from 'skill-registry';
      import { skillTools } from 'skill-registry/ai-sdk';
      export const tools = skillTools(await createSkillRegistry());`,
    'doors.ts': `
      import { createSkillRegistry } from 'skill-registry';
      import { createMcpServer } from 'skill-registry/mcp';
      export const door = await createMcpServer(await createSkillRegistry());`,
  });
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** What the compiler says, one finding a line. */
async function compile(files: readonly string[], options: object = {}): Promise<readonly string[]> {
  const strict = { strict: true, target: 'es2023', module: 'nodenext', noEmit: true, skipLibCheck: false, types: [] };
  writeTree(project, { 'tsconfig.json': JSON.stringify({ compilerOptions: { ...strict, ...options }, files }) });
  const tsc = join(MODULES, '.bin/tsc');
  const { stdout } = await promisify(execFile)(tsc, [], { cwd: project }).catch((error) => error as { stdout: string });
  return stdout.split('\n').filter((line) => /error TS\d/.test(line));
}

it.each(['library.ts', 'kernel.ts', 'ai-sdk.ts'])(
  'the declarations compile without skipLibCheck and without any @types: %s',
  async (file) => {
    expect(await compile([file])).toEqual([]);
    expect(await compile([file], { module: 'esnext', moduleResolution: 'bundler' })).toEqual([]);
  },
);

it('the declarations of the door for MCP need nothing but what the package it hands on needs', async () => {
  const found = await compile(['doors.ts']);
  expect(found.filter((line) => !/node_modules\/@modelcontextprotocol\//.test(line))).toEqual([]);
  // With that, all of it compiles.
  const given = { types: ['node'], typeRoots: [join(MODULES, '@types')] };
  expect(await compile(['library.ts', 'kernel.ts', 'doors.ts', 'ai-sdk.ts'], given)).toEqual([]);
});
