import { statSync } from 'node:fs';
import { CodedError } from 'skill-registry/kernel';
import { unknownField, unreadable, wrongArgument } from '../../../lib/arguments/index.ts';
import { withFallback } from '../../../lib/errors/index.ts';
import type { InternalOptions } from './options.ts';

/**
 * Without a schema: opening a registry loads no zod.
 * @param configKeys - Named where one is given beside `config`. @throws INVALID_ARGUMENT, also for an unknown option.
 */
export function checkOptions(options: unknown, configKeys: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw wrong('', 'an object', options);
  // Also what an object of a class inherits.
  for (const name of new Set([...Object.keys(options), ...Object.keys(OPTIONS)])) {
    const value = readOption(options, name);
    if (value === undefined) continue;
    if (!Object.hasOwn(OPTIONS, name)) {
      const known = Object.entries(OPTIONS).flatMap(([key, option]) => (option === INTERNAL ? [] : [key]));
      throw new CodedError('INVALID_ARGUMENT', `${CALLED} ${unknownField(name, known, inConfig(configKeys))}`);
    }
    const [expected, accepts] = OPTIONS[name as keyof InternalOptions];
    if (!accepts(value)) throw wrong(`.${name}`, expected, value);
    if (name === 'root' && !isFolder(String(value))) throw wrong('.root', FOLDER, value);
  }
}

// --- internal ---

function readOption(options: object, name: string): unknown {
  try {
    return (options as Readonly<Record<string, unknown>>)[name];
  } catch (error) {
    throw unreadable(`${CALLED}.${name}`, error);
  }
}

const CALLED = 'createSkillRegistry: options';
/** In a missing folder no skill would be found, without any message. */
const FOLDER = 'a folder that exists (a relative path begins at the current folder)';

type Option = readonly [expected: string, accepts: (value: unknown) => boolean];
const TEXT: Option = ['a text', (value) => typeof value === 'string'];
const SWITCH: Option = ['true or false', (value) => typeof value === 'boolean'];
const FUNCTION: Option = ['a function', (value) => typeof value === 'function'];
const INTERNAL: Option = ['', () => true];

const OPTIONS: Readonly<Record<keyof InternalOptions, Option>> = {
  root: TEXT,
  // Checked key by key when it is read.
  config: ['', () => true],
  cache: ['one of "disk", "memory"', (value) => value === 'disk' || value === 'memory'],
  trust: SWITCH,
  presets: SWITCH,
  getSecret: FUNCTION,
  inspect: SWITCH,
  noGuard: SWITCH,
  onProgress: FUNCTION,
  onSkillLoaded: FUNCTION,
  onProblem: FUNCTION,
  environment: INTERNAL,
  manifest: INTERNAL,
  onWriteStep: INTERNAL,
  checksArguments: INTERNAL,
  asksForSecrets: INTERNAL,
};

/** Common mistakes. */
function inConfig(keys: readonly string[]): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(keys.map((key) => [key, `It is a key of config: { config: { ${key}: ... } }.`])),
    skills: 'A folder of skills is a source: { config: { sources: [{ path: "skills" }] } }.',
  };
}

function wrong(at: string, expected: string, value: unknown): CodedError {
  return wrongArgument(`${CALLED}${at}`, expected, value);
}

function isFolder(path: string): boolean {
  return withFallback(() => path !== '' && statSync(path).isDirectory(), false);
}
