import { join } from 'node:path';
import { type CodedError, isCodedError, runTool } from 'skill-registry/kernel';
import { describe, expect, test } from 'vitest';
import { type Tree, writeTree } from '../../helpers/temp-folder.ts';
import { bootTree, codesOf, entrypoint, extension, manifest, reasonOf, states } from './boot-extensions.ts';

/** An extension whose entrypoint file has this name and text. */
function written(fileName: string, text: string, id = 'sample'): Tree {
  return {
    [`extensions/${id}/manifest.yaml`]: manifest(id, 'entrypoint: main:Main'),
    [`extensions/${id}/${fileName}`]: text,
  };
}

/** A class that logs `expression` when it starts. */
function logging(expression: string): string {
  return `class Main { async initialize(context) { context.log.info(String(${expression})); } async start() {} async stop() {}
    async destroy() {} healthCheck() { return true; } }`;
}

describe('an entrypoint', () => {
  test.each<[what: string, fileName: string, text: string]>([
    ['in JavaScript', 'main.js', `export ${logging("'loaded'")}`],
    ['in an .mjs file', 'main.mjs', `export ${logging("'loaded'")}`],
    [
      'in TypeScript, without a build',
      'main.ts',
      `import type { Extension, ExtensionContext } from 'skill-registry/kernel';
       export class Main implements Extension {
         #word: string = 'loaded' satisfies string;
         async initialize({ log }: ExtensionContext): Promise<void> { log.info(this.#word); }
         async start(): Promise<void> {}
         async stop(): Promise<void> {}
         async destroy(): Promise<void> {}
         healthCheck(): boolean { return true; }
       }`,
    ],
    [
      'that waits at its top level',
      'main.ts',
      `const word = await Promise.resolve('loaded'); export ${logging('word')}`,
    ],
    [
      'that waits at its top level, in .mjs',
      'main.mjs',
      `const word = await Promise.resolve('loaded'); export ${logging('word')}`,
    ],
    ['in a file with other exports', 'main.js', `export const other = 1; ${logging("'loaded'")} export { Main };`],
  ])('%s is loaded', async (_, fileName, text) => {
    const kernel = await bootTree(written(fileName, text));
    expect(kernel.logged).toEqual(['sample loaded']);
    expect(states(kernel)).toEqual(['sample RUNNING']);
  });

  test('in TypeScript is preferred to one in JavaScript', async () => {
    const kernel = await bootTree({
      ...written('main.js', `export ${logging("'js'")}`),
      ...written('main.ts', `export ${logging("'ts'")}`),
    });
    expect(kernel.logged).toEqual(['sample ts']);
  });

  test.each<[what: string, fileName: string, text: string, reason: string]>([
    ['whose file is not there', 'other.js', 'export class Main {}', 'there is no main.ts or main.js'],
    ['whose file has another name', 'index.ts', 'export class Main {}', 'no main.ts or main.js; there is index.ts'],
    [
      'that exports another name',
      'main.js',
      'export class Mine {}',
      'exports no class "Main" (it exports Mine). Write "export class Main", or name another class in entrypoint',
    ],
    ['that exports nothing', 'main.ts', 'const a = 1;', 'exports no class "Main" (it exports nothing)'],
    ['that exports no class', 'main.js', 'export const Main = { start() {} };', 'exports no class "Main"'],
    ['that exports an arrow function', 'main.js', 'export const Main = () => ({});', 'Main is a function, and a class'],
    [
      'whose constructor throws',
      'main.js',
      `export class Main { constructor() { throw new Error('no luck'); } }`,
      'new Main() failed: no luck',
    ],
    [
      'whose object lacks methods',
      'main.js',
      'export class Main { async initialize() {} stop = 1; async destroy() {} }',
      'Main lacks methods: start, stop, healthCheck',
    ],
    [
      'that throws while it is imported',
      'main.ts',
      `throw new Error('too early'); export class Main {}`,
      'main could not be imported: too early',
    ],
    [
      'that throws something else than an error',
      'main.js',
      `throw 'words'; export class Main {}`,
      'main could not be imported: words',
    ],
    ['with a syntax error', 'main.ts', 'export class Main {\n  async start( {}\n', 'main could not be imported: '],
    [
      'that imports what is not there',
      'main.js',
      `import './gone.js'; export class Main {}`,
      'main could not be imported: ',
    ],
    [
      'that imports a package which is not installed',
      'main.ts',
      `import pad from '@acme/pad'; export class Main { pad = pad; }`,
      `Cannot find module '@acme/pad'. Install it in the root: npm install @acme/pad`,
    ],
    [
      'with a syntax error, on one line',
      'main.ts',
      'export class Main {\n  async start( {}\n',
      'imported: ParseError: Unexpected token, expected "," /',
    ],
  ])('%s puts the extension in ERROR, and the rest runs', async (_, fileName, text, reason) => {
    const kernel = await bootTree({ ...written(fileName, text), ...extension('zest') });
    expect(states(kernel)).toEqual(['sample ERROR', 'zest RUNNING']);
    expect(reasonOf(kernel, 'sample')).toContain(reason);
    expect(kernel.problems()).toContainEqual(
      expect.objectContaining({
        code: 'EXTENSION_IMPORT_FAILED',
        severity: 'error',
        file: join(kernel.root, 'extensions/sample/manifest.yaml'),
        details: { id: 'sample' },
      }),
    );
  });
});

