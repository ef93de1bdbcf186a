import { isDeepStrictEqual } from 'node:util';
import type { Problem } from 'skill-registry/kernel';
import { readMapping } from '../../../../kernel/host.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { readNamedFile } from '../../../../lib/files/index.ts';
import { formatNumber } from '../../../../lib/text/index.ts';
import { shippedManifest } from './owner-file.ts';
import { isRecord, plainCopy, UNREADABLE, type ValuePosition } from './readers.ts';

/** Finds the file that gave a key its value; undefined when a program or the command line gave it. */
type FindKey = (path: readonly string[], value: unknown) => Pick<Problem, 'file' | 'line'> | undefined;

/** Searches the owner's file, then `config` in the manifest. Both are read at the first search. */
export function keyFinder(ownerFile: string, manifest?: string): FindKey {
  let finders: readonly FindKey[] | undefined;
  return (path, value) => {
    finders ??= [finderIn(ownerFile), ...(manifest === undefined ? [] : [finderIn(manifest, 'config')])];
    for (const find of finders) {
      const position = find(path, value);
      if (position) return position;
    }
    return undefined;
  };
}

interface ProblemOptions {
  readonly findKey?: FindKey;
  /** Replaces `effect` if all is refused. */
  readonly refused?: string;
  /** Keys whose values are not shown. */
  readonly secrets: readonly string[];
}

/** At most 20 problems per section, then the number of others. */
export function collectProblems(
  file: string,
  path: readonly string[],
  effect: string,
  { findKey = () => undefined, refused, secrets }: ProblemOptions,
): { readonly at: ValuePosition; readonly problems: () => readonly Problem[] } {
  const found: Problem[] = [];
  const counts = new Map<string, number>();
  const add = (key: string, message: string, position?: Pick<Problem, 'line'>): void => {
    found.push({ code: 'CONFIG_KEY_INVALID', severity: 'error', file, ...position, message, details: { key } });
  };
  const report: ValuePosition['report'] = (at, value, expected, hint = () => at.advice ?? '') => {
    const section = at.path.length > 1 ? (at.path[0] ?? '') : '';
    const count = (counts.get(section) ?? 0) + 1;
    counts.set(section, count);
    if (count > MAX_LISTED) return;
    const position = findKey(at.path, value);
    // It also has the keys of features that somebody left out.
    if (position?.file === shippedManifest()) return;
    const key = at.path.join('.');
    const got = at.isSecret ? `"(${value === null ? 'null' : typeof value})"` : shown(value, secrets);
    const what = `${key === '' ? 'The config' : `Config "${key}"`} is ${got}: ${expected}; ${refused ?? at.effect}.`;
    const advice = 'Correct it; docs/configuration.md of the package lists the keys.';
    add(key, `${what}${hint()} ${advice}`, position);
  };
  const problems = (): readonly Problem[] => {
    for (const [section, count] of counts) {
      if (count <= MAX_LISTED) continue;
      const more = formatNumber(count - MAX_LISTED);
      const where = section === '' ? 'The config' : `Config "${section}"`;
      add(section, `${where} has ${more} more wrong values, which are not listed. Correct those that are.`);
    }
    return found;
  };
  return { at: { path, effect, report }, problems };
}

export function sourceAdvice(value: unknown, kinds: readonly { readonly ofAddress?: string }[]): string {
  const ofAddress = kinds.flatMap((kind) => kind.ofAddress ?? []);
  if (typeof value === 'string' && ofAddress.length > 0 && /^https?:/i.test(value))
    return ` Write ${ofAddress.join(', or ')}.`;
  if (typeof value === 'string') return ` Write { path: ${shown(value)} } for a folder.`;
  return isRecord(value) && 'skills' in value
    ? ' A source that is made with defineSource is given to addSource of the registry, not to its config.'
    : '';
}

// --- internal ---

const MAX_LISTED = 20;

/** The value without secrets: an address without user name and password. */
function shown(value: unknown, secrets: readonly string[] = []): string {
  if (value === UNREADABLE) return 'a value that cannot be read';
  if (value === undefined) return 'missing';
  const isOther = typeof value === 'object' && value !== null && !Array.isArray(value) && !isRecord(value);
  const type = isOther ? Object.prototype.toString.call(value).slice(8, -1) : typeof value;
  // A value that contains itself has no JSON.
  const json = withFallback((): string | undefined =>
    JSON.stringify(isOther ? undefined : value, (key, one: unknown) => (secrets.includes(key) ? '…' : one)),
  );
  const text = (json ?? `a value of the type ${type}`).replace(/\/\/[^/@\s"]*@/g, '//…@');
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

const MAX_BYTES = 1_048_576;

function finderIn(file: string, ...above: readonly string[]): FindKey {
  const read = withFallback(() => readMapping(readNamedFile(file, MAX_BYTES, { own: true }).toString('utf8')));
  // Where the file is missing or cannot be read, the code that reads its values reports this.
  if (!read || !('values' in read)) return () => undefined;
  return (path, value) => {
    // A missing key is reported at the line of its parent.
    const { value: found, keys } = valueAt(read.values, [
      ...above,
      ...(value === undefined ? path.slice(0, -1) : path),
    ]);
    if (found === undefined || (value !== undefined && !isPartOf(found, value))) return undefined;
    const line = read.lineOf(keys);
    return line === undefined ? undefined : { file, line };
  };
}

/** The value, and the path as the file has it: a list of one entry may be written without the list. */
function valueAt(whole: unknown, path: readonly string[]) {
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
  if (!isRecord(given) || !isRecord(merged))
    return isDeepStrictEqual(
      plainCopy(() => given),
      plainCopy(() => merged),
    );
  return Object.entries(given).every(([key, value]) => Object.hasOwn(merged, key) && isPartOf(value, merged[key]));
}
