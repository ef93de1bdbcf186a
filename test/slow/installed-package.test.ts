import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pack } from '../helpers/packed.ts';
import { scriptedModel, systemText, toolResults } from '../helpers/scripted-model.ts';
import { writeTree } from '../helpers/temp-folder.ts';
import { copyTemplate, NO_TERMINAL, TEMPLATES } from '../skills/templates.ts';

/** One project of somebody else, outside the repository, that all tests of this file share. */
let project = '';
let installed = { status: -1, out: '' };
const ids: string[] = [];

/** Runs a command to its end. `out` is both streams, as they came. */
function run(
  cwd: string,
  command: string,
  args: readonly string[],
  input = '',
  environment: Readonly<Record<string, string>> = {},
): Promise<typeof installed> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...environment } });
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
  const { tarball } = pack(project);
  writeTree(project, {
    'package.json': '{ "private": true }\n',
    'tsconfig.json': JSON.stringify({
      compilerOptions: { strict: true, module: 'nodenext', types: ['node'] },
      include: ['extensions', 'probe.ts'],
    }),
  });
  const tools = ['typescript@7', '@types/node@20', '@modelcontextprotocol/client@2'];
  const flags = ['--no-audit', '--no-fund', '--prefer-offline'];
  installed = await run(project, 'npm', ['install', tarball, ...tools, ...flags]);
  ids.push(...TEMPLATES.map((kind) => copyTemplate(kind, project).id));
  const examples = join(project, 'node_modules', 'skill-registry', 'examples');
  cpSync(examples, join(project, 'examples'), { recursive: true });
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

it('the package installs without a flag, a conflict, and a warning of install scripts', () => {
  expect(installed.status, installed.out).toBe(0);
  expect(installed.out).not.toMatch(/ERESOLVE|install-scripts|better-sqlite3/);
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
  const { status, out } = await run(project, 'npx', ['skill-registry', 'start', '--trust'], input);
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

it('the installed command lists the skills that come with the package', async () => {
  const { status, out } = await run(project, 'npx', ['skill-registry', 'list', '--json']);
  expect(status, out).toBe(0);
  const { total, skills } = JSON.parse(/^\{[\s\S]*^\}/m.exec(out)?.[0] ?? '') as {
    total: number;
    skills: { skill_id: string }[];
  };
  expect(total).toBe(4);
  expect(skills.map(({ skill_id }) => skill_id)).toContain('extension-development');
});

it('every example has under forty lines', () => {
  const examples = join(project, 'examples');
  const files = readdirSync(examples, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8').split('\n').length);
  expect(files.length).toBe(13);
  expect(Math.max(...lines)).toBeLessThan(40);
});

it('the examples of the library and of a source of one’s own run as they are', async () => {
  const library = await run(project, process.execPath, ['examples/library.mjs']);
  expect(library, library.out).toMatchObject({ status: 0 });
  expect(library.out).toContain('Skill loaded: code-review (approx.');
  const source = await run(project, process.execPath, ['examples/own-source.mjs']);
  expect(source, source.out).toMatchObject({ status: 0 });
  expect(source.out).toContain('• `tea` — How to brew tea.');
  expect(source.out).toContain('Boil water. Wait three minutes.');
});

it('the example agent of the AI SDK sees the catalog and loads a skill', async () => {
  const model = await scriptedModel([{ call: 'read_skill', args: { skill_id: 'code-review' } }, { text: 'Reviewed.' }]);
  const { status, out } = await run(project, process.execPath, ['examples/ai-sdk-agent.mjs'], '', model.environment);
  expect(status, out).toBe(0);
  expect(out).toContain('Reviewed.');
  expect(systemText(model.requests[0])).toContain('• `code-review` — ');
  expect(toolResults(model.requests[1])[0]).toMatchObject({ success: true, skill_id: 'code-review' });
});

it('the example MCP client starts the installed server and finds every file as it was promised', async () => {
  const { status, out } = await run(project, process.execPath, ['examples/mcp-client.mjs']);
  expect(status, out).toBe(0);
  expect(out).toContain('skill://extension-development/SKILL.md: 16 files, all verified');
  expect(out).toContain('prompts: code-review, extension-development, skill-authoring, task-decomposition');
});

it('the example extension runs in a project of its own', async () => {
  const root = join(project, 'counted');
  cpSync(join(project, 'examples', 'own-extension'), join(root, 'extensions', 'skill_counter'), { recursive: true });
  const input = '/skills:code-review\n/skill_counts\n/quit\n';
  // Only what an agent has received is a load.
  const model = await scriptedModel([{ text: 'Reviewed.' }]);
  const { status, out } = await run(root, 'npx', ['skill-registry', 'start', '--trust'], input, model.environment);
  expect(status, out).toBe(0);
  expect(out).toContain('code-review: 1');
});
