import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Import, importsOf, ROOT, sourceFiles } from './imports.ts';

const { dependencies, optionalDependencies, imports } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  /** Names of our own for packages. */
  imports: Record<string, unknown>;
};

/** Folders of the registry, lowest first: each may import those before it. Files beside them come last. */
const LAYERS = ['skill', 'validation', 'sources', 'catalog', 'search', 'context', 'proposals', 'usage', 'tools'];
/** Seen from everywhere: types, the shape of the config, error factories, and the databases that registry.ts opens. */
const COMMON = ['config.ts', 'errors.ts', 'open-database.ts', 'cache-database.ts', 'history-database.ts'];

const show = ({ file, target }: Import): string => `${file} imports ${target}`;

function isPackage(target: string): boolean {
  return (
    target.startsWith('node:') ||
    Object.hasOwn(imports, target) ||
    Object.keys({ ...dependencies, ...optionalDependencies }).some(
      (name) => target === name || target.startsWith(`${name}/`),
    )
  );
}

function extensionOf(path: string): string | undefined {
  return /^extensions\/([^/]+)\//.exec(path)?.[1];
}

/** Through its one door. */
function isLibrary(target: string): boolean {
  return /^lib\/[^/]+\/index\.ts$/.test(target);
}

it('lets lib import its own folder, the doors of its other folders, and packages', () => {
  const wrong = sourceFiles('lib')
    .flatMap(importsOf)
    .filter(({ file, target }) => {
      const folder = /^lib\/[^/]+\//.exec(file)?.[0];
      return !(folder && target.startsWith(folder)) && !isLibrary(target) && !isPackage(target);
    });
  expect(wrong.map(show)).toEqual([]);
});

it('opens databases in lib/sqlite and nowhere else', () => {
  const folders = ['lib', 'kernel', 'extensions', 'cli', 'test', 'examples', 'bench', 'scripts'];
  const engines =
    /(?:\bfrom|\bimport|\b(?:import|require|getBuiltinModule)\s*\(|createRequire\([^)]*\)\()\s*['"`](?:better-sqlite3|node:sqlite)['"`]/;
  const wrong = folders
    .flatMap((folder) => sourceFiles(folder))
    .filter((file) => !file.startsWith('lib/sqlite/') && engines.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(wrong).toEqual([]);
});

it('lets the kernel import itself, lib and packages, and no extension by name', () => {
  const wrong = sourceFiles('kernel')
    .flatMap(importsOf)
    .filter(
      ({ target }) =>
        !target.startsWith('kernel/') && target !== 'skill-registry/kernel' && !isLibrary(target) && !isPackage(target),
    );
  expect(wrong.map(show)).toEqual([]);
  const names = sourceFiles('kernel').filter((file) =>
    /['"`](skill_registry|skill_mcp|skill_reviewer|cli_channel|workspace_files|orchestrator_agent|builder_agent)['"`]/.test(
      readFileSync(join(ROOT, file), 'utf8'),
    ),
  );
  expect(names).toEqual([]);
});

it('lets an extension import the contract, its own folder, lib, packages, and types of another one’s api.ts', () => {
  const allowed = ({ file, target, typeOnly }: Import): boolean => {
    if (target === 'skill-registry/kernel' || isLibrary(target) || isPackage(target)) return true;
    if (extensionOf(target) === extensionOf(file)) return true;
    return typeOnly && /^extensions\/[^/]+\/api\.ts$/.test(target);
  };
  const wrong = sourceFiles('extensions')
    .flatMap(importsOf)
    .filter((one) => !allowed(one));
  expect(wrong.map(show)).toEqual([]);
});

it('lets imports inside the registry run one way', () => {
  const layerOf = (path: string): number => {
    const [, , folder = '', rest] = path.split('/');
    return rest === undefined ? LAYERS.length : LAYERS.indexOf(folder);
  };
  const inside = sourceFiles('extensions/skill_registry')
    .flatMap(importsOf)
    .filter(({ target }) => target.startsWith('extensions/skill_registry/'));
  expect(inside.filter(({ target }) => layerOf(target) === -1).map(show)).toEqual([]);
  const wrong = inside.filter(({ file, target, typeOnly }) => {
    const name = target.replace('extensions/skill_registry/', '');
    const common = COMMON.includes(name) || (typeOnly && name !== 'api.ts' && !name.includes('/'));
    return !common && layerOf(target) > layerOf(file);
  });
  expect(wrong.map(show)).toEqual([]);
  expect(
    importsOf('extensions/skill_registry/api.ts')
      .filter((one) => !one.typeOnly)
      .map(show),
  ).toEqual([]);
});

it('keeps the skill layer pure: no file system, no clock, no process', () => {
  const wrong = sourceFiles('extensions/skill_registry/skill')
    .flatMap(importsOf)
    .filter(({ target }) => target.startsWith('node:'));
  expect(wrong.map(show)).toEqual([]);
  const impure = sourceFiles('extensions/skill_registry/skill').filter((file) =>
    /\b(Date\.now|performance\.now|process\.)/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(impure).toEqual([]);
});

it('lets the command import the two public doors and packages, nothing behind them, and other doors only when asked for', () => {
  const wrong = sourceFiles('cli')
    .flatMap(importsOf)
    .filter(({ file, target, typeOnly, dynamic }) => {
      if (target === 'skill-registry' || target === 'skill-registry/kernel') return false;
      if (target === 'skill-registry/mcp') return file !== 'cli/commands/mcp.ts' || !(typeOnly || dynamic);
      return !target.startsWith('cli/') && !isLibrary(target) && !isPackage(target);
    });
  expect(wrong.map(show)).toEqual([]);
});

it('keeps files at three hundred lines or fewer', () => {
  const long = [
    ...sourceFiles('lib'),
    ...sourceFiles('kernel'),
    ...sourceFiles('extensions'),
    ...sourceFiles('cli'),
    ...sourceFiles('test'),
  ].filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 301);
  expect(long).toEqual([]);
});
