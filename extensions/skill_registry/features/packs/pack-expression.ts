import { posix } from 'node:path';
import type { Skill } from '../../core/skill/skill.ts';
import { isGlob, matchesGlob } from './glob.ts';

const MAX_EXPRESSION = 4096;

/** An expression is `none`, an id, a package, a path below the pack (a folder includes all in it), or a glob. */
export function matchesExpression(expression: string | undefined, { id, pack }: Skill): boolean {
  if (expression === undefined) return true;
  if (expression.length > MAX_EXPRESSION || isNone(expression)) return false;
  const normal = normalizePackPath(expression);
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

/** The path of a SKILL.md becomes the path of its folder. */
export function normalizePackPath(path: string): string {
  return posix
    .normalize(path.trim())
    .replace(/\/$/, '')
    .replace(/(^|\/)SKILL\.md$/i, '');
}
