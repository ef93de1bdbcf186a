import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '..', '..');

/** One import of one source file. */
export interface Import {
  /** Relative to the repository. */
  readonly file: string;
  /** A path relative to the repository, or the name of a package. */
  readonly target: string;
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
}

/** Every `.ts` and `.mjs` file below a folder of the repository, relative to it; installed packages are not ours. */
export function sourceFiles(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('node_modules/'))
    .sort();
}

/** The imports and re-exports of a file, dynamic ones included. */
export function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const statics = [...text.matchAll(/^(?:import|export)\s+(type\b)?[\w\s{},*]*?(?:\bfrom\s+)?'([^']+)';/gm)].map(
    ([, type, specifier = '']) => ({ specifier, typeOnly: type !== undefined, dynamic: false }),
  );
  const dynamics = [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, specifier = '']) => ({
    specifier,
    typeOnly: false,
    dynamic: true,
  }));
  return [...statics, ...dynamics].map(({ specifier, ...rest }) => ({
    file,
    target: specifier.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), specifier)) : specifier,
    ...rest,
  }));
}
