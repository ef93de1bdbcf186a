import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { embeddingsServer } from '../helpers/embeddings-server.ts';
import { runCommand, runProgram, spawnCommand } from '../helpers/run-command.ts';
import { TOWN } from '../helpers/semantic-registry.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

/** An endpoint that was there a moment ago. */
async function nobodysUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}

function townFor(baseUrl: string): string {
  const config = `sources: [{ path: skills }]\nembeddings: { base_url: "${baseUrl}", model: words-1, timeout_ms: 1500 }\n`;
  return tempFolder({
    ...TOWN,
    'data/skill_registry/config.yaml': config,
    '.env': 'EMBEDDINGS_API_KEY=from-the-file\n',
  });
}

it('embeds what is missing when it is told to, and finds by meaning from then on', async () => {
  const server = await embeddingsServer();
  const cwd = townFor(server.baseUrl);
  const before = await runCommand(['search', 'mend my car'], { cwd });
  expect(before).toMatchObject({ status: 0, stdout: '' });
  expect(server.requests).toEqual([]);
  const first = await runCommand(['search', 'mend my car', '--embed'], { cwd });
  expect(first.stdout).toMatch(/garage +0\.\d\d +skills +semantic: Overhaul an automobile/);
  expect(first.stderr).toBe('1 skill\n');
  expect(server.requests.map(({ input }) => input.length)).toEqual([12, 5, 1]);
  expect(server.requests[0]?.headers.authorization).toBe('Bearer from-the-file');
  const second = await runCommand(['search', 'mend my car', '--json'], { cwd });
  expect(JSON.parse(second.stdout)).toMatchObject({
    skills: [{ skill_id: 'garage', why: { field: 'semantic' } }],
    total: 1,
    problems: [],
  });
  expect(server.requests).toHaveLength(4);
});

it('says why it went by words alone', async () => {
  const server = await embeddingsServer();
  const cwd = townFor(server.baseUrl);
  server.behave(() => ({ status: 401 }));
  const { status, stdout, stderr } = await runCommand(['search', 'invoice', '--embed'], { cwd });
  expect(status).toBe(0);
  expect(stdout).toContain('accounts');
  expect(stderr).toMatch(/^1 skill\nwarning: http.* answered with status 401: .*\n$/);
});

it('refuses to embed without an endpoint, and says what to set', async () => {
  const cwd = tempFolder(TOWN);
  const { status, stderr } = await runCommand(['search', 'invoice', '--embed'], { cwd });
  expect(status).toBe(2);
  expect(stderr).toContain('embeddings.base_url');
});

it('ends with an answer and the reason, as a process, when the endpoint is away', async () => {
  const server = await embeddingsServer();
  const cwd = townFor(server.baseUrl);
  server.behave(() => ({ status: 503, headers: { 'retry-after': '0.05' }, body: 'busy' }));
  const { status, stdout, stderr } = await spawnCommand(['search', 'invoice', '--embed'], { cwd });
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: expect.stringMatching(
      /^1 skill\nwarning: .* answered with status 503: busy\. What has no vector is searched by words only\./,
    ),
  });
  expect(stdout).toContain('accounts');
  expect(server.requests).toHaveLength(3);
});

it('lets a program that awaits embeddings live until it has its answer', async () => {
  const baseUrl = await nobodysUrl();
  const cwd = townFor(baseUrl);
  const program = `
    const config = { sources: [{ path: 'skills' }], embeddings: { base_url: '${baseUrl}', model: 'm' } };
    const registry = await createSkillRegistry({ config });
    console.log(JSON.stringify(await registry.admin.embedSkills()), registry.problems().map(({ message }) => message));`;
  expect(await runProgram(program, { cwd })).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^{"embedded":0,"total":5} \[\n? *'.* cannot be reached: connect ECONNREFUSED/),
    stderr: '',
  });
});

it('lets a program end that only watches, though the endpoint is away', async () => {
  const baseUrl = await nobodysUrl();
  const cwd = townFor(baseUrl);
  const program = `
    const config = { embeddings: { base_url: '${baseUrl}', model: 'm' }, watch: { mode: 'off' } };
    const registry = await createSkillRegistry({ config });
    await registry.watch(new AbortController().signal);`;
  expect(await runProgram(program, { cwd })).toEqual({ status: 0, stdout: '', stderr: '' });
});
