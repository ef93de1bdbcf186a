import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { download, originUnavailable, unpack } from '../../../lib/fetch/index.ts';
import { readNamedFile } from '../../../lib/files/index.ts';
import { type ArchiveOrigin, shownOrigin } from './address.ts';
import { MAX_UNPACKED, type Offer } from './offer.ts';

/** Bytes of an archive as it is sent. */
export const MAX_ARCHIVE: number = MAX_UNPACKED;

/** @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED. */
export async function openArchive(origin: ArchiveOrigin): Promise<Offer> {
  const { location } = origin;
  const bytes = /^https?:/.test(location) ? await download(location, MAX_ARCHIVE) : readArchive(location);
  const unpacked = await unpack(bytes, shownOrigin(origin));
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const name = basename(location.replace(/[?#].*$/, '')).replace(/\.(tar\.gz|tgz|zip)$/i, '');
  return { origin, at: { digest }, name, ...unpacked, close: () => undefined };
}

// --- internal ---

function readArchive(location: string): Buffer {
  try {
    return readNamedFile(location, MAX_ARCHIVE);
  } catch (error) {
    throw originUnavailable(location, (error as Error).message, error);
  }
}
