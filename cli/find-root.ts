import { existsSync, mkdirSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CodedError, type Problem } from 'skill-registry/kernel';
import { configOfUntrustedRoot, ownerFile } from '../extensions/skill_registry/host.ts';
import { heldOfRoot, isOwnCheckout, readOwnerConfig, unapprovedRootProblem } from '../kernel/host.ts';
import { invalidArgument, type Options, type Terminal } from '../lib/command-line/index.ts';
import { withFallback } from '../lib/errors/index.ts';
import { openTrust, userCacheDirectory } from '../lib/trust/index.ts';

/**
 * `--root`; else the nearest folder upwards with `data/skill_registry/config.yaml`, `skills/<id>/SKILL.md` or
 * `extensions/<id>/manifest.yaml`; else the working folder.
 * @throws ROOT_NOT_FOUND when `--root` is not a folder
 */
export function findRoot({ root }: Options, { cwd }: Terminal): string {
  if (root !== undefined) {
    const given = resolve(cwd, root);
    if (existsSync(given) && statSync(given).isDirectory()) return given;
    throw new CodedError('ROOT_NOT_FOUND', `The root ${root} is not a folder. Give an existing one.`, { root });
  }
  for (let dir = cwd; ; dir = dirname(dir)) {
    if (isRoot(dir)) return dir;
    if (dir === dirname(dir)) return cwd;
  }
}

export function isRoot(dir: string): boolean {
  return existsSync(ownerFile(dir)) || holds(dir, 'skills', 'SKILL.md') || hasExtensions(dir);
}

export function hasExtensions(dir: string): boolean {
  return holds(dir, 'extensions', 'manifest.yaml');
}

/** True with `--trust`, in the package's own checkout, and when a person approved the root. */
export function isTrusted(root: string, { trust }: Options, terminal: Terminal): boolean {
  if (trust || isOwnCheckout(root)) return true;
  const decisions = openTrust();
  const reason = decisions.trouble();
  if (reason) terminal.say(`warning: ${decisions.file} is ignored, so nothing is approved: ${reason}`);
  return decisions.allows('root', root);
}

/**
 * `--skills` replaces the configured sources.
 * @throws INVALID_ARGUMENT when a path of `--skills` does not exist
 */
export function flagConfig({ skills }: Options, { cwd }: Terminal): Readonly<Record<string, unknown>> {
  if (!skills) return {};
  const missing = skills.find((path) => !existsSync(resolve(cwd, path)));
  if (missing === undefined) return { sources: skills.map((path) => ({ path: resolve(cwd, path) })) };
  throw invalidArgument(`--skills ${missing} does not exist. Give an existing folder.`);
}

/** Whether the folders of all agents are sources: no config file and no flag says where skills are. */
export function takesPresets(root: string, { skills }: Options, terminal: Terminal): boolean {
  if (skills) return false;
  if (existsSync(ownerFile(root))) return false;
  const told = join(userCacheDirectory(), 'told-presets');
  if (terminal.progress && !existsSync(told)) {
    terminal.say(FOUND_WHERE);
    withFallback(() => mkdirSync(dirname(told), { recursive: true, mode: 0o700 }));
    withFallback(() => writeFileSync(told, ''));
  }
  return true;
}

/** The owner's config of the registry. Of an unapproved root what may take effect; a problem says what does not. */
export function ownerConfig(
  root: string,
  trusted: boolean,
): { readonly values: Readonly<Record<string, unknown>>; readonly problems: readonly Problem[] } {
  const owner = readOwnerConfig(root, 'skill_registry');
  if (trusted) return owner;
  const { values, ignored } = configOfUntrustedRoot(owner.values, realpathSync(root));
  const keys = ignored.map((key) => `${key} in ${OWN_CONFIG}`);
  const problem = unapprovedRootProblem(root, [...heldOfRoot(root).filter((held) => held !== OWN_CONFIG), ...keys]);
  return { values, problems: [...owner.problems, ...(problem ? [problem] : [])] };
}

// --- internal ---

const OWN_CONFIG = 'data/skill_registry/config.yaml';

const FOUND_WHERE =
  'Skills are found where agents keep theirs (.claude/skills, .agents/skills ...), here and in your home directory. Nothing there is changed.';

function holds(dir: string, folder: string, file: string): boolean {
  return namesIn(join(dir, folder)).some((name) => existsSync(join(dir, folder, name, file)));
}

function namesIn(folder: string): readonly string[] {
  return withFallback(() => readdirSync(folder), []);
}
