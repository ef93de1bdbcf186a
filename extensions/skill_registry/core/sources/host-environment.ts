import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import type { GateEnvironment } from '../skill/gates.ts';

/** Searches each program once. @param given - Default: the environment of the process. */
export function hostEnvironment(
  given: Readonly<Record<string, string | undefined>> | undefined,
  settings: Readonly<Record<string, unknown>>,
): GateEnvironment {
  // biome-ignore lint/style/noProcessEnv: gates ask about this very environment
  const environment = given ?? process.env;
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const programs = new Map<string, boolean>();
  // List each folder once: one call per folder and program would take as long as reading the skills.
  const contents = new Map<string, ReadonlySet<string> | undefined>();
  const mayHold = (folder: string, name: string): boolean => {
    if (process.platform !== 'linux') return true;
    if (!contents.has(folder)) contents.set(folder, namesIn(folder));
    return contents.get(folder)?.has(name) ?? true;
  };
  const isFound = (name: string): boolean =>
    !/[\\/]/.test(name) && folders.some((folder) => mayHold(folder, name) && isProgram(join(folder, name)));
  return {
    platform: process.platform,
    hasProgram(name) {
      if (!programs.has(name)) programs.set(name, isFound(name));
      return programs.get(name) === true;
    },
    hasVariable: (name) => Boolean(Object.hasOwn(environment, name) && environment[name]),
    hasSetting: (path) => Boolean(valueAt(settings, path.split('.'))),
  };
}

// --- internal ---

function namesIn(folder: string): ReadonlySet<string> | undefined {
  return withFallback(() => new Set(readdirSync(folder)));
}

function isProgram(path: string): boolean {
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  const isOne = (file: string): boolean => {
    // Most folders lack the program, and an exception would take three times as long.
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  };
  return endings.some((ending) => withFallback(() => isOne(path + ending), false));
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return valueAt((value as Readonly<Record<string, unknown>>)[key], rest);
}
