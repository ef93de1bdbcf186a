import { type Dirent, readdirSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { withFallback } from '../../lib/errors/index.ts';
import { futureRealPath, isInside, isOtherRoot } from '../../lib/files/index.ts';
import { openTrust } from '../../lib/trust/index.ts';

/**
 * Whether a path is below `extensions/` or `node_modules/` of the root or a root above, or below the target of a link
 * there (also of links in targets). `data/` of an approved root counts, too: its settings decide what is allowed.
 * @param path - Absolute, real; it may not exist yet.
 */
export function isCode(rootDir: string, path: string): boolean {
  const above = foldersAbove(path);
  const trust = openTrust();
  const approved = above.filter((folder) => trust.allows('root', folder));
  if (approved.some((root) => isInside(path, futureRealPath(join(root, 'data'))))) return true;
  return [rootDir, ...approved, ...above.filter(isOtherRoot)].some((root) => {
    for (const folder of codeFolders(root)) if (isInside(path, folder)) return true;
    return false;
  });
}

export function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** `extensions/`, `node_modules/` and the others, and where links in them lead, in targets as well. Real paths. */
export function* codeFolders(root: string, others: readonly string[] = []): Generator<string> {
  const named = [join(root, 'extensions'), join(root, 'node_modules'), ...others];
  const folders = named.map((folder) => futureRealPath(folder));
  yield* folders;
  const seen = new Set<string>();
  for (const folder of folders) {
    if (seen.has(folder)) continue;
    seen.add(folder);
    if (seen.size > MAX_FOLDERS) return yield parse(folder).root;
    for (const entry of entriesOf(folder)) {
      const isLink = entry.isSymbolicLink();
      if (!isLink && !entry.isDirectory()) continue;
      const real = isLink ? futureRealPath(join(folder, entry.name)) : join(folder, entry.name);
      if (isLink) yield real;
      if (!isInstalled(real)) folders.push(real);
    }
  }
}

// --- internal ---

/** When there are more folders to search, every path counts as code. */
const MAX_FOLDERS = 10_000;

/** A package in `node_modules`, or a folder such as `.bin`. They are large, and their links lead to other packages. */
function isInstalled(folder: string): boolean {
  return /[\\/]node_modules[\\/](@[^\\/]+[\\/][^\\/]+|[^@\\/][^\\/]*)$/.test(folder);
}

function entriesOf(folder: string): readonly Dirent[] {
  return withFallback(() => readdirSync(folder, { withFileTypes: true }), []);
}
