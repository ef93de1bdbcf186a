import { basename, join } from 'node:path';
import { readNamedFile } from '../../lib/files/index.ts';
import type { Problem } from '../contract.ts';
import { foldersOf, foldersOfRoot } from './extension-folders.ts';
import { type Manifest, parseManifest } from './manifest.ts';

const MAX_MANIFEST_BYTES = 1_048_576;

/** An extension whose manifest is sound. */
export interface FoundExtension {
  readonly manifest: Manifest;
  /** Absolute. */
  readonly dir: string;
  /** `package`: ours, imported as it stands. `root`: somebody's, through the loader's compiler. */
  readonly origin: 'package' | 'root';
}

export interface Discovery {
  /** By id; the root's win over the package's. In order of folder name, the package's first. */
  readonly extensions: readonly FoundExtension[];
  /** Folders whose manifest cannot be used, each named in `problems`. */
  readonly broken: readonly { readonly name: string; readonly dir: string; readonly reason: string }[];
  readonly problems: readonly Problem[];
}

/**
 * Finds `<folder>/manifest.yaml` in the package's own extensions, then in `<root>/extensions`, unless the root is not trusted.
 *
 * @param rootDir - `<root>/extensions`; undefined: the package's alone.
 * @param twins - Folder that holds the sources of the package's own extensions, when it is not `packageDir` itself: in a
 *   checkout, `<root>/extensions` is where ours are written, and they are not found a second time.
 */
export function discoverExtensions(packageDir: string, rootDir: string | undefined, twins: string): Discovery {
  const problems: Problem[] = [];
  const broken: { name: string; dir: string; reason: string }[] = [];
  const found = new Map<string, FoundExtension>();
  const own = foldersOf(packageDir);
  const folders = [
    ...own.map((name) => ({ dir: join(packageDir, name), origin: 'package' as const })),
    ...(rootDir === undefined ? [] : foldersOfRoot(rootDir, packageDir, twins)).map((name) => ({
      dir: join(rootDir as string, name),
      origin: 'root' as const,
    })),
  ];
  for (const { dir, origin } of folders) {
    const file = join(dir, 'manifest.yaml');
    const text = readManifest(file);
    if (text === undefined) {
      if (origin === 'root') problems.push(noManifest(dir));
      continue;
    }
    const parsed = parseManifest(text, file);
    problems.push(...parsed.problems);
    if (!parsed.manifest) {
      broken.push({ name: basename(dir), dir, reason: parsed.problems[0]?.message ?? 'broken manifest' });
      continue;
    }
    const { id } = parsed.manifest;
    const earlier = found.get(id);
    if (earlier && earlier.origin === origin) {
      problems.push(duplicateId(id, file, earlier.dir));
      continue;
    }
    if (earlier) problems.push(overridden(id, file, earlier.dir));
    found.set(id, { manifest: parsed.manifest, dir, origin });
  }
  return { extensions: [...found.values()], broken, problems };
}

// --- internal ---

function readManifest(file: string): string | undefined {
  try {
    return readNamedFile(file, MAX_MANIFEST_BYTES).toString('utf8');
  } catch {
    return undefined;
  }
}

function noManifest(dir: string): Problem {
  const message = `${basename(dir)} has no readable manifest.yaml, so it is no extension. Add one, or move the folder away.`;
  return { code: 'MANIFEST_MISSING', severity: 'warning', file: dir, message };
}

function duplicateId(id: string, file: string, firstDir: string): Problem {
  const message = `Extension id "${id}" is already taken by ${firstDir}, which stays. Give one of them another id.`;
  return { code: 'EXTENSION_ID_TAKEN', severity: 'error', file, message, details: { id, winner: firstDir } };
}

function overridden(id: string, file: string, ownDir: string): Problem {
  const message = `Extension "${id}" replaces the one that comes with the package. Rename it if that is not meant.`;
  return { code: 'EXTENSION_OVERRIDES_BUILT_IN', severity: 'warning', file, message, details: { id, loser: ownDir } };
}
