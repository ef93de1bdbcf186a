// Builds dist/: declarations, code, and copied files. --if-needed: only when a source is newer.
// Contains only the package's own extensions; others run from their sources.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, normalize, resolve } from 'node:path';
import { build } from 'esbuild';

const OWN_EXTENSIONS = readdirSync('extensions');
const ASSETS = ['manifest.yaml', 'prompt.md', 'prompt.jinja2', 'assets'];

if (process.argv.includes('--if-needed') && isUpToDate()) process.exit(0);

const startedAt = Date.now();
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
await bundle();
for (const id of OWN_EXTENSIONS) {
  for (const asset of ASSETS.filter((name) => existsSync(join('extensions', id, name)))) {
    cpSync(join('extensions', id, asset), join('dist', 'extensions', id, asset), { recursive: true });
  }
}
chmodSync(join('dist', 'cli', 'main.js'), 0o755);
execFileSync(process.execPath, ['--import', 'tsx', '--conditions=source', join('scripts', 'schemas.mjs')]);

// Removes files that this build did not write: their sources are gone.
for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && statSync(path).mtimeMs < startedAt - 1000) rmSync(path);
}

/**
 * Shared code lies once in dist/shared/, so each module has one state for all entries. One file per module would make
 * each command start 50 ms later. Packages stay imports; devDependencies are bundled with their licences.
 */
async function bundle() {
  const { exports, imports, dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  );
  const options = {
    entryPoints: [
      ...Object.values({ ...exports, ...imports }).flatMap(({ source }) => source ?? []),
      ...OWN_EXTENSIONS.map((id) => `extensions/${id}/main.ts`).filter(existsSync),
      'cli/main.ts',
      // For tests and bench/.
      'cli/run-cli.ts',
      ...['extensions/skill_registry/features/pages/fetch-copy.ts'].filter(existsSync),
    ].map(normalize),
    outdir: 'dist',
    outbase: '.',
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    charset: 'utf8',
    conditions: ['source'],
    external: Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }),
    metafile: true,
  };
  const { inputs } = (await build({ ...options, write: false })).metafile;
  const { metafile } = await build({
    ...options,
    plugins: [fewFiles(inputs, options.entryPoints)],
    logOverride: { 'ignored-bare-import': 'silent' },
  });
  const bundled = Object.keys(metafile.inputs).flatMap(
    (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  for (const name of new Set(bundled)) {
    mkdirSync(join('dist', 'licenses'), { recursive: true });
    cpSync(join('node_modules', name, 'LICENSE'), join('dist', 'licenses', `${name.replace('/', '-')}.txt`));
  }
}

/**
 * What a registry loads later, such as the code of a command, imports the whole registry here, although it needs only
 * some of it, which is loaded by then. For esbuild all of the registry then has the same users, and it makes a file of
 * it. Otherwise there are a hundred, one for each set of users, and each takes 0.2 ms of every start.
 */
function fewFiles(inputs, entryPoints) {
  const registry = 'extensions/skill_registry/registry.ts';
  const reached = (from, follows) => {
    const found = new Set(from);
    for (const file of found) {
      for (const one of inputs[file].imports) if (inputs[one.path] && follows(one)) found.add(one.path);
    }
    return found;
  };
  const isLater = ({ kind }) => kind === 'dynamic-import';
  const loadsRegistry = (file) => reached([file], (one) => !isLater(one)).has(registry);
  const without = (paths) => paths.filter((path) => !loadsRegistry(path));
  // Also where no registry is.
  const elsewhere = reached(without(entryPoints), ({ path }) => !loadsRegistry(path));
  const ofRegistry = reached([registry], (one) => !isLater(one));
  const later = Object.values(inputs).flatMap(({ imports }) => imports.filter(isLater).map(({ path }) => path));
  const chosen = new Set(
    without(later.filter((path) => inputs[path] && !elsewhere.has(path) && !ofRegistry.has(path))).map((path) =>
      resolve(path),
    ),
  );
  return {
    name: 'few-files',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        chosen.has(path)
          ? { loader: 'ts', contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(resolve(registry))};\n` }
          : undefined,
      );
    },
  };
}

function isUpToDate() {
  const built = statSync(join('dist', 'cli', 'main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const folders = ['lib', 'kernel', 'cli', ...OWN_EXTENSIONS.map((id) => join('extensions', id))];
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => join(entry.parentPath, entry.name)),
  );
  return [
    ...sources,
    'docs/configuration.md',
    'scripts/build.mjs',
    'scripts/schemas.mjs',
    'scripts/frontmatter-schema.ts',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ].every((path) => statSync(path).mtimeMs < built);
}
