import { readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkSkill } from 'skill-registry';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { packageRoot } from '../../kernel/host.ts';
import { readContained, writeContained } from '../../lib/files/index.ts';
import { printable } from '../../lib/text/index.ts';
import { findRoot } from '../find-root.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

export interface NewOptions extends GlobalOptions {
  readonly description?: string;
}

/** `skill-registry new`, in the first folder of `--skills`, else in `skills/` of the root. An existing skill is never touched. */
export function createSkill(id: string, options: NewOptions, terminal: Terminal): ExitStatus {
  if (!/^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/.test(id)) {
    const message = `A skill's id has 1-64 lowercase letters, digits and single hyphens, got ${JSON.stringify(id)}.`;
    throw new CodedError('INVALID_ARGUMENT', message);
  }
  const [given] = options.skills ?? [];
  const folder = given === undefined ? join(findRoot(options, terminal), 'skills') : resolve(terminal.cwd, given);
  const path = `${id}/SKILL.md`;
  if (exists(folder, path)) {
    throw new CodedError('INVALID_ARGUMENT', `${join(folder, path)} is there already. Edit it, or choose another id.`);
  }
  const template = readFileSync(join(packageRoot(), 'skills', 'skill-authoring', 'templates', 'SKILL.md'), 'utf8');
  writeContained(realOf(folder), path, fillIn(template, id, options.description));
  const { errors, warnings } = checkSkill(join(folder, id));
  if (options.json)
    printJson(terminal, { skill_id: id, file: join(folder, path), valid: errors.length === 0, errors, warnings });
  else terminal.out(`${join(folder, path)}\n`);
  for (const error of errors) terminal.err(`${printable(error)}\n`);
  for (const warning of warnings) terminal.err(`${printable(warning)}\n`);
  terminal.err(
    `Write what each FILL stands for; agents see the skill when none is left. Then: skill-registry validate ${join(folder, id)}\n`,
  );
  return errors.length > 0 ? EXIT.problem : EXIT.done;
}

// --- internal ---

function fillIn(template: string, id: string, description: string | undefined): string {
  const title = id.replaceAll('-', ' ').replace(/^./, (first) => first.toUpperCase());
  const named = template.replace('FILL-skill-id', id).replace('FILL Title', title);
  if (description === undefined) return named;
  // A JSON string is a YAML string.
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

/** A folder that is to be made has no real path yet. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
