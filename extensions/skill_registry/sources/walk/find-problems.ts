import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { isInside } from '../../../../lib/files/index.ts';
import { showName } from '../../../../lib/text/index.ts';

export function tooDeep(dir: string, maxDepth: number, count: number): Problem {
  const message = `${count} folder(s) in this one are deeper than limits.scan_depth (${maxDepth}) and were not searched. Raise the limit or add a source.`;
  return { code: 'SCAN_DEPTH_EXCEEDED', severity: 'warning', file: dir, message, details: { maxDepth, count } };
}

/**
 * @param target - The real path that the link at `path` leads to.
 * @param options - Of the search.
 */
export function leadsOut(
  path: string,
  target: string,
  realRoot: string,
  { mayLeadTo, unapproved }: { readonly mayLeadTo?: unknown; readonly unapproved?: string | undefined },
): Problem {
  const folder = statSync(target, { throwIfNoEntry: false })?.isFile() ? dirname(target) : target;
  // Naming a folder that contains the source would not help, nor would it for a package.
  const naming = mayLeadTo && !isInside(realRoot, folder) ? `add { path: ${folder} } to sources, or ` : '';
  const allowing = `${naming}set allow_outside: true for the source`;
  const remedy = unapproved
    ? `Nobody has approved ${unapproved}, so only links to folders and .md files in it are followed. Approve it with skill-registry trust allow ${unapproved}, then ${allowing}.`
    : `To allow it, ${allowing}.`;
  const message = `This link leads out of its source and was not followed. ${remedy}`;
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file: path, message };
}

/** Folders in which a skill keeps its own examples of a SKILL.md. */
const PARTS = new Set([
  'assets',
  'example',
  'examples',
  'fixtures',
  'references',
  'resources',
  'scripts',
  'template',
  'templates',
  'tests',
]);

/** A SKILL.md that was meant for a folder of its own makes one skill of a whole folder of skills. @param dir - Of a source. */
export function hidesSkills(dir: string): readonly Problem[] {
  const names = namesIn(dir).filter(
    (name) => !name.startsWith('.') && !PARTS.has(name) && existsSync(join(dir, name, 'SKILL.md')),
  );
  if (names.length === 0) return [];
  const which = `${names.slice(0, 5).map(showName).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  const message = `This file makes its whole folder one skill, so ${names.length} folder(s) with a SKILL.md in it are no skills: ${which}. Move this file into a folder of its own; if they are files of this skill, nothing is wrong.`;
  return [{ code: 'SKILLS_INSIDE_SKILL', severity: 'warning', file: join(dir, 'SKILL.md'), message }];
}

/** A SKILL.md can be read in a folder that cannot be listed. */
function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

export function leadsToPrivate(path: string): Problem {
  const message =
    'This link leads to a file or folder that is never read: data/ of the root, .env, .git, .ssh or a private key. Remove the link.';
  return { code: 'SOURCE_RESERVED', severity: 'error', file: path, message };
}

export function brokenLink(path: string): Problem {
  const message = 'The target of this link does not exist, or links form a circle. Repair or remove it.';
  return { code: 'SYMLINK_BROKEN', severity: 'warning', file: path, message };
}
