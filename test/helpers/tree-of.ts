import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Everything below a folder, by path: mode and content of files, targets of links. */
export function treeOf(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(paths.map((path) => [path, describe(join(folder, path))]));
}

// --- internal ---

function describe(path: string): string {
  const stats = lstatSync(path);
  const mode = (stats.mode & 0o777).toString(8);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (stats.isDirectory()) return `folder ${mode}`;
  return stats.isFile() ? `${mode} ${readFileSync(path, 'latin1')}` : 'something else';
}
