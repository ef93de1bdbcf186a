import { readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { packageRoot } from '../../../../../kernel/host.ts';
import { EXIT, type ExitStatus, invalidArgument, type Options } from '../../../../../lib/command-line/index.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { readContained, writeContained } from '../../../../../lib/files/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { isPlainName } from '../../../core/skill/field-values.ts';
import { checkSkill } from '../validate-skill.ts';

/** Writes into the first folder of `--skills`, else into `skills/` of the root. Never changes an existing skill. */
export function createSkill(
  id: string,
  options: Options & { readonly description?: string },
  terminal: CommandTerminal,
): ExitStatus {
  if (!isPlainName(id))
    throw invalidArgument(
      `A skill's id has 1-64 lowercase letters, digits and single hyphens, got ${JSON.stringify(id)}.`,
    );
  const [given] = options.skills ?? [];
  const root = given === undefined ? terminal.findRoot(options) : undefined;
  const folder = root === undefined ? resolve(terminal.cwd, given ?? '') : join(root, 'skills');
  const isNoRoot = root !== undefined && options.root === undefined && !terminal.isRoot(root);
  const path = `${id}/SKILL.md`;
  const file = join(folder, path);
  if (exists(folder, path)) throw invalidArgument(`${file} exists already. Edit it, or choose another id.`);
  const template = readFileSync(join(packageRoot(), 'skills', 'skill-authoring', 'templates', 'SKILL.md'), 'utf8');
  writeContained(realOf(folder), path, fillIn(template, id, options.description));
  const { errors, warnings } = checkSkill(join(folder, id));
  terminal.print({ skill_id: id, file, valid: errors.length === 0, errors, warnings }, () => file);
  for (const line of [...errors, ...warnings]) terminal.say(line);
  terminal.say(
    `Replace each FILL; agents see the skill when none is left. Then: skill-registry validate ${join(folder, id)}`,
  );
  if (isNoRoot) terminal.say('This folder is not a root yet: skill-registry init makes it one.');
  return errors.length > 0 ? EXIT.problem : EXIT.done;
}

// --- internal ---

function fillIn(template: string, id: string, description: string | undefined): string {
  const title = id.replaceAll('-', ' ').replace(/^./, (first) => first.toUpperCase());
  const named = template.replace('FILL-skill-id', id).replace('FILL Title', title);
  if (description === undefined) return named;
  // Any JSON string is valid YAML.
  return named.replace(/^description: .*$/m, () => `description: ${JSON.stringify(description)}`);
}

function exists(folder: string, path: string): boolean {
  try {
    readContained(realOf(folder), path, 0);
    return true;
  } catch (error) {
    return !isCodedError(error, 'RESOURCE_NOT_FOUND');
  }
}

function realOf(folder: string): string {
  return withFallback(() => realpathSync(folder), folder);
}
