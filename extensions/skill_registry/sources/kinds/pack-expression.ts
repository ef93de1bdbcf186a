import { posix } from 'node:path';
import type { Skill } from '../../skill/skill.ts';
import { isGlob, matchesGlob } from './glob.ts';

const MAX_EXPRESSION = 4096;

/**
 * Whether the `skills` expression of a workflow state includes a skill. An expression is `none`, the id of a skill, a path below
 * the pack (of a skill, of one of its files, or of a folder, with everything in it), a package, or a glob over such paths.
 */
export function matchesExpression(expression: string | undefined, { id, pack }: Skill): boolean {
  if (expression === undefined) return true;
  if (expression.length > MAX_EXPRESSION) return false;
  const normal = normalizePackPath(expression);
  if (normal.toLowerCase() === 'none') return false;
  if (normal === '' || normal === '.') return true;
  const path = pack?.path ?? id;
  if (normal === id || normal === path || path.startsWith(`${normal}/`)) return true;
  return isGlob(normal) && matchesGlob(normal, path);
}

export function isNone(expression: string | undefined): boolean {
  return (
    expression !== undefined && expression.length <= MAX_EXPRESSION && /^none$/i.test(normalizePackPath(expression))
  );
}

/** Normalizes a path in a pack; the path of a SKILL.md becomes that of its folder. */
export function normalizePackPath(path: string): string {
  return posix
    .normalize(path.trim())
    .replace(/\/$/, '')
    .replace(/(^|\/)SKILL\.md$/i, '');
}
