import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { originUnavailable } from '../../../lib/fetch/index.ts';
import { listContained, readContained } from '../../../lib/files/index.ts';
import type { FolderOrigin } from './address.ts';
import { MAX_UNPACKED, type Offer, type OfferedEntry } from './offer.ts';

/** Skills in a folder of this machine, to be copied. What is withheld (`data/`, keys, `.env`, `.git`) is not in it. @throws ORIGIN_UNAVAILABLE. */
export function openFolder(origin: FolderOrigin): Offer {
  const base = realFolder(origin.path);
  return {
    ...{ origin, at: {}, name: basename(base), entries: entriesBelow(base), close: () => undefined },
    read: async (paths) => paths.map((path) => readContained(base, path, MAX_UNPACKED)),
  };
}

// --- internal ---

const MAX_ENTRIES = 100_000;

function realFolder(path: string): string {
  try {
    const base = realpathSync(path);
    readdirSync(base);
    return base;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw originUnavailable(path, code === 'ENOENT' ? 'there is no such folder' : String(code), error);
  }
}

/** Links are entries as well: a skill that has one is refused, and not copied without it. */
function entriesBelow(base: string): readonly OfferedEntry[] {
  const entries: OfferedEntry[] = [];
  const visit = (folder: string): void => {
    for (const { name, kind, size } of listContained(base, folder)) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (entries.length >= MAX_ENTRIES) throw originUnavailable(base, `it has more than ${MAX_ENTRIES} files`);
      if (kind === 'directory') {
        if (name !== 'node_modules' && name !== '.git') visit(path);
      } else if (kind !== 'private') {
        const { mode } = lstatSync(join(base, path));
        entries.push({ path, size, kind: kind === 'file' ? 'file' : 'link', executable: (mode & 0o100) !== 0 });
      }
    }
  };
  visit('');
  return entries;
}
