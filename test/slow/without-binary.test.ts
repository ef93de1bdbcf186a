import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { embeddingsServer } from '../helpers/embeddings-server.ts';
import { runCommand } from '../helpers/run-command.ts';
import { LONGER, TEA } from '../helpers/tea.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';
import { HAS_SQLITE, type PackageWithoutBinary, packageWithoutBinary } from '../helpers/without-binary.ts';

// The built package in processes of its own, as it is after an installation that ran no script of better-sqlite3.

const TREE = {
  // Without the shipped skills, which lie elsewhere in the other package.
  'data/skill_registry/config.yaml': 'sources: [{ path: skills }]\n',
  'skills/tea/SKILL.md': TEA,
  'skills/bread/SKILL.md': skillMd({ name: 'bread', description: 'Bakes bread.' }, 'Knead the dough, and let it rest.'),
  'skills/pot/SKILL.md': skillMd(
    { name: 'pot', description: 'Chooses a pot.' },
    '# Teapots\n\nPorcelain for green tea.',
  ),
};

const REMEDY =
  /Use (Node 24, which has SQLite, or in \/\S*skill-registry-bare-\w+: npm rebuild better-sqlite3|one that was neither built nor started without it.*)$/m;

/** A root with a waiting proposal, made where SQLite is there. */
async function rootWithHistory(): Promise<{ root: string; id: string; tea(): string; history(): string }> {
  const root = tempFolder(TREE);
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  const input = { skillId: 'tea', content: LONGER, justification: 'It was weak.' };
  const { proposalId: id } = await registry.proposals.propose(input);
  await registry.close();
  const read = (path: string): string => readFileSync(join(root, path), 'latin1');
  return { root, id, tea: () => read('skills/tea/SKILL.md'), history: () => read('data/skill_registry/history.db') };
}

/** Without counts of tokens: which are known differs with the cache. */
function briefOf(json: string | undefined): unknown {
  const { skills, nearest } = JSON.parse(json ?? '') as {
    skills: readonly { skill_id: string; score?: number; why?: unknown }[];
    nearest?: readonly string[];
  };
  return [skills.map(({ skill_id, score, why }) => [skill_id, score, why]), nearest];
}

