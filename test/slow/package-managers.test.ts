import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { pack } from '../helpers/packed.ts';
import { writeTree } from '../helpers/temp-folder.ts';
import { twoAtATime } from '../helpers/two-at-a-time.ts';

const HERE = join(packageRoot(), 'test', 'package-managers');
const bin = (path: string): readonly string[] => [process.execPath, join(HERE, 'node_modules', path)];
const PNPM = bin('pnpm/bin/pnpm.cjs');
const YARN = bin('@yarnpkg/cli-dist/bin/yarn.js');
/** A person who uses each for the first time; what was downloaded is shared. */
const top = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-managers-')));
const home = join(top, 'home');
const environment = {
  ...process.env,
  HOME: home,
  ...{ XDG_CACHE_HOME: join(home, 'cache'), XDG_DATA_HOME: join(home, 'share'), XDG_STATE_HOME: join(home, 'state') },
  ...{ YARN_ENABLE_TELEMETRY: '0', YARN_ENABLE_SCRIPTS: 'false' },
};
const tarball = '../skill-registry.tgz';

/** Build scripts are off for all, as they are for pnpm 10, so nothing is compiled. */
const MANAGERS = {
  npm: {
    install: ['npm', 'install', tarball, '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'],
    run: ['npx', '--no-install'],
    node: ['node'],
  },
  'pnpm 10': { install: [...PNPM, 'add', '--prefer-offline', tarball], run: [...PNPM, 'exec'], node: ['node'] },
  'yarn 4 with node_modules': {
    install: [...YARN, 'add', `skill-registry@file:${tarball}`],
    run: [...YARN, 'run'],
    node: ['node'],
    linker: 'node-modules',
  },
  'yarn 4 with PnP': {
    install: [...YARN, 'add', `skill-registry@file:${tarball}`],
    run: [...YARN, 'run'],
    node: [...YARN, 'node'],
    linker: 'pnp',
  },
};

async function run(cwd: string, [command = '', ...args]: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd, env: environment, maxBuffer: 2 ** 26 });
  return stdout;
}

beforeAll(async () => {
  mkdirSync(home);
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await promisify(execFile)('npm', ['ci', ...quiet], { cwd: HERE });
  renameSync(pack(top).tarball, join(top, 'skill-registry.tgz'));
});

afterAll(() => rmSync(top, { recursive: true, force: true }));

describe.each(Object.entries(MANAGERS))('installed with %s,', (name, { install, run: start, node, ...rest }) => {
  const project = join(top, name.replaceAll(' ', '-'));

  it('the commands find skills, and the library is imported by every export', async () => {
    mkdirSync(project);
    writeTree(project, {
      'package.json': '{ "name": "project", "private": true }\n',
      ...('linker' in rest ? { 'yarn.lock': '', '.yarnrc.yml': `nodeLinker: ${rest.linker}\n` } : {}),
      'skills/tea/SKILL.md': '---\nname: tea\ndescription: Brews green tea.\n---\n\nBoil water.\n',
      'probe.mjs': `
        import 'skill-registry/ai-sdk';
        import 'skill-registry/mcp';
        import 'skill-registry/testing';
        import { isCodedError } from 'skill-registry/kernel';
        import { createSkillRegistry } from 'skill-registry';
        const registry = await createSkillRegistry({ config: { sources: [{ path: 'skills' }, { shipped: true }] } });
        const error = await registry.read('nothing').catch((error) => error);
        console.log('RESULT', registry.snapshot().skills.length, isCodedError(error));
        await registry.close();`,
    });
    await run(project, install);
    const command = (...args: readonly string[]) => run(project, [...start, 'skill-registry', ...args, '--trust']);
    const told: readonly (readonly [string, readonly string[]])[] = [
      ['Brews green tea.', ['list', '--skills', 'skills']],
      ['Valid skill: skills/tea', ['validate', 'skills']],
      ['Boil water.', ['show', 'tea', '--skills', 'skills']],
      ['tea', ['search', 'green tea', '--skills', 'skills']],
    ];
    await twoAtATime(told, async ([text, args]) => expect(await command(...args)).toContain(text));
    expect(await run(project, [...node, 'probe.mjs'])).toContain('RESULT 5 true');
  });
});
