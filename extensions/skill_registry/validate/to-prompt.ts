import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ReadPropertiesOptions, readProperties } from './read-properties.ts';
import { findSkillMd } from './read-skill-md.ts';

/**
 * The `<available_skills>` block of the reference implementation: every tag and every value on a line of its own, skills in
 * the order given, links in paths resolved. No line feed at the end.
 *
 * Different on purpose: `&`, `<` and `>` in a location are escaped, too.
 *
 * @throws as `readProperties`, for the first skill that cannot be read.
 */
export function toPrompt(paths: readonly string[], { cwd = process.cwd() }: ReadPropertiesOptions = {}): string {
  const skills = paths.flatMap((path) => skillLines(realPath(resolve(cwd, path))));
  return ['<available_skills>', ...skills, '</available_skills>'].join('\n');
}

// --- internal ---

function skillLines(directory: string): readonly string[] {
  const { name, description } = readProperties(directory);
  const location = findSkillMd(directory) ?? join(directory, 'SKILL.md');
  return [
    '<skill>',
    '<name>',
    escapeQuotes(escapeTags(name)),
    '</name>',
    '<description>',
    escapeQuotes(escapeTags(description)),
    '</description>',
    '<location>',
    escapeTags(location),
    '</location>',
    '</skill>',
  ];
}

/** The path itself where it leads nowhere: the message names it. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function escapeTags(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeQuotes(text: string): string {
  return text.replaceAll('"', '&quot;').replaceAll("'", '&#x27;');
}
