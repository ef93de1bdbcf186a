import { futureRealPath, isInside } from '../../../../lib/files/index.ts';
import { among, type ConfigKey, type IsHarmless } from './config-keys.ts';
import { isRecord } from './readers.ts';
import { locate } from './source-entry.ts';

export type Values = Readonly<Record<string, unknown>>;

/**
 * What a config.yaml may set in a root that nobody has approved: folders below the root and presets as sources, and
 * keys that show less than the defaults. Other keys could run code, contact an address, read other folders, or put more
 * into a prompt. `rootDir` is a real path; `ignored` names the other keys: `sources.1 (package)`, `inject`.
 */
export function configOfUntrustedRoot(
  values: Values,
  rootDir: string,
  keys: Readonly<Record<string, Pick<ConfigKey, 'harmless'>>>,
): { readonly values: Values; readonly ignored: readonly string[] } {
  const kept: Record<string, unknown> = {};
  const ignored: string[] = [];
  const isKnown = keys.validation?.harmless as IsHarmless;
  const flags = { ...FLAGS, validation: (value: unknown) => value !== 'lenient' && isKnown(value) };
  for (const [key, value] of Object.entries(values)) {
    const safe = Object.hasOwn(keys, key) ? keys[key]?.harmless : undefined;
    if (key === 'sources' && Array.isArray(value))
      kept.sources = value.flatMap((entry, index) => safeSource(entry, `sources.${index}`, rootDir, flags, ignored));
    else if (typeof safe === 'object' && isRecord(value)) kept[key] = onlySafe(value, safe, `${key}.`, ignored);
    else if (typeof safe === 'function' && safe(value)) kept[key] = value;
    else ignored.push(key);
  }
  return { values: kept, ignored };
}

// --- internal ---

const FLAGS: Readonly<Record<string, IsHarmless>> = {
  id: () => true,
  optional: () => true,
  ignore_files: among(true),
  bare_files: among(false),
  writable: among(false),
  allow_outside: among(false),
  preload: among(false),
};

function onlySafe(
  values: Values,
  safe: Readonly<Record<string, IsHarmless>>,
  prefix: string,
  ignored: string[],
): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([key, value]) => {
      const isSafe = Object.hasOwn(safe, key) && safe[key]?.(value) === true;
      if (!isSafe) ignored.push(`${prefix}${key}`);
      return isSafe;
    }),
  );
}

function safeSource(
  entry: unknown,
  name: string,
  rootDir: string,
  safeFlags: typeof FLAGS,
  ignored: string[],
): readonly Values[] {
  if (!isRecord(entry)) {
    ignored.push(name);
    return [];
  }
  const { path, preset, shipped, ...flags } = entry;
  const foreign = Object.keys(flags).find((key) => !Object.hasOwn(safeFlags, key));
  if (
    foreign !== undefined ||
    (typeof path === 'string' && !isInside(futureRealPath(locate(path, rootDir)), rootDir))
  ) {
    ignored.push(`${name} (${foreign ?? 'a path outside the root'})`);
    return [];
  }
  const kind = Object.fromEntries(Object.entries({ path, preset, shipped }).filter(([, value]) => value !== undefined));
  return [{ ...kind, ...onlySafe(flags, safeFlags, `${name}.`, ignored) }];
}
