import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { ownerFile, startConfig } from '../../extensions/skill_registry/host.ts';
import {
  assertDataInRoot,
  heldOfRoot,
  isOwnCheckout,
  readOwnerConfig,
  unapprovedRootProblem,
} from '../../kernel/host.ts';
import { actorOf, EXIT, type ExitStatus, invalidArgument, type Options } from '../../lib/command-line/index.ts';
import { printable } from '../../lib/text/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { findRoot } from '../find-root.ts';

/**
 * Makes a root of the folder of `--root`, else of the working folder. Leaves an approved root with a config as it is.
 * @throws INVALID_ARGUMENT for a config that is unreadable, or that lies in an unapproved root.
 */
export async function init(options: Options, terminal: Terminal): Promise<ExitStatus> {
  const { print, say } = terminal;
  // Not the nearest root above: a folder inside a root may become a root.
  const root = findRoot({ ...options, root: options.root ?? '.' }, terminal);
  const file = ownerFile(root);
  if (options.skills) throw invalidArgument(TAKES_NO_SKILLS);
  const trust = openTrust();
  const isApproved = isOwnCheckout(root) || trust.allows('root', root);
  if (isApproved && existsSync(file) && readOwnerConfig(root, 'skill_registry').problems.length === 0) {
    say('This folder is a root already, and approved; nothing was changed.');
    print({ root, file, presets: [], made: [], approved: true });
    return EXIT.done;
  }
  assertNew(root, isApproved);
  if (!isApproved) assertDataInRoot(root);
  const { agents, text, write } = startConfig(root);
  const hasSkills = lstatSync(join(root, 'skills'), { throwIfNoEntry: false }) !== undefined;
  const held = isApproved ? [] : heldOfRoot(root);
  say(`Agents found: ${agents.map(({ preset, folder }) => `${preset} (${folder})`).join(', ') || 'none'}`);
  for (const line of describeConfig(file, text)) say(line);
  if (!hasSkills) say(`${join(root, 'skills')}/ will be made, for skills of your own`);
  if (!isApproved) say(`${root} will be approved: what is in it takes effect, now and later`);
  if (held.length > 0) say(`That is at present ${held.join('; ')}. It can run as you and do everything you may do.`);
  const isMeant = await terminal.agrees('Write this?');
  if (isMeant) {
    assertNew(root, isApproved);
    if (!isApproved) trust.decide({ action: 'allow', kind: 'root', path: root, ...actorOf(options, terminal) });
    if (!hasSkills) mkdirSync(join(root, 'skills'));
    write();
    say(
      'Next: skill-registry new <id> starts a skill, skill-registry list shows all, skill-registry start opens the prompt',
    );
  }
  const made = isMeant ? [...(hasSkills ? [] : ['skills']), 'data/skill_registry/config.yaml'] : [];
  const presets = agents.map(({ preset }) => preset);
  print({ root, file, presets, made, approved: isApproved || isMeant });
  if (isMeant && !options.json) terminal.out(`${printable(file)}\n`);
  return isMeant ? EXIT.done : EXIT.problem;
}

// --- internal ---

const TAKES_NO_SKILLS = 'init takes no --skills. Add { path: <folder> } to sources in the config that it writes.';

/** Keys that stand in a comment have their defaults. */
function describeConfig(file: string, text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => /^[\w-]/.test(line));
  return [`${file} will be written, with`, ...lines.map((line) => `  ${line}`)];
}

function assertNew(root: string, isApproved: boolean): void {
  const file = ownerFile(root);
  // Finds a link that leads nowhere, too.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  const { values, problems } = readOwnerConfig(root, 'skill_registry');
  const [broken] = problems;
  const keys = Object.keys(values);
  const content = broken ? 'cannot be read' : keys.length > 0 ? `sets ${keys.join(', ')}` : 'sets nothing';
  const advice = broken?.message ?? 'Edit it, or move it away first.';
  const held = isApproved ? undefined : unapprovedRootProblem(root, heldOfRoot(root));
  const message = `${file} is there already, and ${content}; nothing was changed. ${advice}`;
  throw invalidArgument([message, ...(held ? [held.message] : [])].join(' '));
}