describe('where neither engine can be loaded', { timeout: 60_000 }, () => {
  let bare: PackageWithoutBinary;
  beforeAll(() => {
    bare = packageWithoutBinary(false);
  });
  afterAll(() => bare.remove());

  it('the command lists, searches, shows and validates as ever, and says once what is missing', async () => {
    const root = tempFolder(TREE);
    const all = [
      ['list', '--json'],
      // A word of a body, a part of a word, a slip of the pen, and nothing.
      ...['green tea', 'orcel', 'knaed', 'quantum physics'].map((query) => ['search', query, '--json']),
      ['show', 'bread'],
      ['validate', 'skills/tea'],
      ['doctor'],
    ];
    const results = await bare.commands(all, root);
    for (const [at, args] of all.entries()) {
      const { status, stdout } = await runCommand(args, { cwd: root });
      expect([args, results[at]?.status]).toEqual([args, status]);
      if (args.includes('--json')) expect(briefOf(results[at]?.stdout)).toEqual(briefOf(stdout));
    }
    const { problems } = JSON.parse(results[0]?.stdout ?? '');
    expect(problems).toMatchObject([{ code: 'STORE_UNAVAILABLE', severity: 'warning' }]);
    expect(problems[0].message).toMatch(REMEDY);
    expect(results[5]?.stdout).toContain('Knead');
    expect(results.at(-1)?.stdout.match(/^warning (?:STORE|CACHE)_UNAVAILABLE/gm)).toEqual([
      'warning STORE_UNAVAILABLE',
    ]);
  });

  it('the command says what to do where the history is needed, and touches neither skill nor history', async () => {
    const { root, id, tea, history } = await rootWithHistory();
    const before = history();
    const all = [
      ['history', 'tea'],
      ['rollback', 'tea', '1'],
      ['show', 'tea', '--revision', '1'],
      ['proposals'],
      ['proposals', 'show', id],
      ['proposals', 'approve', id],
      ['proposals', 'reject', id, '--reason', 'No.'],
    ];
    const results = [await bare.command(['history', 'tea'], root), ...(await bare.commands(all, root))];
    for (const { status, stdout, stderr } of results) {
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^skill-registry: STORE_UNAVAILABLE: .*\n$/);
      expect(stderr).toMatch(REMEDY);
    }
    expect(results).toHaveLength(all.length + 1);
    expect(tea()).toBe(TEA);
    expect(history()).toBe(before);
    expect((await runCommand(['proposals', 'approve', id], { cwd: root })).status).toBe(0);
  });

  it('the library opens, reads, searches and watches, also over a history that somebody left in the middle of a change', async () => {
    const { root, id } = await rootWithHistory();
    const database = openSqlite(join(root, 'data/skill_registry/history.db'));
    database.exec("INSERT INTO operation (id, content) VALUES ('left', '{}')");
    database.close();
    const result = await bare.program(
      `import { createSkillRegistry } from 'skill-registry';
     const told = [];
     const registry = await createSkillRegistry({
       root: process.cwd(),
       config: { sources: [{ path: 'skills' }], writes: { create: 'allow', update: 'allow', delete: 'allow' }, watch: { mode: 'poll' } },
       onProblem: ({ code }) => told.push(code),
     });
     const stop = new AbortController();
     const watching = registry.watch(stop.signal);
     const codeOf = (promise) => promise.then(() => 'done', ({ code }) => code);
     const refused = await Promise.all([
       registry.history.revisions('tea'),
       registry.history.rollback('tea', 1, { by: 'person:me' }),
       registry.history.read('tea', 1),
       registry.history.restore('gone', { by: 'person:me' }),
       registry.proposals.list(),
       registry.proposals.get('${id}'),
       registry.proposals.stats(),
       registry.proposals.approve('${id}', { by: 'person:me' }),
       registry.proposals.reject('${id}', { by: 'person:me', reason: 'No.' }),
       registry.proposals.propose({ skillId: 'tea', content: 'x', justification: 'y' }),
       registry.admin.management.create('cup', '---\\nname: cup\\ndescription: A cup.\\n---\\n', { by: 'person:me' }),
       registry.admin.management.write('tea', 'SKILL.md', 'x', { by: 'person:me' }),
       registry.admin.management.remove('tea', { by: 'person:me' }),
     ].map(codeOf));
     // Longer than it waits before it first looks after the history.
     await new Promise((resolve) => setTimeout(resolve, 1_200));
     const found = {
       ids: registry.list().skills.map(({ skillId }) => skillId),
       sought: registry.list({ query: 'kneading' }).skills.map(({ skillId }) => skillId),
       body: (await registry.read('bread')).content,
       context: await registry.context('dough'),
       problems: registry.problems().map(({ code }) => code),
       refused, told,
     };
     stop.abort();
     await watching;
     await registry.close();
     console.log(JSON.stringify(found));`,
      root,
    );
    expect(result).toEqual({
      ids: ['bread', 'pot', 'tea'],
      sought: ['bread'],
      body: 'Knead the dough, and let it rest.',
      context: expect.stringContaining('`bread`'),
      problems: ['STORE_UNAVAILABLE'],
      refused: Array.from({ length: 13 }, () => 'STORE_UNAVAILABLE'),
      told: [],
    });
    expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(TEA);
    expect(existsSync(join(root, 'skills/cup'))).toBe(false);
  });

  it('the kernel runs, its tools read and search, and those that write refuse', async () => {
    const root = tempFolder(TREE);
    const config = `{ writes: { create: 'allow', update: 'allow', delete: 'allow' }, tools: ['list_skills', 'read_skill', 'skill', 'create_skill', 'propose_skill_update'] }`;
    const result = await bare.program(
      `import { boot, runTool } from 'skill-registry/kernel';
     const kernel = await boot({ root: process.cwd(), config: { skill_registry: ${config} }, environment: {} });
     const call = async (name, args) => {
       const { tool } = kernel.tools().find((one) => one.tool.name === name);
       const { success, error, ...rest } = await runTool(tool, args, { turn: {}, signal: new AbortController().signal });
       return success ? rest : error.code;
     };
     const answers = {
       states: [...new Set(kernel.extensions().map(({ state }) => state))],
       found: (await call('list_skills', { query: 'dough' })).skills.map(({ skill_id }) => skill_id),
       read: (await call('read_skill', { skill_id: 'bread' })).content,
       written: await call('write_file', { path: 'skills/tea/SKILL.md', content: 'x' }),
       made: await call('create_skill', { skill_id: 'cup', description: 'A cup.', body: 'Drink.', justification: 'Why not.' }),
       proposed: await call('propose_skill_update', { skill_id: 'tea', content: 'x', justification: 'Why not.' }),
       extension: (await call('write_file', { path: 'extensions/mine/notes.md', content: 'x' })).path,
       context: (await kernel.describeTurn('orchestrator_agent', 'dough', {})).map(({ text }) => text).join(),
     };
     await kernel.shutdown();
     console.log(JSON.stringify(answers));`,
      root,
    );
    expect(result).toEqual({
      states: expect.arrayContaining(['RUNNING']),
      found: ['bread'],
      read: 'Knead the dough, and let it rest.',
      written: 'STORE_UNAVAILABLE',
      made: 'STORE_UNAVAILABLE',
      proposed: 'STORE_UNAVAILABLE',
      extension: 'extensions/mine/notes.md',
      context: expect.stringContaining('`bread`'),
    });
    expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(TEA);
    expect(existsSync(join(root, 'skills/cup'))).toBe(false);
  });

  it('search goes by words where vectors cannot be kept, and says why', async () => {
    const server = await embeddingsServer();
    const config = `sources: [{ path: skills }]\nembeddings: { base_url: "${server.baseUrl}", model: words-1 }\n`;
    const root = tempFolder({ ...TREE, 'data/skill_registry/config.yaml': config });
    const { status, stdout, stderr } = await bare.command(['search', 'dough', '--embed'], root);
    expect([status, stdout]).toEqual([0, expect.stringContaining('bread')]);
    expect(stderr).toMatch(/^1 skill\nwarning: Vectors cannot be stored here: .*\. Search uses words only\.\n$/);
    expect(server.requests).toEqual([]);
  });
});

