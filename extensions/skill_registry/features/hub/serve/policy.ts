import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { futureRealPath, readContained } from '../../../../../lib/files/index.ts';

/** What an admin has written into the folder of the hub: for this space alone, else for all. */
export function policyOf(root: string, space: string): Buffer | undefined {
  const folder = futureRealPath(join(root, 'config'));
  const own = `policy.${space}.json`;
  for (const name of [own, 'policy.json']) {
    try {
      return readContained(folder, name, MAX_POLICY);
    } catch (error) {
      if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) throw error;
    }
  }
  return undefined;
}

// --- internal ---

const MAX_POLICY = 4 * 1024 * 1024;
