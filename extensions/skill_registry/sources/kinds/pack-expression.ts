import { posix } from 'node:path';
import type { Skill } from '../../skill/skill.ts';
import { isGlob, matchesGlob } from './glob.ts';

/** As long as a path may be on Linux. */
const MAX_EXPRESSION = 4096;

/**
 * Whether a `skills` expression of a workflow state lets a skill through. It is `none`, a skill's id, a path below the pack (of
 * a skill, of a file of one, or of a folder with everything below it), a package, or a glob over such paths.
 */
export function matchesExpression(expression: string | undefined, { id, pack }: Skill): boolean {
  if (expression === undefined) return true;
  if (expression.length > MAX_EXPRESSION) return false;
  const wanted = placeNamed(expression);
  if (wanted.toLowerCase() === 'none') return false;
  if (wanted === '' || wanted === '.') return true;
  const path = pack?.path ?? id;
  if (wanted === id || wanted === path || path.startsWith(`${wanted}/`)) return true;
  return isGlob(wanted) && matchesGlob(wanted, path);
}

/** Whether an expression lets no skill through, whatever there is. */
export function isNone(expression: string | undefined): boolean {
  return expression !== undefined && expression.length <= MAX_EXPRESSION && /^none$/i.test(placeNamed(expression));
}

/** A path of a pack in its shortest form; of a SKILL.md its folder. */
export function placeNamed(path: string): string {
  return posix
    .normalize(path.trim())
    .replace(/\/$/, '')
    .replace(/(^|\/)SKILL\.md$/i, '');
}
