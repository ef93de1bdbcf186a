import { isDeepStrictEqual } from 'node:util';
import { yamlPackage } from '../../../kernel/host.ts';
import { readNamedFile } from '../../../lib/files/index.ts';
import { isRecord } from './readers.ts';

export interface KeyPosition {
  readonly file: string;
  readonly line: number;
}

/** Finds the file that gave a key its value; undefined when a program or the command line gave it. */
export type FindKey = (path: readonly string[], value: unknown) => KeyPosition | undefined;

/** Searches the owner's file, then `config` in the manifest. Both are read at the first search. */
export function keyFinder(ownerFile: string, manifest?: string): FindKey {
  let files: readonly ReadFile[] | undefined;
  return (path, value) => {
    files ??= [[ownerFile, []] as const, ...(manifest === undefined ? [] : [[manifest, ['config']] as const])].flatMap(
      ([file, above]) => readFile(file, above) ?? [],
    );
    for (const { file, lineOf } of files) {
      const line = lineOf(path, value);
      if (line !== undefined) return { file, line };
    }
    return undefined;
  };
}

// --- internal ---

interface ReadFile {
  readonly file: string;
  readonly lineOf: (path: readonly string[], value: unknown) => number | undefined;
}

const MAX_BYTES = 1_048_576;

function readFile(file: string, above: readonly string[]): ReadFile | undefined {
  try {
    const { isMap, isScalar, isSeq, LineCounter, parseDocument } = yamlPackage();
    const lines = new LineCounter();
    const text = readNamedFile(file, MAX_BYTES, { own: true }).toString('utf8');
    const document = parseDocument(text, { lineCounter: lines });
    const whole: unknown = document.toJS();
    const lineOf: ReadFile['lineOf'] = (path, value) => {
      // A missing key is reported at the line of its parent.
      const { value: found, keys } = valueAt(whole, [...above, ...(value === undefined ? path.slice(0, -1) : path)]);
      if (found === undefined || (value !== undefined && !isPartOf(found, value))) return undefined;
      const parent = document.getIn(keys.slice(0, -1), true);
      const last = keys.at(-1);
      const node = isMap(parent)
        ? parent.items.find(({ key }) => String(isScalar(key) ? key.value : key) === last)?.key
        : isSeq(parent) && parent.items[Number(last)];
      const offset = (node as { range?: readonly number[] } | undefined)?.range?.[0];
      return offset === undefined ? undefined : lines.linePos(offset).line;
    };
    return { file, lineOf };
  } catch {
    // The file is missing or cannot be read; the code that reads its values reports this.
    return undefined;
  }
}

/** The value, and the path as the file has it: a list of one entry may be written without the list. */
function valueAt(
  whole: unknown,
  path: readonly string[],
): { readonly value: unknown; readonly keys: readonly string[] } {
  let value = whole;
  const keys: string[] = [];
  for (const key of path) {
    const isThere = (isRecord(value) || Array.isArray(value)) && Object.hasOwn(value, key);
    if (key === '0' && isRecord(value) && !isThere) continue;
    value = isThere ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
    keys.push(key);
  }
  return { value, keys };
}

/** Whether a file's value is in the merged value: mappings of several files are merged by key. */
function isPartOf(given: unknown, merged: unknown): boolean {
  if (!isRecord(given) || !isRecord(merged)) return isDeepStrictEqual(given, merged);
  return Object.entries(given).every(([key, value]) => Object.hasOwn(merged, key) && isPartOf(value, merged[key]));
}
