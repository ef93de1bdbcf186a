import { isCodedError } from 'skill-registry/kernel';
import { readContained } from '../../../../../lib/files/index.ts';
import type { Violation } from '../../skill/spec-rules.ts';
import { strictVerdict } from '../../skill/strict-rules.ts';

/** Of SKILL.md and its declared files, which must be regular files, not links. `directory` is a real path. */
export function strictViolations(
  text: string,
  directory: string,
  name: string,
): { readonly violations: readonly Violation[]; readonly declaresFiles: boolean } {
  const { violations, lineOf, declared } = strictVerdict(text, name);
  const absent = declared.flatMap(({ bucket, path }) => {
    const code = fileErrorCode(directory, `${bucket}/${path}`);
    if (code === undefined) return [];
    const reason = code === 'PATH_TRAVERSAL' ? `leads out of ${bucket}/` : `is no file in ${bucket}/`;
    const message = `invalid manifest: [${bucket}] '${path}' ${reason}`;
    return [{ message, line: lineOf(bucket), rule: `strict/${bucket}` }];
  });
  return { violations: [...violations, ...absent], declaresFiles: declared.length > 0 };
}

// --- internal ---

function fileErrorCode(directory: string, path: string): string | undefined {
  try {
    // Opens and checks the file; with this limit nothing is read.
    readContained(directory, path, 0);
    return undefined;
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_TOO_LARGE')) return undefined;
    return isCodedError(error) ? error.code : 'RESOURCE_NOT_FOUND';
  }
}
