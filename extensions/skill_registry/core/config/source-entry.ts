import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { ValidationProfile } from '../skill/profile.ts';
import type { SourceConfig } from './config.ts';
import { sourceAdvice } from './config-problems.ts';
import { bool, objectOf, type Reader, type Readers, readerOf, refine, textLike } from './readers.ts';

export interface SourceEntry {
  /** Only entries of this kind have it, and each has it. */
  readonly key: string;
  /** Readers of the keys that only this kind has, `key` among them. */
  readonly entry: Readonly<Record<string, Reader<unknown>>>;
  /** Listed after the kind with this key. Default: last. */
  readonly after?: string;
  /** `own`: the source itself marks skills as preloaded. `refused`: they cannot be. Default: all of an entry are. */
  readonly preload?: 'own' | 'refused';
  /** Keys of it whose values may hold secrets, so no problem shows them. Default: none. */
  readonly hidden?: readonly string[];
  /** What to write where somebody gave an address alone. */
  readonly ofAddress?: string;
}

export const SOURCE_ID: RegExp = /^[A-Za-z0-9@][A-Za-z0-9@._/-]*$/;

/** The path of an entry. @param root - Of the registry. */
export function locate(path: string, root: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(root, path);
}

/** What an entry has without its keys. */
export const SOURCE_DEFAULTS = {
  allow_outside: false,
  preload: false,
  optional: false,
  ignore_files: false,
  bare_files: false,
} as const;

/** @param kinds - In the order in which they are listed. */
export function sourceReader(
  kinds: readonly SourceEntry[],
  validation: Reader<ValidationProfile>,
): Reader<SourceConfig> {
  const keys = kinds.map(({ key }) => key);
  const refused = kinds.filter(({ preload }) => preload === 'refused').map(({ key }) => key);
  const ofKinds: Readonly<Record<string, Reader<unknown>>> = Object.assign({}, ...kinds.map(({ entry }) => entry));
  const entry = refine(
    objectOf<SourceConfig>({ ...ofKinds, ...commonKeys(validation) } as Readers<SourceConfig>, SOURCE_DEFAULTS, []),
    `expected exactly one of ${keys.join(', ')}${refused.map((key) => `, and no preload with ${key}`).join('')}`,
    (given) => {
      const named = keys.filter((key) => given[key as keyof SourceConfig] !== undefined);
      return named.length === 1 && !(given.preload && refused.includes(named[0] ?? ''));
    },
    { oneOf: keys.map((key) => ({ required: [key] })) },
  );
  return readerOf(entry.schema, (value, at) => entry(value, { ...at, advice: sourceAdvice(value, kinds) }));
}

// --- internal ---

const commonKeys = (validation: Reader<ValidationProfile>) => ({
  id: textLike(SOURCE_ID, 'expected letters, digits and @ . _ / -'),
  allow_outside: bool,
  validation,
  preload: bool,
  optional: bool,
  ignore_files: bool,
  bare_files: bool,
  writable: bool,
});
