import { statSync } from 'node:fs';
import { CodedError } from 'skill-registry/kernel';
import { unknownField, wrongArgument } from '../../lib/arguments/index.ts';
import { CONFIG_SCHEMA } from './config/config.ts';
import type { InternalOptions } from './parts.ts';

/**
 * Checks what `createSkillRegistry` is called with. Not by a schema: opening a registry loads no zod.
 *
 * @throws INVALID_ARGUMENT, also for an option that does not exist.
 */
export function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw wrong('', 'an object', options);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(OPTIONS, name)) {
      const known = Object.keys(OPTIONS).filter((key) => !INTERNAL.includes(key));
      throw new CodedError('INVALID_ARGUMENT', `${CALLED} ${unknownField(name, known, IN_CONFIG)}`);
    }
    const { expected, accepts } = OPTIONS[name as OptionName];
    if (!accepts(value)) throw wrong(`.${name}`, expected, value);
    if (name === 'root' && !isFolder(String(value))) throw wrong('.root', FOLDER, value);
  }
}

// --- internal ---

const CALLED = 'createSkillRegistry: options';
/** Skills that are looked for in a folder which is not there would all be missing, without a word about it. */
const FOLDER = 'a folder that exists (a relative path begins at the current folder)';

interface Option {
  readonly expected: string;
  accepts(value: unknown): boolean;
}
const TEXT: Option = { expected: 'a text', accepts: (value) => typeof value === 'string' };
const SWITCH: Option = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' };
const FUNCTION: Option = { expected: 'a function', accepts: (value) => typeof value === 'function' };
/** The config is checked key by key when it is read. */
const ANYTHING: Option = { expected: '', accepts: () => true };

type OptionName = keyof InternalOptions;
const OPTIONS: Readonly<Record<OptionName, Option>> = {
  root: TEXT,
  config: ANYTHING,
  cache: { expected: 'one of "disk", "memory"', accepts: (value) => value === 'disk' || value === 'memory' },
  trust: SWITCH,
  getSecret: FUNCTION,
  inspect: SWITCH,
  onProgress: FUNCTION,
  onSkillLoaded: FUNCTION,
  onProblem: FUNCTION,
  environment: ANYTHING,
  manifest: ANYTHING,
  onWriteStep: ANYTHING,
  checksArguments: ANYTHING,
};
const INTERNAL: readonly string[] = [
  'environment',
  'manifest',
  'onWriteStep',
  'checksArguments',
] satisfies OptionName[];

/** People give keys of the config beside it. */
const IN_CONFIG = {
  ...Object.fromEntries(
    Object.keys(CONFIG_SCHEMA.properties ?? {}).map((key) => [
      key,
      `It is a key of config: { config: { ${key}: ... } }.`,
    ]),
  ),
  skills: 'A folder of skills is a source: { config: { sources: [{ path: "skills" }] } }.',
};

function wrong(at: string, expected: string, value: unknown): CodedError {
  return wrongArgument(`${CALLED}${at}`, expected, value);
}

function isFolder(path: string): boolean {
  try {
    return path !== '' && statSync(path).isDirectory();
  } catch {
    return false;
  }
}
