import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../kernel/host.ts';

/** Writes the address of every module to standard error as it is loaded. */
const HOOKS = `
  import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(2, 'LOADED ' + url + '\\n');
    return next(url, context);
  }`;

/**
 * The modules in a file that was loaded, relative to the package. A file of `dist/` names the sources it was made of, each before its
 * code; any other file is one module.
 */
export function modulesIn(file: string): readonly string[] {
  const path = file.replace(`${packageRoot()}/`, '');
  if (!path.startsWith('dist/')) return [path];
  const text = readFileSync(join(packageRoot(), path), 'utf8');
  const named = text.matchAll(/^\/\/ ((?:lib|kernel|extensions|cli|node_modules)\/\S+)$/gm);
  return [...new Set([...named].map(([, source = '']) => source))];
}

/**
 * The modules a program loads in a process of its own, relative to the package: sources of what `dist/` was built of, and files of packages.
 *
 * @param program - An ES module. It runs in the folder of the package, so that the package's own name leads to it.
 */
export function loadedModules(program: string): readonly string[] {
  const register = `import { register } from 'node:module'; register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}));`;
  const common = `import { createRequire } from 'node:module'; for (const file of Object.keys(createRequire(process.cwd() + '/x.js').cache)) console.error('LOADED file://' + file);`;
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(register)}`,
      '--input-type=module',
      '-e',
      `${program};\n${common}`,
    ],
    { cwd: packageRoot(), encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  const files = [...stderr.matchAll(/^LOADED file:\/\/(.*)$/gm)].map(([, file = '']) => file);
  return files.flatMap(modulesIn);
}
