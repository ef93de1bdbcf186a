import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type * as Yaml from 'yaml';
import { readNamedFile } from '../../lib/files/index.ts';
import type { Problem } from '../contract.ts';
import { describeError, withFallback } from '../errors.ts';

const MAX_BYTES = 1_048_576;
const require = createRequire(import.meta.url);

/** Loading takes longer than most commands run: only at first use. */
export function yamlPackage(): typeof Yaml {
  return require('yaml') as typeof Yaml;
}

/** From the environment, else, when `trusted` (default: true), from `<root>/.env`, which is read once. */
export function createSecrets(
  rootDir: string,
  environment: Readonly<Record<string, string | undefined>>,
  trusted = true,
): (name: string) => string | undefined {
  let file: Readonly<Record<string, string | undefined>> | undefined;
  const read = () => parseEnv(readNamedFile(join(rootDir, '.env'), MAX_BYTES, { own: true }).toString('utf8'));
  return (name) => {
    file ??= trusted ? withFallback(read, {}) : {};
    return environment[name] || file[name] || undefined;
  };
}

export interface OwnerConfig {
  readonly values: Readonly<Record<string, unknown>>;
  /** CONFIG_INVALID. */
  readonly problems: readonly Problem[];
}

/** @param before - Last valid values, used while the file is invalid: an editor may be saving. Default: none. */
export function readOwnerConfig(rootDir: string, id: string, before?: OwnerConfig['values']): OwnerConfig {
  const file = join(rootDir, 'data', id, 'config.yaml');
  const broken = (line: number, reason: string): OwnerConfig => {
    const meanwhile = before ? 'its last valid values are used' : 'the defaults are used';
    const message = `The whole file is ignored: ${reason}. Correct it; until then ${meanwhile}.`;
    const problem: Problem = { code: 'CONFIG_INVALID', severity: 'error', file, line, message };
    return { values: before ?? {}, problems: [problem] };
  };
  let text: string;
  try {
    text = readNamedFile(file, MAX_BYTES, { own: true }).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { values: {}, problems: [] };
    return broken(1, `cannot be read: ${(error as Error).message}`);
  }
  const read = readMapping(text);
  if ('values' in read) return { values: read.values, problems: [] };
  return read.isEmpty ? { values: {}, problems: [] } : broken(read.line, read.reason);
}

interface YamlMapping {
  readonly document: Yaml.Document.Parsed;
  readonly values: Readonly<Record<string, unknown>>;
  /** Of a key, or of an entry of a list; undefined when nothing is there. */
  lineOf(path: readonly PropertyKey[]): number | undefined;
}

/** `reason` shows no text of the file. */
export function readMapping(
  text: string,
):
  | YamlMapping
  | (Pick<YamlMapping, 'document'> & { readonly line: number; readonly reason: string; readonly isEmpty: boolean }) {
  const { isMap, isScalar, isSeq, LineCounter, parseDocument } = yamlPackage();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [error] = document.errors;
  const no = (reason: string, line = 1) => ({ reason: reason.replace(/[:.]$/, ''), line, isEmpty: false, document });
  // The other lines show text of the file.
  if (error) return no(error.message.split('\n')[0] ?? '', error.linePos?.[0].line);
  if (!isMap(document.contents)) return { ...no('expected a mapping of keys'), isEmpty: document.contents === null };
  const lineOf = (path: readonly PropertyKey[]): number | undefined => {
    const parent = document.getIn(path.slice(0, -1), true);
    const last = String(path.at(-1));
    const node = isMap(parent)
      ? parent.items.find(({ key }) => String(isScalar(key) ? key.value : key) === last)?.key
      : isSeq(parent) && parent.items[Number(last)];
    const offset = (node as { range?: readonly number[] } | undefined)?.range?.[0];
    return offset === undefined ? undefined : lines.linePos(offset).line;
  };
  try {
    return { document, lineOf, values: document.toJS() as Record<string, unknown> };
  } catch (error) {
    // Only here does an alias without its anchor, or with too many aliases, cause an error.
    return no(describeError(error));
  }
}

/** Later layers override. Mappings are merged by key, all other values are replaced. */
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

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
