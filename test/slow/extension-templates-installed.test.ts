import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from 'skill-registry/kernel';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeTree } from '../helpers/temp-folder.ts';
import { copyTemplate, NO_TERMINAL, TEMPLATES } from '../skills/templates.ts';

/** One project of somebody else, outside the repository, that all tests of this file share. */
let project = '';
let installed = { status: -1, out: '' };
const ids: string[] = [];

/** Runs a command to its end. `out` is both streams, as they came. */
function run(cwd: string, command: string, args: readonly string[], input = ''): Promise<typeof installed> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (out += String(data)));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status: status ?? -1, out }));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-installed-')));
  // dist/ is built before the slow tests: nothing may build it again while they run.
  const packed = await run(packageRoot(), 'npm', ['pack', '--ignore-scripts', '--pack-destination', project]);
  const tarball = readdirSync(project).find((name) => name.endsWith('.tgz'));
  if (packed.status !== 0 || !tarball) throw new Error(packed.out);
  writeTree(project, {
    'package.json': '{ "private": true }\n',
    'tsconfig.json': JSON.stringify({
      compilerOptions: { strict: true, module: 'nodenext', types: ['node'] },
      include: ['extensions', 'probe.ts'],
    }),
  });
  const tools = ['typescript@7', '@types/node@20'];
  const flags = ['--no-audit', '--no-fund', '--prefer-offline'];
  installed = await run(project, 'npm', ['install', `./${tarball}`, ...tools, ...flags]);
  ids.push(...TEMPLATES.map((kind) => copyTemplate(kind, project).id));
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

it('the package installs without a flag and without a conflict', () => {
  expect(installed.status, installed.out).toBe(0);
  expect(installed.out).not.toContain('ERESOLVE');
});

it('every template passes the type check of the project it was copied into', async () => {
  // The types are really there: were they `any`, nothing would be wrong here and tsc would complain of the comment.
  writeTree(project, {
    'probe.ts':
      "import type { ExtensionContext } from 'skill-registry/kernel';\n// @ts-expect-error\nexport const wrong: ExtensionContext = 5;\n",
  });
  expect(await run(project, 'npx', ['tsc', '--noEmit'])).toMatchObject({
    status: 0,
    out: expect.not.stringMatching(/TS\d/),
  });
});

it('every template runs in the installed package', async () => {
  const input = '/tools\n/agents\n/example_status\n/context hello\n/quit\n';
  const { status, out } = await run(project, 'npx', ['skill-registry', 'start'], input);
  expect(status, out).toBe(0);
  for (const id of [...ids, 'builder_agent']) expect(out).toContain(`  ${id}: RUNNING\n`);
  expect(out).toContain('example_count_words  (example_tool)');
  expect(out).toContain('example_agent  (tool)');
  expect(out).toContain('example_code_agent  (tool)');
  for (const id of ids) expect(out).not.toContain(`Extension "${id}"`);
});

it('what the templates offer works in the installed package', async () => {
  const quiet = join(project, 'quiet');
  writeTree(quiet, { ...NO_TERMINAL, 'data/example_context/notes.md': 'Tea at 5.\n' });
  for (const kind of TEMPLATES) copyTemplate(kind, quiet);
  // Plain JavaScript, as a host would write it.
  writeTree(project, {
    'host.mjs': `
      import { boot, runTool } from 'skill-registry/kernel';
      const kernel = await boot({ root: 'quiet' });
      const { tool } = kernel.tools().find((one) => one.tool.name === 'example_count_words');
      const words = await runTool(tool, { text: 'one two' }, { turn: {}, signal: new AbortController().signal });
      const parts = await kernel.describeTurn('example_agent', 'hello', {});
      const { text } = await kernel.invokeAgent('example_code_agent', 'hours?');
      console.log('RESULT ' + JSON.stringify({ words, sources: parts.map((part) => part.source), text }));
      await kernel.shutdown();
    `,
  });
  const { status, out } = await run(project, process.execPath, ['host.mjs']);
  expect(status, out).toBe(0);
  expect(JSON.parse(/RESULT (.*)/.exec(out)?.[1] ?? '{}')).toEqual({
    words: { success: true, words: 2 },
    sources: ['example_agent', 'skill_registry', 'example_context'],
    text: "We are open from 9 to 17 o'clock, Monday to Friday.",
  });
});
