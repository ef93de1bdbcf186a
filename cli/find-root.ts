import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CodedError, type Problem } from 'skill-registry/kernel';
import { configOfUntrustedRoot } from '../extensions/skill_registry/host.ts';
import { isOwnCheckout, readOwnerConfig, unapprovedRootProblem } from '../kernel/host.ts';
import { invalidArgument, type Options, type Terminal } from '../lib/command-line/index.ts';
import { withFallback } from '../lib/errors/index.ts';
import { openTrust } from '../lib/trust/index.ts';

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
  const holds = (folder: string, file: string): boolean =>
    namesIn(join(dir, folder)).some((name) => existsSync(join(dir, folder, name, file)));
  if (existsSync(join(dir, 'data', 'skill_registry', 'config.yaml'))) return true;
  return holds('skills', 'SKILL.md') || holds('extensions', 'manifest.yaml');
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

/** The owner's config of the registry. For an unapproved root, only the keys that may take effect. */
export function ownerConfig(
  root: string,
  trusted: boolean,
): { readonly values: Readonly<Record<string, unknown>>; readonly problems: readonly Problem[] } {
  const owner = readOwnerConfig(root, 'skill_registry');
  if (trusted) return owner;
  const { values, ignored } = configOfUntrustedRoot(owner.values, realpathSync(root));
  const held = ignored.map((key) => `${key} in data/skill_registry/config.yaml`);
  if (existsSync(join(root, '.env'))) held.push('.env');
  const problem = unapprovedRootProblem(root, held);
  return { values, problems: [...owner.problems, ...(problem ? [problem] : [])] };
}

// --- internal ---

function namesIn(folder: string): readonly string[] {
  return withFallback(() => readdirSync(folder), []);
}
