import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { futureRealPath, writeContained } from '../../../lib/files/index.ts';
import { makeStoreFolder } from '../store/open-database.ts';

/** The config file of a root, which its owner writes. */
export function ownerFile(root: string): string {
  return join(root, 'data', 'skill_registry', 'config.yaml');
}

/** Replaces the config file of a root, or the file it is a link to. Its mode stays. @throws WRITE_FAILED, PATH_TRAVERSAL. */
export function writeOwnerFile(root: string, text: string): void {
  const real = futureRealPath(ownerFile(root));
  const mode = (statSync(real, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
  makeStoreFolder(dirname(ownerFile(root)));
  writeContained(dirname(real), basename(real), text, { own: true, mode });
}