describe('relative files', () => {
  test('of one extension share what both import, also in a circle', async () => {
    const kernel = await bootTree({
      ...written(
        'main.ts',
        `import { first } from './first.ts'; import { second } from './lib/second.js'; import { count } from './lib/shared.ts';
         first(); second(); export ${logging('count()')}`,
      ),
      'extensions/sample/first.ts': `import { add } from './lib/shared.ts'; export const first = (): void => add();`,
      'extensions/sample/lib/second.js': `import { add } from './shared.ts'; import { first } from '../first.ts';
         export function second() { add(); first(); }`,
      'extensions/sample/lib/shared.ts': `import { second } from './second.js'; let total = 0; export const known = () => second;
         export function add(): void { total++; } export function count(): number { return total; }`,
    });
    expect(kernel.logged).toEqual(['sample 3']);
  });
});

describe('a reload', () => {
  const edited = async (tree: Tree, changes: Tree): Promise<readonly string[]> => {
    const kernel = await bootTree(tree);
    writeTree(kernel.root, changes);
    await kernel.reload();
    expect(codesOf(kernel)).toEqual([]);
    return kernel.logged;
  };
  const HELPER = `import { word } from './word.js'; export ${logging('word')}`;
  const MODULE = { 'package.json': '{ "type": "module" }' };

  test.each<[what: string, file: string, extra: Tree]>([
    ['a .ts file', 'main.ts', {}],
    ['a .js file', 'main.js', {}],
    ['a .mjs file', 'main.mjs', {}],
    ['a .js file in a root that is a package of modules', 'main.js', MODULE],
  ])('reads %s anew', async (_, file, extra) => {
    const logged = await edited(
      { ...extra, ...written(file, `export ${logging("'before'")}`) },
      written(file, `export ${logging("'after'")}`),
    );
    expect(logged).toEqual(['sample before', 'sample after']);
  });

  test.each<[what: string, file: string, extra: Tree]>([
    ['a .ts file', 'main.ts', {}],
    ['a .js file', 'main.js', {}],
    ['a .js file in a root that is a package of modules', 'main.js', MODULE],
  ])('reads what %s imports anew', async (_, file, extra) => {
    const logged = await edited(
      { ...extra, ...written(file, HELPER), 'extensions/sample/word.js': `export const word = 'before';` },
      { 'extensions/sample/word.js': `export const word = 'after';` },
    );
    expect(logged).toEqual(['sample before', 'sample after']);
  });

  test('reads a manifest and a prompt anew', async () => {
    const kernel = await bootTree(extension('sample', 'description: before'));
    writeTree(kernel.root, extension('sample', 'enabled: false'));
    await kernel.reload();
    expect(states(kernel)).toEqual(['sample DISABLED']);
  });
});

describe('skill-registry/kernel in an extension of a root', () => {
  test('is this kernel: errors and schemas are the same on both sides', async () => {
    const members = `getTools() {
      const input = z.strictObject({ code: z.string() });
      return [defineTool({ name: 'fail', description: '', input, execute: async ({ code }) => { throw new CodedError(code, 'on purpose', { code }); } })];
    }
    getCommands() {
      return [{ name: 'fail', description: '', execute: async () => { throw new CodedError('MINE', 'on purpose'); } }];
    }`;
    const kernel = await bootTree(extension('sample', '', members));
    const [offered] = kernel.tools();
    if (!offered) throw new Error('no tool');
    const call = { turn: {}, signal: new AbortController().signal };
    expect(await runTool(offered.tool, { code: 'THEIRS' }, call)).toEqual({
      success: false,
      error: { code: 'THEIRS', message: 'on purpose' },
    });
    expect(await runTool(offered.tool, { kode: 1 }, call)).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } });
    const error = await kernel.runCommand('/fail', {}).catch((reason: CodedError) => reason);
    expect(isCodedError(error, 'MINE')).toBe(true);
  });

  test('a coded error of another copy of the package is one too', async () => {
    const other = `class CodedError extends Error { name = 'CodedError'; constructor(code) { super('theirs'); this.code = code; } }`;
    const members = `getCommands() { return [{ name: 'fail', description: '', execute: async () => { throw new CodedError('COPY'); } }]; }`;
    const text = `${other}\n${entrypoint(members).replace('CodedError, ', '')}`;
    const kernel = await bootTree(written('main.ts', text));
    const error = await kernel.runCommand('/fail', {}).catch((reason: unknown) => reason);
    expect(isCodedError(error, 'COPY')).toBe(true);
    expect(isCodedError(error, 'OTHER')).toBe(false);
  });
});
