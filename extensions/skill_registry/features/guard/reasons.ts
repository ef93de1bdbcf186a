import { oneLine } from '../../../../lib/text/index.ts';
import type { Finding } from './inspect/types.ts';

export const NOT_INSPECTED = 'it is not inspected yet';
/** At 10 milliseconds a skill. A busy machine takes longer; the next answer then says so. */
export function secondsUntilInspected(skills: number): number {
  return Math.max(2, Math.ceil(skills / 100));
}

/** Its files may be partly new and partly old. */
export const CHANGE_WAITS: string =
  'a change of it was interrupted, and nothing undoes it in a root that nobody has approved (skill-registry trust allow in the root)';

export function blockReason([first, ...others]: readonly Finding[]): string {
  if (!first) return 'something in it would be called an attack';
  const at = first.line === undefined ? '' : `:${first.line}`;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${first.rule} in ${oneLine(first.file, 200)}${at}${more}`;
}
