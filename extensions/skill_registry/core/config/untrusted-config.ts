import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { futureRealPath, isInside } from '../../../../lib/files/index.ts';
import { isRecord } from './readers.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * What a config.yaml may set in a root that nobody has approved: folders below the root and presets as sources, and
 * keys that show less than the defaults. Other keys could run code, contact an address, read other folders, or put more
 * into a prompt. `rootDir` is a real path; `ignored` names the other keys: `sources.1 (package)`, `inject`.
 */
export function configOfUntrustedRoot(
  values: Values,
  rootDir: string,
): { readonly values: Values; readonly ignored: readonly string[] } {
  const kept: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    const safe = Object.hasOwn(SAFE, key) ? SAFE[key] : undefined;
    if (key === 'sources' && Array.isArray(value))
      kept.sources = value.flatMap((entry, index) => safeSource(entry, `sources.${index}`, rootDir, ignored));
    else if (typeof safe === 'object' && isRecord(value)) kept[key] = onlySafe(value, safe, `${key}.`, ignored);
    else if (typeof safe === 'function' && safe(value)) kept[key] = value;
    else ignored.push(key);
  }
  return { values: kept, ignored };
}

// --- internal ---

type IsSafe = (value: unknown) => boolean;

const atMost =
  (most: number): IsSafe =>
  (value) =>
    typeof value === 'number' && value <= most;
const oneOf =
  (...allowed: readonly unknown[]): IsSafe =>
  (value) =>
    allowed.includes(value);

const SAFE: Readonly<Record<string, IsSafe | Readonly<Record<string, IsSafe>>>> = {
  disabled: () => true,
  collision: oneOf('first', 'error'),
  validation: oneOf('lenient', 'spec', 'strict'),
  inject: oneOf('catalog', 'off'),
  usage: oneOf(false),
  tools: (value) =>
    Array.isArray(value) &&
    value.every(oneOf('list_skills', 'read_skill', 'read_skill_resource', 'propose_skill_update', 'list_proposals')),
  catalog: { budget_tokens: atMost(2000), enforcement: oneOf(false), format: oneOf('bullets', 'xml') },
  writes: { create: oneOf('propose', 'deny'), update: oneOf('propose', 'deny'), delete: oneOf('deny') },
  limits: {
    skill_tokens: atMost(8000),
    resource_bytes: atMost(1_048_576),
    file_bytes: atMost(4_194_304),
    scan_depth: atMost(8),
  },
  gates: { check: oneOf(true) },
};

const FLAGS: Readonly<Record<string, IsSafe>> = {
  id: () => true,
  optional: () => true,
  ignore_files: oneOf(true),
  bare_files: oneOf(false),
  validation: oneOf('spec', 'strict'),
  writable: oneOf(false),
  allow_outside: oneOf(false),
  preload: oneOf(false),
};

function onlySafe(values: Values, safe: Readonly<Record<string, IsSafe>>, prefix: string, ignored: string[]): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([key, value]) => {
      const isSafe = Object.hasOwn(safe, key) && safe[key]?.(value) === true;
      if (!isSafe) ignored.push(`${prefix}${key}`);
      return isSafe;
    }),
  );
}

function safeSource(entry: unknown, name: string, rootDir: string, ignored: string[]): readonly Values[] {
  if (!isRecord(entry)) {
    ignored.push(name);
    return [];
  }
  const { path, preset, shipped, ...flags } = entry;
  const foreign = Object.keys(flags).find((key) => !Object.hasOwn(FLAGS, key));
  if (foreign !== undefined || (typeof path === 'string' && !isBelow(path, rootDir))) {
    ignored.push(`${name} (${foreign ?? 'a path outside the root'})`);
    return [];
  }
  const kind = Object.fromEntries(Object.entries({ path, preset, shipped }).filter(([, value]) => value !== undefined));
  return [{ ...kind, ...onlySafe(flags, FLAGS, `${name}.`, ignored) }];
}

function isBelow(path: string, rootDir: string): boolean {
  if (path === '~' || path.startsWith('~/')) return isInside(futureRealPath(join(homedir(), path.slice(1))), rootDir);
  return isInside(futureRealPath(isAbsolute(path) ? resolve(path) : resolve(rootDir, path)), rootDir);
}
