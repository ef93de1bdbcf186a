import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CodedError, type Problem } from 'skill-registry/kernel';
import { configOfUntrustedRoot } from '../extensions/skill_registry/host.ts';
import { isOwnCheckout, readOwnerConfig, rootNotApproved } from '../kernel/host.ts';
import { printable } from '../lib/text/index.ts';
import { openTrust } from '../lib/trust/index.ts';
import type { GlobalOptions, Terminal } from './terminal.ts';

/**
 * The folder a command works in: `--root`, else the nearest folder from here upwards with `data/skill_registry/config.yaml`, a
 * `skills/<id>/SKILL.md` or an `extensions/<id>/manifest.yaml`, else here.
 *
 * @throws ROOT_NOT_FOUND when `--root` names no folder.
 */
export function findRoot({ root }: GlobalOptions, { cwd }: Terminal): string {
  if (root !== undefined) {
    const given = resolve(cwd, root);
    if (isFolder(given)) return given;
    throw new CodedError('ROOT_NOT_FOUND', `--root ${root} is no folder. Give an existing one.`, { root });
  }
  for (let dir = cwd; ; dir = dirname(dir)) {
    if (isRoot(dir)) return dir;
    if (dir === dirname(dir)) return cwd;
  }
}

/** Whether a root may act: it is the package's own checkout, somebody has approved it, or `--trust` says so for once. */
export function isTrusted(root: string, { trust }: GlobalOptions, terminal: Terminal): boolean {
  if (trust || isOwnCheckout(root)) return true;
  const decisions = openTrust();
  const trouble = decisions.trouble();
  if (trouble) terminal.err(`warning: ${printable(decisions.file)} approves nothing: ${trouble}\n`);
  return decisions.allows('root', root);
}

/**
 * The config the flags ask for; `--skills` takes the place of the configured sources.
 *
 * @throws INVALID_ARGUMENT when `--skills` names nothing that exists.
 */
export function flagConfig({ skills }: GlobalOptions, { cwd }: Terminal): Readonly<Record<string, unknown>> {
  if (!skills) return {};
  const paths = skills.map((path) => resolve(cwd, path));
  const missing = skills.find((_, index) => !existsSync(paths[index] as string));
  if (missing === undefined) return { sources: paths.map((path) => ({ path })) };
  throw new CodedError('INVALID_ARGUMENT', `--skills ${missing} does not exist. Give an existing folder.`, {
    path: missing,
  });
}

/** What the owner of `root` set for the registry; of a root that nobody approved, what may take effect. */
export function ownerConfig(
  root: string,
  trusted: boolean,
): { readonly values: Readonly<Record<string, unknown>>; readonly problems: readonly Problem[] } {
  const owner = readOwnerConfig(root, 'skill_registry');
  if (trusted) return owner;
  const { values, held } = configOfUntrustedRoot(owner.values, realpathSync(root));
  const inConfig = held.map((key) => `${key} in data/skill_registry/config.yaml`);
  const hasEnv = existsSync(join(root, '.env')) ? ['.env'] : [];
  const problem = rootNotApproved(root, [...inConfig, ...hasEnv]);
  return { values, problems: [...owner.problems, ...(problem ? [problem] : [])] };
}

// --- internal ---

function isRoot(dir: string): boolean {
  const holds = (folder: string, file: string): boolean =>
    namesIn(join(dir, folder)).some((name) => existsSync(join(dir, folder, name, file)));
  if (existsSync(join(dir, 'data', 'skill_registry', 'config.yaml'))) return true;
  return holds('skills', 'SKILL.md') || holds('extensions', 'manifest.yaml');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
