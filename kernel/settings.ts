import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Problem } from './contract.ts';
import { describeError } from './errors.ts';
import { readNamedFile } from './files/read-named-file.ts';
import { yamlPackage } from './yaml-package.ts';

const MAX_BYTES = 1_048_576;

/** Reads secrets from the environment first, then from `<root>/.env`, which is read once. */
export function createSecrets(
  rootDir: string,
  environment: Readonly<Record<string, string | undefined>>,
): (name: string) => string | undefined {
  let file: Readonly<Record<string, string | undefined>> | undefined;
  return (name) => {
    file ??= readEnvFile(join(rootDir, '.env'));
    return environment[name] || file[name] || undefined;
  };
}

export interface OwnerConfig {
  readonly values: Readonly<Record<string, unknown>>;
  /** CONFIG_INVALID. */
  readonly problems: readonly Problem[];
}

/** Reads `data/<id>/config.yaml`, what the owner set for one extension. No file: no values. */
export function readOwnerConfig(rootDir: string, id: string): OwnerConfig {
  const file = join(rootDir, 'data', id, 'config.yaml');
  let text: string;
  try {
    text = readNamedFile(file, MAX_BYTES, { own: true }).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { values: {}, problems: [] };
    return { values: {}, problems: [configProblem(file, 1, `cannot be read: ${(error as Error).message}`)] };
  }
  const { isMap, LineCounter, parseDocument } = yamlPackage();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [error] = document.errors;
  if (error)
    return {
      values: {},
      problems: [configProblem(file, error.linePos?.[0].line ?? 1, error.message.split('\n')[0] ?? '')],
    };
  if (document.contents === null) return { values: {}, problems: [] };
  if (!isMap(document.contents))
    return { values: {}, problems: [configProblem(file, 1, 'expected a mapping of keys')] };
  try {
    return { values: document.toJS() as Record<string, unknown>, problems: [] };
  } catch (error) {
    // An alias without its anchor, or aliases that multiply, show only now.
    return { values: {}, problems: [configProblem(file, 1, describeError(error))] };
  }
}

/** Later layers win; mappings are merged key by key, anything else (also a list) is replaced whole. */
export function mergeConfig(...layers: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer)) {
      const before = merged[key];
      merged[key] = isPlainObject(before) && isPlainObject(value) ? mergeConfig(before, value) : value;
    }
  }
  return merged;
}

// --- internal ---

function readEnvFile(file: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(readNamedFile(file, MAX_BYTES, { own: true }).toString('utf8'));
  } catch {
    return {};
  }
}

function configProblem(file: string, line: number, reason: string): Problem {
  const message = `Ignored as a whole: ${reason}. Correct the file; until then the defaults hold.`;
  return { code: 'CONFIG_INVALID', severity: 'error', file, line, message };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
