import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { futureRealPath, isInside } from '../../lib/files/index.ts';
import { plural, shellWord } from '../../lib/text/index.ts';
import type { Problem } from '../contract.ts';
import { extensionHalfApproved, leadsOutOfRoot } from '../errors.ts';
import { escapedPath, printableCode } from '../held/difference.ts';
import { type HalfApproved, halfApproved } from '../held/half-approved.ts';
import { allHeld, type HeldExtension } from '../held/held-extensions.ts';
import { foldersOf, foldersOfRoot, packageRoot, type Root } from './extension-folders.ts';

/** Whether the root is the folder of this code, which needs no approval. */
export function isOwnCheckout(rootDir: string): boolean {
  return realpathSync(rootDir) === realpathSync(packageRoot());
}

/** False when `data/` is a link out of the root, which only an approved root may have. */
export function isDataInRoot(rootDir: string): boolean {
  return isInRoot(rootDir, 'data');
}

/** @param path - Below a root that is not approved. @throws PATH_TRAVERSAL. */
export function assertDataInRoot(rootDir: string, path = 'data/'): void {
  if (!isInRoot(rootDir, path)) throw leadsOutOfRoot(rootDir, path);
}

/** Held code waits in `data/`, and an approval writes it to `extensions/`: neither may lead out of the root. */
export function isHeldInRoot(rootDir: string): boolean {
  return isDataInRoot(rootDir) && isInRoot(rootDir, 'extensions');
}

/** For a root that is not approved. @throws PATH_TRAVERSAL. */
export function assertHeldInRoot(rootDir: string): void {
  if (!isHeldInRoot(rootDir)) throw leadsOutOfRoot(rootDir, isDataInRoot(rootDir) ? 'extensions/' : 'data/');
}

/** What takes effect only when the root is approved, in words for the person who decides. */
export function heldOfRoot(rootDir: string): readonly string[] {
  const extensions = foldersOfRoot(join(rootDir, 'extensions'));
  const configs = foldersOf(join(rootDir, 'data')).filter((id) => existsSync(join(rootDir, 'data', id, 'config.yaml')));
  return [
    ...(extensions.length > 0
      ? [`${plural(extensions.length, 'extension')}: ${extensions.map(nameShown).join(', ')}`]
      : []),
    ...(existsSync(join(rootDir, '.env')) ? ['.env'] : []),
    ...configs.map((id) => `data/${nameShown(id)}/config.yaml`),
  ];
}

/** ROOT_NOT_APPROVED; undefined when `held` is empty. */
export function unapprovedRootProblem(rootDir: string, held: readonly string[]): Problem | undefined {
  if (held.length === 0) return undefined;
  const message = `Nobody has approved this root, so this has no effect: ${held.join('; ')}. To approve it: skill-registry approvals allow ${shellWord(rootDir)} (for one command: --trust).`;
  return { code: 'ROOT_NOT_APPROVED', severity: 'warning', file: rootDir, message, details: { held } };
}

/**
 * Nothing when `data/` leads out of a root that is not approved. @param notUndone - As of `undoApprovals`, if tried.
 * @returns `problems`: EXTENSION_HELD for each, EXTENSION_HELD_UNREADABLE, EXTENSION_HALF_APPROVED.
 */
export function heldWithProblems(
  { dir, trusted }: Root,
  notUndone: ReadonlyMap<string, string> = new Map(),
): {
  readonly held: readonly HeldExtension[];
  readonly problems: readonly Problem[];
} {
  const { held, unreadable } = trusted || isDataInRoot(dir) ? allHeld(dir) : { held: [], unreadable: [] };
  return {
    held,
    problems: [
      ...held.map((one) => extensionHeld(dir, one)),
      ...unreadable.map(({ name, isHalf, message }): Problem => {
        const file = `${dir}/extensions/${name}`;
        if (!isHalf) return { code: 'EXTENSION_HELD_UNREADABLE', severity: 'warning', file, message };
        const { message: half } = extensionHalfApproved(name, notUndone.get(name));
        return { code: 'EXTENSION_HALF_APPROVED', severity: 'error', file, message: half };
      }),
      ...halfApproved(dir).flatMap((one) => (one.root === dir ? [] : [otherHalfApproved(one)])),
    ],
  };
}

// --- internal ---

function isInRoot(rootDir: string, folder: string): boolean {
  return isInside(futureRealPath(join(rootDir, folder)), futureRealPath(rootDir));
}

/** Quotes a name that could look like a part of the question. */
function nameShown(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `"${printableCode(escapedPath(name))}"`;
}

/** For a root whose links lead into the other root. */
function otherHalfApproved({ root, name }: HalfApproved): Problem {
  const file = join(root, 'extensions', name);
  const message = `An approval of ${file} was interrupted, so its files may be of two versions, and no extension of this root is loaded: links lead there. To undo it, start that root once: skill-registry doctor --root ${shellWord(root)} says more.`;
  return { code: 'EXTENSION_HALF_APPROVED', severity: 'error', file, message };
}

function extensionHeld(rootDir: string, { name, by, files }: HeldExtension): Problem {
  const message = `${by.join(', ')} wrote ${plural(files.length, 'file')} of extensions/${name} that nobody has approved: it has no effect yet. See them: skill-registry approvals show extensions/${name}; then approve or revoke them.`;
  return { code: 'EXTENSION_HELD', severity: 'warning', file: `${rootDir}/extensions/${name}`, message };
}
