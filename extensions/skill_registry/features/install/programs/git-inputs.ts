import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { originRefused } from '../../../../../lib/fetch/index.ts';
import { futureRealPath } from '../../../../../lib/files/index.ts';
import { showName } from '../../../../../lib/text/index.ts';
import type { GitOrigin } from '../opened-origin.ts';

type Ask = (args: readonly string[]) => Promise<Buffer>;

/**
 * Refuses pipes and devices that git would read forever. The program that git starts in a local repository reads
 * `/dev/stdin` as the data from git, and both would wait for each other.
 */
export async function assertInputsEnd({ url }: GitOrigin, shown: string, ask: Ask): Promise<void> {
  await assertConfigEnds([], shown, ask);
  if (!url.startsWith('file:')) return;
  const at = fileURLToPath(url).replace(/\/+$/, '');
  const folders = new Set([at, `${at}.git`].flatMap((folder) => gitFolder(folder) ?? []));
  let seen = 0;
  for (const folder of folders) {
    if (kindOf(folder) !== 'folder') continue;
    for (const name of readdirSync(folder)) {
      if (++seen > MAX_ENTRIES) throw originRefused(shown, `${quoted(at)} has more than ${MAX_ENTRIES} files of git.`);
      const path = join(folder, name);
      const real = kindOf(path) === 'link' ? futureRealPath(path) : path;
      if (kindOf(real) === 'folder') folders.add(real);
      else if (isEndless(path)) throw originRefused(shown, `its ${quoted(path)} is no file. ${NO_END}`);
    }
    for (const other of foldersNamedIn(folder)) folders.add(other);
    for (const name of ['config', 'config.worktree'])
      if (kindOf(join(folder, name)) === 'file') await assertConfigEnds(['--file', join(folder, name)], shown, ask);
  }
}

// --- internal ---

/** Of one repository; git packs objects, so few need more. */
const MAX_ENTRIES = 200_000;
const MAX_INCLUDED = 100;
const NO_END = 'It has no end that git could wait for. Remove it, and try again.';

async function assertConfigEnds(
  which: readonly string[],
  shown: string,
  ask: Ask,
  seen = new Set<string>(),
): Promise<void> {
  const listing = await ask(['config', '--null', '--show-origin', '--no-includes', ...which, '--list']);
  const parts = listing.toString('utf8').split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const file = (parts[at] ?? '').replace(/^file:/, '');
    const [key = '', ...lines] = (parts[at + 1] ?? '').split('\n');
    const named = resolve(dirname(file), lines.join('\n').replace(/^~(?=\/)/, homedir()));
    if (named.includes('\0') || lines.length === 0) continue;
    if (isEndless(named)) throw originRefused(shown, `${key} of ${quoted(file)} names ${quoted(named)}. ${NO_END}`);
    if (!/^include(?:if\..*)?\.path$/s.test(key) || seen.has(named) || kindOf(named) !== 'file') continue;
    if (seen.add(named).size > MAX_INCLUDED)
      throw originRefused(shown, `${quoted(file)} includes more than ${MAX_INCLUDED} other files.`);
    await assertConfigEnds(['--file', named], shown, ask, seen);
  }
}

/** Also follows a `.git` file that names another folder. */
function gitFolder(path: string): string | undefined {
  const below = join(path, '.git');
  const [named] = linesOf(below);
  if (named !== undefined) return resolve(path, named.replace(/^gitdir: */, ''));
  return [below, path].find((folder) => kindOf(folder) === 'folder' && kindOf(join(folder, 'objects')) !== undefined);
}

/** The main repository of a work tree, and other repositories that store its objects. */
function foldersNamedIn(folder: string): readonly string[] {
  const lines = [...linesOf(join(folder, 'commondir')).slice(0, 1), ...linesOf(join(folder, 'info', 'alternates'))];
  return lines.map((line) => resolve(folder, line));
}

/** Of a regular file; else none. */
function linesOf(file: string): readonly string[] {
  const lines = kindOf(file) === 'file' ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

function kindOf(path: string): 'file' | 'folder' | 'link' | 'other' | undefined {
  const stats = withFallback(() => lstatSync(path));
  if (!stats) return undefined;
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other';
}

/** Whether a path leads to a pipe or device. `/dev/stdin` differs in each process, so its name is compared. */
function isEndless(path: string, hops = 20): boolean {
  const at = join(futureRealPath(dirname(path)), basename(path));
  if (/^\/(?:dev|proc)\//.test(at)) return at !== '/dev/null';
  const kind = kindOf(at);
  if (kind !== 'link') return kind === 'other';
  return hops === 0 || isEndless(resolve(dirname(at), readlinkSync(at)), hops - 1);
}

function quoted(path: string): string {
  return JSON.stringify(showName(path.slice(0, 200)));
}
