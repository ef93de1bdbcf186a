import { relative, sep } from 'node:path';

/** Where a path lies below a folder, with `/` between segments; `.` for the folder itself. */
export function pathBelow(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/') || '.';
}
