import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { type Import, importsOf, ROOT, sourceFiles } from './imports.ts';

const { dependencies, optionalDependencies, peerDependencies, imports } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  /** Imported only where the host has them. */
  peerDependencies: Record<string, string>;
  /** Names of our own for packages. */
  imports: Record<string, unknown>;
};

/** Rooms of the core, lowest first: each may import itself and those before it. Other files beside them come last. */
const CORE_ROOMS = [
  'skill',
  'store',
  'config',
  'sources',
  'catalog',
  'search',
  'show',
  'read',
  'checked-calls.ts',
  'events.ts',
  'api.ts',
  'review.ts',
  'seams.ts',
  'tools',
];
const REGISTRY = 'extensions/skill_registry';
/** Source files of one folder. */
const MAX_FILES = 20;

/** What each feature needs of others, types included. Each stands below those that it needs, so there is no circle. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  guard: [],
  validate: [],
  meaning: [],
  history: ['guard'],
  proposals: ['guard', 'history'],
  install: ['guard', 'history'],
  pages: ['guard', 'install'],
  policy: ['guard', 'install', 'pages'],
  mcp_source: ['guard'],
  hub: ['guard', 'history', 'install', 'pages', 'proposals'],
  packs: ['validate'],
  evaluate: ['guard', 'history', 'proposals', 'validate'],
  usage: ['history'],
  dialects: ['proposals'],
};

/** The build puts what is imported of them into dist/, with their licences. */
const BUNDLED = ['gpt-tokenizer'];

const show = ({ file, target }: Import): string => `${file} imports ${target}`;

function isPackage(target: string): boolean {
  return (
    target.startsWith('node:') ||
    Object.hasOwn(imports, target) ||
    [...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }), ...BUNDLED].some(
      (name) => target === name || target.startsWith(`${name}/`),
    )
  );
}

function extensionOf(path: string): string | undefined {
  return /^extensions\/([^/]+)\//.exec(path)?.[1];
}

