/** `init` and `new`: commands that start something, a root or a skill. */
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkSkill } from 'skill-registry';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { ownerFile, startConfig } from '../../extensions/skill_registry/host.ts';
import {
  assertDataInRoot,
  heldOfRoot,
  isOwnCheckout,
  packageRoot,
  readOwnerConfig,
  unapprovedRootProblem,
} from '../../kernel/host.ts';
import { readContained, writeContained } from '../../lib/files/index.ts';
import { printable } from '../../lib/text/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { findRoot, isRoot } from '../find-root.ts';
import {
  actorOf,
  assertCanAsk,
  type ConfirmedOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  isConfirmedOrYes,
  printJson,
  type Terminal,
} from '../terminal.ts';

export interface NewOptions extends GlobalOptions {
  readonly description?: string;
}

/** `skill-registry new`, in the first folder of `--skills`, else in `skills/` of the root. An existing skill is never changed. */
export function createSkill(id: string, options: NewOptions, terminal: Terminal): ExitStatus {
  if (!/^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/.test(id)) {
    const message = `A skill's id has 1-64 lowercase letters, digits and single hyphens, got ${JSON.stringify(id)}.`;
    throw new CodedError('INVALID_ARGUMENT', message);
  }
  const [given] = options.skills ?? [];
  const folder = given === undefined ? join(findRoot(options, terminal), 'skills') : resolve(terminal.cwd, given);
  const path = `${id}/SKILL.md`;
  const isNoRoot = given === undefined && options.root === undefined && !isRoot(findRoot(options, terminal));
  if (exists(folder, path)) {
    throw new CodedError('INVALID_ARGUMENT', `${join(folder, path)} exists already. Edit it, or choose another id.`);
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
    `Replace each FILL; agents see the skill when none is left. Then: skill-registry validate ${join(folder, id)}\n`,
  );
  if (isNoRoot) terminal.err('This folder is not a root yet: skill-registry init makes it one.\n');
  return errors.length > 0 ? EXIT.problem : EXIT.done;
}

/**
 * `skill-registry init`, in the folder of `--root`, else in the working folder. Shows what it writes, asks, makes `skills/` where it is not
 * there, approves the root and writes its config. Does nothing in an approved root with a config. With `--json`: `{ root, file,
 * presets: [string], made: [string], approved }`.
 *
 * @throws INVALID_ARGUMENT when there is a config in a root that nobody has approved, or one that cannot be read; it stays as it is.
 */
export async function init(options: GlobalOptions & ConfirmedOptions, terminal: Terminal): Promise<ExitStatus> {
  // Not the nearest root above: a folder in a root can become a root of its own.
  const root = findRoot({ ...options, root: options.root ?? '.' }, terminal);
  if (options.skills) throw new CodedError('INVALID_ARGUMENT', TAKES_NO_SKILLS);
  const trust = openTrust();
  const isApproved = isOwnCheckout(root) || trust.allows('root', root);
  if (isApproved && isConfigured(root)) {
    terminal.err('This folder is a root already, and approved; nothing was changed.\n');
    if (options.json) printJson(terminal, { root, file: ownerFile(root), presets: [], made: [], approved: true });
    return EXIT.done;
  }
  assertNew(root, isApproved);
  assertCanAsk(options, terminal);
  if (!isApproved) assertDataInRoot(root);
  const { agents, text, write } = await startConfig(root);
  const hasSkills = lstatSync(join(root, 'skills'), { throwIfNoEntry: false }) !== undefined;
  const held = isApproved ? [] : heldOfRoot(root);
  const found = agents.map(({ preset, folder }) => `${preset} (${folder})`).join(', ');
  terminal.err(
    printable(
      [
        `Agents found: ${found || 'none'}`,
        ...describeConfig(ownerFile(root), text, options),
        ...(hasSkills ? [] : [`${join(root, 'skills')}/ will be made, for skills of your own`]),
        ...(isApproved ? [] : [`${root} will be approved: what is in it takes effect, now and later`]),
        ...(held.length > 0
          ? [`That is at present ${held.join('; ')}. It can run as you and do everything you may do.`]
          : []),
        '',
      ].join('\n'),
    ),
  );
  const isMeant = await isConfirmedOrYes('Write this?', options, terminal);
  if (isMeant) {
    assertNew(root, isApproved);
    if (!isApproved) trust.decide({ action: 'allow', kind: 'root', path: root, ...actorOf(options, terminal) });
    if (!hasSkills) mkdirSync(join(root, 'skills'));
    write();
    terminal.err(
      'Next: skill-registry new <id> starts a skill, skill-registry list shows all, skill-registry start opens the prompt\n',
    );
  }
  const made = isMeant ? [...(hasSkills ? [] : ['skills']), 'data/skill_registry/config.yaml'] : [];
  const presets = agents.map(({ preset }) => preset);
  if (options.json)
    printJson(terminal, { root, file: ownerFile(root), presets, made, approved: isApproved || isMeant });
  else if (isMeant) terminal.out(`${printable(ownerFile(root))}\n`);
  return isMeant ? EXIT.done : EXIT.problem;
}

// --- internal ---

const TAKES_NO_SKILLS = 'init takes no --skills. Add { path: <folder> } to sources in the config that it writes.';

/** Whether the root has a config that can be read. */
function isConfigured(root: string): boolean {
  return existsSync(ownerFile(root)) && readOwnerConfig(root, 'skill_registry').problems.length === 0;
}

/** The whole of it is for a person who is asked. */
function describeConfig(file: string, text: string, { yes }: ConfirmedOptions): readonly string[] {
  const keys = [...text.matchAll(/^(\w+):/gm)].map(([, key]) => key);
  if (yes) return [`${file} will set ${keys.join(', ')}`];
  const lines = text.trimEnd().split('\n');
  return [`${file} will be written:`, ...lines.map((line) => `  ${line}`.trimEnd())];
}

/** @throws INVALID_ARGUMENT with what the config says. */
function assertNew(root: string, isApproved: boolean): void {
  const file = ownerFile(root);
  // Also a link that leads nowhere.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  const { values, problems } = readOwnerConfig(root, 'skill_registry');
  const [broken] = problems;
  const keys = Object.keys(values);
  const content = broken ? 'cannot be read' : keys.length > 0 ? `sets ${keys.join(', ')}` : 'sets nothing';
  const advice = broken?.message ?? 'Edit it, or move it away first.';
  const held = isApproved ? undefined : unapprovedRootProblem(root, heldOfRoot(root));
  const message = `${file} is there already, and ${content}; nothing was changed. ${advice}`;
  throw new CodedError('INVALID_ARGUMENT', [message, ...(held ? [held.message] : [])].join(' '));
}

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

/** The real path of a folder; the path itself when the folder does not exist yet. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