describe.skipIf(!HAS_SQLITE)('where Node has SQLite', { timeout: 60_000 }, () => {
  let bare: PackageWithoutBinary;
  beforeAll(() => {
    bare = packageWithoutBinary(true);
  });
  afterAll(() => bare.remove());

  it('everything works, and no warning is printed', async () => {
    const root = tempFolder({
      'skills/tea/SKILL.md': TEA,
      'data/skill_registry/config.yaml': 'sources: [{ path: skills }]\n',
    });
    const program = `import { createRequire } from 'node:module';
      import { createSkillRegistry } from 'skill-registry';
      const registry = await createSkillRegistry({ root: process.cwd(), config: { sources: [{ path: 'skills' }] } });
      const { proposalId } = await registry.proposals.propose({ skillId: 'tea', content: ${JSON.stringify(LONGER)}, justification: 'x' });
      await registry.close();
      const tried = Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('better-sqlite3'));
      console.log(JSON.stringify([proposalId, registry.problems(), tried]));`;
    const [id, problems, tried] = (await bare.program(program, root)) as [string, unknown, boolean];
    expect(problems).toEqual([]);
    // From Node 24 on it would abort the process, so it is not so much as looked at.
    expect(tried).toBe(Number.parseInt(process.versions.node, 10) < 24);
    expect(await bare.command(['proposals', 'approve', id], root)).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(
        new RegExp(`\nApproved ${id}: tea has revision 2\nTo undo it: skill-registry rollback tea 1\n$`),
      ),
    });
    const [history, found, undone] = await bare.commands(
      [
        ['history', 'tea', '--json'],
        ['search', 'steep', '--json'],
        ['rollback', 'tea', '1', '--reason', 'Too long.'],
      ],
      root,
    );
    expect(JSON.parse(history?.stdout ?? '').revisions).toHaveLength(2);
    expect(JSON.parse(found?.stdout ?? '')).toMatchObject({ total: 1, problems: [] });
    expect(undone?.status).toBe(0);
    expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(TEA);
  });
});
