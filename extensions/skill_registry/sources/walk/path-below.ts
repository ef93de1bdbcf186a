import { relative, sep } from 'node:path';

/** Where a path lies below a folder, with `/` between segments; `.` for the folder itself. */
export function pathBelow(folder: string, path: string): string {
  // As most are given, and ten times faster.
  if (sep === '/' && path.startsWith(`${folder}/`) && !path.includes('//') && !path.includes('/.')) {
    return path.slice(folder.length + 1);
  }
  return relative(folder, path).split(sep).join('/') || '.';
}
