import { isCodedError } from 'skill-registry/kernel';
import { readContained } from '../../../lib/files/index.ts';
import type { DeclaredFile } from '../skill/strict-rules.ts';

/**
 * What is wrong with the files a frontmatter promises: each must be a regular file of the skill, reached through no link.
 *
 * @param directory - Real.
 */
export function declaredFileErrors(directory: string, declared: readonly DeclaredFile[]): readonly string[] {
  return declared.flatMap(({ bucket, path }) => {
    const code = whyNot(directory, `${bucket}/${path}`);
    if (code === undefined) return [];
    const reason = code === 'PATH_TRAVERSAL' ? `leads out of ${bucket}/` : `is no file in ${bucket}/`;
    return [`invalid manifest: [${bucket}] '${path}' ${reason}`];
  });
}

// --- internal ---

function whyNot(directory: string, path: string): string | undefined {
  try {
    // It is opened and looked at; nothing is read beyond the limit.
    readContained(directory, path, 0);
    return undefined;
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_TOO_LARGE')) return undefined;
    return isCodedError(error) ? error.code : 'RESOURCE_NOT_FOUND';
  }
}
