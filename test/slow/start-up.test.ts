import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { modulesIn } from '../helpers/loaded-modules.ts';
import { spawnCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

/** Writes the paths of all packages that were loaded, by whatever kind of import, into a file. */
const noteLoads = (file: string): string => {
  const hooks = `import { appendFileSync } from 'node:fs'; export async function load(url, context, next) { appendFileSync(${JSON.stringify(file)}, url + '\\n'); return next(url, context); }`;
  const atExit = `process.on('exit', () => require('node:fs').appendFileSync(${JSON.stringify(file)}, Object.keys(require.cache).join('\\n')))`;
  const script = `import { createRequire, register } from 'node:module'; const require = createRequire(import.meta.url); ${atExit}; register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));`;
  const loader = join(tempFolder({ 'loader.mjs': script }), 'loader.mjs');
  return `--import=${loader}`;
};

/** The modules that were loaded. @param file - What `noteLoads` has written. */
const modulesOf = (file: string): readonly string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('node:') || line === '' ? [] : modulesIn(line.replace('file://', ''))));

it('a list from a warm cache loads neither the tokenizer nor what checks configs and reads YAML', async () => {
  const skill = skillMd({ name: 'a', description: 'Does a.' });
  const root = tempFolder({ 'skills/a/SKILL.md': skill, 'data/skill_registry/notes.txt': '' });
  const list = (options = '') =>
    spawnCommand(['list', '--root', root, '--skills', join(root, 'skills')], {
      cwd: root,
      environment: { NODE_OPTIONS: options },
    });
  const quietAt = lstatSync(join(root, 'skills/a/SKILL.md')).ctimeMs + 2_050;
  await waitFor('the file has been quiet for two seconds', () => Date.now() > quietAt);
  const cold = await list();
  expect(existsSync(join(root, 'data/skill_registry/cache.db'))).toBe(true);
  await list();
  const loads = join(tempFolder(), 'loads');
  const warm = await list(noteLoads(loads));
  expect(warm.stdout).toBe(cold.stdout);
  const loaded = modulesOf(loads);
  expect(loaded).toContain('lib/sqlite/engines.ts');
  const unwanted = /node_modules\/(zod|yaml|gpt-tokenizer|ai|chokidar|string-width|ignore|jiti)\/(?!package\.json)/;
  expect(loaded.filter((path) => unwanted.test(path))).toEqual([]);
});

it('a list loads no other command, nor what opens the history, and few files', async () => {
  const root = tempFolder({ 'skills/a/SKILL.md': skillMd({ name: 'a', description: 'Does a.' }) });
  const loads = join(tempFolder(), 'loads');
  await spawnCommand(['list', '--root', root], { cwd: root, environment: { NODE_OPTIONS: noteLoads(loads) } });
  const loaded = modulesOf(loads);
  expect(loaded).toContain('cli/commands/list.ts');
  const unwanted =
    /cli\/commands\/(?!list\.ts)|open-changes\.ts|node_modules\/diff\/libesm\/(?!diff\/(array|base)\.js)/;
  expect(loaded.filter((path) => unwanted.test(path))).toEqual([]);
  // One for each set of users would be a hundred.
  expect(readFileSync(loads, 'utf8').match(/\/dist\//g)?.length).toBeLessThan(60);
});

it('the version is printed before any command is loaded', async () => {
  const loads = join(tempFolder(), 'loads');
  await spawnCommand(['--version'], { environment: { NODE_OPTIONS: noteLoads(loads) } });
  const loaded = modulesOf(loads);
  expect(loaded).toContain('cli/run-process.ts');
  expect(loaded.filter((path) => /run-cli|features\/|commander/.test(path))).toEqual([]);
});

it('what Node has compiled lies in the cache directory of the user, where Node keeps it and nobody else can write', async () => {
  const keeps = 'enableCompileCache' in module;
  const start = async (cache: string): Promise<readonly string[]> => {
    const list = ['list', '--root', tempFolder()];
    const { status } = await spawnCommand(list, { environment: { XDG_CACHE_HOME: cache } });
    expect(status).toBe(0);
    const folder = join(cache, 'skill-registry/compiled');
    return existsSync(folder) ? readdirSync(folder) : ['no folder'];
  };
  const cache = tempFolder();
  expect((await start(cache)).join()).toMatch(keeps ? /^v\d+\./ : /^no folder$/);
  expect(lstatSync(join(cache, 'skill-registry')).mode & 0o777).toBe(0o700);
  const open = tempFolder({ 'skill-registry/compiled/.keep': '' });
  chmodSync(join(open, 'skill-registry/compiled'), 0o777);
  expect(await start(open)).toEqual(['.keep']);
});

it('a second start loads no tokenizer: the bodies its agents are bound to were counted by the first', async () => {
  const root = tempFolder({
    'skills/a/SKILL.md': skillMd({ name: 'a', description: 'Does a.' }),
    'data/notes.txt': '',
  });
  const start = (options = '') =>
    spawnCommand(['start', '--root', root], { cwd: root, environment: { NODE_OPTIONS: options } });
  const first = await start();
  const loads = join(tempFolder(), 'loads');
  const second = await start(noteLoads(loads));
  expect(second.stdout).toBe(first.stdout);
  const loaded = modulesOf(loads);
  expect(loaded).toContain('kernel/boot/kernel.ts');
  expect(loaded.filter((path) => path.includes('node_modules/gpt-tokenizer/'))).toEqual([]);
});

it('processes that start at once share the cache, and all see everything', async () => {
  const tree = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `skills/s${index}/SKILL.md`,
      skillMd({ name: `s${index}`, description: `Does ${index}.` }),
    ]),
  );
  const root = tempFolder(tree);
  const quietAt = lstatSync(join(root, 'skills/s39/SKILL.md')).ctimeMs + 2_050;
  await waitFor('the files have been quiet for two seconds', () => Date.now() > quietAt);
  const list = () => spawnCommand(['list', '--json', '--root', root, '--skills', join(root, 'skills')], { cwd: root });
  const all = [...(await Promise.all([list(), list(), list()])), await list()];
  expect(all.map(({ stdout }) => JSON.parse(stdout).total)).toEqual([40, 40, 40, 40]);
  expect(all.map(({ stdout }) => JSON.parse(stdout).problems)).toEqual([[], [], [], []]);
});