/** What every extension is written with, and what our own need beside it. */
function isKernelDoor(target: string): boolean {
  return target === 'skill-registry/kernel' || target === 'kernel/host.ts';
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

it('opens databases in lib/sqlite and lib/postgres, and nowhere else', () => {
  const folders = ['lib', 'kernel', 'extensions', 'cli', 'test', 'examples', 'bench', 'scripts'];
  const engines =
    /(?:\bfrom|\bimport|\b(?:import|require|getBuiltinModule)\s*\(|createRequire\([^)]*\)\()\s*['"`](?:better-sqlite3|node:sqlite|postgres)['"`]/;
  const wrong = folders
    .flatMap((folder) => sourceFiles(folder))
    .filter(
      (file) => !/^lib\/(?:sqlite|postgres)\//.test(file) && engines.test(readFileSync(join(ROOT, file), 'utf8')),
    );
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
    /['"`](skill_registry|skill_mcp|skill_review|skill_reviewer|cli_channel|workspace_files|orchestrator_agent|builder_agent)['"`]/.test(
      readFileSync(join(ROOT, file), 'utf8'),
    ),
  );
  expect(names).toEqual([]);
});

it('lets an extension import the two doors of the kernel, its own folder, lib, packages, and types of another one’s api.ts', () => {
  const allowed = ({ file, target, typeOnly, dynamic }: Import): boolean => {
    if (isKernelDoor(target) || isLibrary(target) || isPackage(target)) return true;
    if (extensionOf(target) === extensionOf(file)) return true;
    // The command of a feature loads the door that it is served through.
    if (dynamic && target === 'extensions/skill_hub/index.ts') return /\/hub\/commands\/serve\.ts$/.test(file);
    return typeOnly && /^extensions\/[^/]+\/api\.ts$/.test(target);
  };
  const wrong = sourceFiles('extensions')
    .flatMap(importsOf)
    .filter((one) => !allowed(one));
  expect(wrong.map(show)).toEqual([]);
});

it('tests the core without importing a feature', () => {
  const wrong = sourceFiles('test/core')
    .flatMap(importsOf)
    .filter(({ target }) => target.startsWith(`${REGISTRY}/features/`) || target.startsWith('test/features/'));
  expect(wrong.map(show)).toEqual([]);
});

it('lets imports inside the core run one way', () => {
  const floorOf = (path: string): number => {
    const floor = CORE_ROOMS.indexOf(path.split('/')[3] ?? '');
    return floor === -1 ? CORE_ROOMS.length : floor;
  };
  const wrong = sourceFiles(`${REGISTRY}/core`)
    .flatMap(importsOf)
    .filter(({ file, target }) => target.startsWith(`${REGISTRY}/core/`) && floorOf(target) > floorOf(file));
  expect(wrong.map(show)).toEqual([]);
  expect(
    importsOf(`${REGISTRY}/api.ts`)
      .filter((one) => !one.typeOnly)
      .map(show),
  ).toEqual([]);
});

it('lets a feature need of others what its door and its line here say, and no circle of them', () => {
  const featureOf = (path: string): string => /^extensions\/skill_registry\/features\/([^/]+)/.exec(path)?.[1] ?? '';
  const found = new Map<string, Set<string>>();
  for (const { file, target } of sourceFiles(`${REGISTRY}/features`).flatMap(importsOf)) {
    const [feature, other] = [featureOf(file), featureOf(target)];
    const needs = found.get(feature) ?? new Set();
    found.set(feature, other === '' || other === feature ? needs : needs.add(other));
  }
  expect(Object.fromEntries([...found].map(([feature, needs]) => [feature, [...needs].sort()]))).toEqual(NEEDS);
  const features = Object.keys(NEEDS);
  const said = features.map((feature) => {
    const [, words = ''] = /^\/\*\*.* Needs ([^.]*)\./m.exec(
      readFileSync(join(ROOT, REGISTRY, 'features', feature, 'door.ts'), 'utf8'),
    ) ?? [''];
    return [feature, features.filter((other) => words.split(/[\s,]+/).includes(other)).sort()];
  });
  expect(Object.fromEntries(said)).toEqual(NEEDS);
  const upwards = features.filter((feature, at) => NEEDS[feature]?.some((other) => features.indexOf(other) >= at));
  expect(upwards).toEqual([]);
});

it('lets a feature import nothing of the registry but the core and other features', () => {
  const wrong = sourceFiles(`${REGISTRY}/features`)
    .flatMap(importsOf)
    .filter(({ target }) => target.startsWith(`${REGISTRY}/`) && !/^[^/]+\/[^/]+\/(core|features)\//.test(target));
  expect(wrong.map(show)).toEqual([]);
});

it('lets no file of the core, the kernel, the command or the review page name a feature, neither by an import nor by a word', () => {
  const files = [`${REGISTRY}/core`, 'kernel', 'cli', 'extensions/skill_review'].flatMap(sourceFiles);
  const wrong = files.flatMap(importsOf).filter(({ target }) => target.startsWith(`${REGISTRY}/features/`));
  expect(wrong.map(show)).toEqual([]);
  const named = files.filter((file) => {
    const words = readFileSync(join(ROOT, file), 'utf8').matchAll(/'([a-z_]+)'|"([a-z_]+)"|`([a-z_]+)`/g);
    return [...words].some(([, ...word]) => Object.hasOwn(NEEDS, word.join('')));
  });
  expect(named).toEqual([]);
});

it('has rooms one can look around in: at most 20 files', () => {
  const folders = new Map<string, number>();
  for (const file of ['lib', 'kernel', 'extensions', 'cli'].flatMap((folder) => sourceFiles(folder))) {
    folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
  }
  expect([...folders].filter(([, files]) => files > MAX_FILES)).toEqual([]);
});

it('exports to an extension’s author about ten functions and classes, and the types of the contract', async () => {
  expect(Object.keys(await import('skill-registry/kernel')).sort()).toEqual(
    [
      ...['boot', 'CodedError', 'defineTool', 'describeError', 'inputSchemaOf', 'isCodedError'],
      ...['runTool', 'toolError', 'z'],
    ].sort(),
  );
  const own = ['examples', 'skills'].flatMap((folder) => sourceFiles(folder)).flatMap(importsOf);
  expect(own.filter(({ target }) => target.startsWith('kernel/')).map(show)).toEqual([]);
});

it('keeps the skill layer pure: no file system, no clock, no process', () => {
  const wrong = sourceFiles(`${REGISTRY}/core/skill`)
    .flatMap(importsOf)
    .filter(({ target }) => target.startsWith('node:'));
  expect(wrong.map(show)).toEqual([]);
  const impure = sourceFiles(`${REGISTRY}/core/skill`).filter((file) =>
    /\b(Date\.now|performance\.now|process\.)/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(impure).toEqual([]);
});

it('lets the command import the doors of registry and kernel and packages, nothing behind them, and other doors only when asked for', () => {
  const wrong = sourceFiles('cli')
    .flatMap(importsOf)
    .filter(({ file, target, typeOnly, dynamic }) => {
      if (
        target === 'skill-registry' ||
        /^extensions\/skill_registry\/(host|features|core\/command-line)\.ts$/.test(target) ||
        isKernelDoor(target)
      )
        return false;
      if (target === 'skill-registry/mcp' || target === 'extensions/skill_mcp/stdio.ts')
        return file !== 'cli/commands/mcp.ts' || !(typeOnly || dynamic);
      if (target === 'extensions/skill_review/index.ts')
        return !['cli/commands/review.ts', 'cli/command-terminal.ts'].includes(file) || !dynamic;
      return !target.startsWith('cli/') && !isLibrary(target) && !isPackage(target);
    });
  expect(wrong.map(show)).toEqual([]);
});

it('keeps files at four hundred lines or fewer', () => {
  const long = [
    ...sourceFiles('lib'),
    ...sourceFiles('kernel'),
    ...sourceFiles('extensions'),
    ...sourceFiles('cli'),
    ...sourceFiles('test'),
  ].filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 401);
  expect(long).toEqual([]);
});
