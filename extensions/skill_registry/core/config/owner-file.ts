import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { builtExtensions } from '../../../../kernel/host.ts';
import { futureRealPath, writeContained, writeFailed } from '../../../../lib/files/index.ts';
import { makeStoreFolder } from '../store/open-database.ts';

export function ownerFile(root: string): string {
  return join(root, 'data', 'skill_registry', 'config.yaml');
}

/** The manifest of this package. It shows every key with its default. */
export function shippedManifest(): string {
  return join(builtExtensions(), 'skill_registry', 'manifest.yaml');
}

/** Replaces the config file, or the target if it is a link. Keeps its mode. @throws WRITE_FAILED, PATH_TRAVERSAL. */
export function writeOwnerFile(root: string, text: string): void {
  const real = futureRealPath(ownerFile(root));
  const mode = (statSync(real, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
  try {
    makeStoreFolder(dirname(ownerFile(root)));
  } catch (error) {
    if (isCodedError(error)) throw error;
    throw writeFailed(ownerFile(root), (error as NodeJS.ErrnoException).code ?? describeError(error), error);
  }
  writeContained(dirname(real), basename(real), text, { own: true, mode });
}
