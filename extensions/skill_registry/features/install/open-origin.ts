import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { digestOf } from '../../../../lib/digest/index.ts';
import { download, originUnavailable, unpack } from '../../../../lib/fetch/index.ts';
import { listContained, readContained, readNamedFile } from '../../../../lib/files/index.ts';
import type { GuardPart } from '../guard/door.ts';
import type { ChangeContext, ConflictProposals } from '../history/change-context.ts';
import { shownOrigin } from './address.ts';
import { originInvalid } from './errors.ts';
import {
  type ArchiveOrigin,
  type FolderOrigin,
  MAX_ARCHIVE,
  MAX_UNPACKED,
  type OpenedOrigin,
  type Origin,
  type OriginEntry,
} from './opened-origin.ts';

/** @param names - Of a page. Default: all skills. */
type Open<Kind extends Origin['kind']> = (
  origin: Extract<Origin, { readonly kind: Kind }>,
  names?: readonly string[],
) => Promise<OpenedOrigin>;

/** Runs no file of an origin. */
export type OriginKinds = { readonly [Kind in Origin['kind']]?: Open<Kind> };

export interface InstallContext extends ChangeContext, Pick<GuardPart, 'assertMayCome' | 'came'> {
  /** Those that other features open. */
  readonly originKinds?: OriginKinds;
  /** Without it, an update with conflicts fails. */
  readonly conflicts?: ConflictProposals;
}

const OWN_KINDS: OriginKinds = {
  git: async (origin) => (await import('./programs/git.ts')).openGit(origin),
  npm: async (origin) => (await import('./programs/npm.ts')).openNpm(origin),
  archive: openArchive,
  folder: openFolder,
};

/** @throws ORIGIN_INVALID for a kind that nothing opens. */
export async function openOrigin(
  { originKinds }: Pick<InstallContext, 'originKinds'>,
  origin: Origin,
  names?: readonly string[],
): Promise<OpenedOrigin> {
  const open = { ...OWN_KINDS, ...originKinds }[origin.kind] as Open<Origin['kind']> | undefined;
  if (open) return open(origin, names);
  throw originInvalid(shownOrigin(origin), 'nothing here opens an origin of this kind.');
}

/** Opens each origin once; a page once per skill name. */
export type OpenOnce = (origin: Origin, name: string) => Promise<OpenedOrigin>;

/** Closes all opened origins when `use` ends. */
export async function withOrigins<T>(context: InstallContext, use: (open: OpenOnce) => Promise<T>): Promise<T> {
  const origins = new Map<string, Promise<OpenedOrigin>>();
  const open: OpenOnce = (origin, name) => {
    const key = JSON.stringify([origin, origin.kind === 'well-known' ? name : '']);
    const opened = origins.get(key) ?? openOrigin(context, origin, [name]);
    origins.set(key, opened);
    return opened;
  };
  try {
    return await use(open);
  } finally {
    for (const opened of origins.values()) (await opened.catch(() => undefined))?.close?.();
  }
}

// --- internal ---

async function openArchive(origin: ArchiveOrigin): Promise<OpenedOrigin> {
  const { location } = origin;
  const bytes = /^https?:/.test(location) ? await download(location, MAX_ARCHIVE) : readArchive(location);
  const unpacked = await unpack(bytes, shownOrigin(origin));
  const digest = digestOf(bytes);
  const name = basename(location.replace(/[?#].*$/, '')).replace(/\.(tar\.gz|tgz|zip)$/i, '');
  return { origin, at: { digest }, name, ...unpacked };
}

function readArchive(location: string): Buffer {
  try {
    return readNamedFile(location, MAX_ARCHIVE);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw originUnavailable(location, code === 'ENOENT' ? 'there is no such file. Correct the path' : message, error);
  }
}

const MAX_ENTRIES = 100_000;

/** Leaves out files that are never copied: `data/`, keys, `.env`, `.git`. */
async function openFolder(origin: FolderOrigin): Promise<OpenedOrigin> {
  const base = realFolder(origin.path);
  return {
    origin,
    at: {},
    name: basename(base),
    entries: entriesBelow(base),
    read: async (paths) => paths.map((path) => readContained(base, path, MAX_UNPACKED)),
  };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder. Correct the path',
  ENOTDIR: 'it is neither a folder nor an archive (.tar.gz, .tgz, .zip)',
};

function realFolder(path: string): string {
  try {
    const base = realpathSync(path);
    readdirSync(base);
    return base;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw originUnavailable(path, REASONS[code ?? ''] ?? String(code), error);
  }
}

/** Lists links too: a skill with a link is refused, not copied without it. */
function entriesBelow(base: string): readonly OriginEntry[] {
  const entries: OriginEntry[] = [];
  const visit = (folder: string): void => {
    for (const { name, kind, size } of listContained(base, folder)) {
      if (entries.length >= MAX_ENTRIES) throw originUnavailable(base, `it has more than ${MAX_ENTRIES} files`);
      const path = folder === '' ? name : `${folder}/${name}`;
      if (kind === 'directory' && name !== 'node_modules' && name !== '.git') visit(path);
      if (kind === 'directory' || kind === 'private') continue;
      const stats = lstatSync(join(base, path), { throwIfNoEntry: false });
      if (!stats) continue;
      const entry = kind === 'file' ? kind : stats.isSymbolicLink() ? 'link' : 'other';
      entries.push({ path, size, kind: entry, executable: (stats.mode & 0o100) !== 0 });
    }
  };
  visit('');
  return entries;
}
