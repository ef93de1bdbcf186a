import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from 'skill-registry/kernel';
import { originRefused, originUnavailable } from '../../../../../lib/fetch/index.ts';
import { shownOrigin, withoutUser } from '../address.ts';
import type { GitOrigin, OpenedOrigin, OriginEntry } from '../opened-origin.ts';
import { assertInputsEnd } from './git-inputs.ts';
import { makeTemporaryFolder } from './temporary-folder.ts';

/**
 * Uses the system's git with the person's own git configuration. Checks nothing out, so hooks, filters, attributes and
 * submodules of the repository have no effect.
 * @throws ORIGIN_UNAVAILABLE; ORIGIN_REFUSED for more than `maxBytes` of packed data.
 */
export async function openGit(origin: GitOrigin, maxBytes: number = MAX_FETCHED): Promise<Required<OpenedOrigin>> {
  const folder = makeTemporaryFolder();
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const run = runnerIn(folder, origin, maxBytes);
    await assertInputsEnd(origin, shownOrigin(origin), (args) => run(args, '', CONFIG_MS));
    const { commit, isTag } = await fetchAsNamed(run, origin, folder);
    const entries = entriesOf(await run(['ls-tree', '-r', '-z', '-l', '--full-tree', commit]));
    const objects = new Map(entries.map(({ path, object }) => [path, object]));
    return {
      origin,
      at: { commit, isTag },
      entries,
      close,
      name: /([^/:]+?)(\.git)?\/*$/.exec(origin.url)?.[1] ?? 'skill',
      async read(paths) {
        if (paths.length === 0) return [];
        const wanted = paths.map((path) => objects.get(path) ?? '');
        return contentsOf(await run(['cat-file', '--batch'], `${wanted.join('\n')}\n`), wanted);
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

// --- internal ---

type Run = (args: readonly string[], input?: string, limitMs?: number) => Promise<Buffer>;

/** Slower repositories are too large for skills, or unreachable. */
const LIMIT_MS = 300_000;
const CONFIG_MS = 10_000;
const MAX_OUTPUT = 512 * 1024 * 1024;
const MAX_FETCHED = 512 * 1024 * 1024;
const LOOK_MS = 200;
/** In characters, about: the server writes it. */
const MAX_COMPLAINT = 4_000;

/** Variables that would make git use another repository. */
const REPOSITORY_VARIABLES =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|COMMON_DIR)$/;

function runnerIn(folder: string, origin: GitOrigin, maxBytes: number): Run {
  const shown = shownOrigin(origin);
  // biome-ignore lint/style/noProcessEnv: git finds the person's credentials, certificates and proxies by it
  const kept = Object.entries(process.env).filter(([name]) => !REPOSITORY_VARIABLES.test(name));
  const [protocol = ''] = origin.url.split(':');
  const env = {
    ...Object.fromEntries(kept),
    // No `ext::`, which runs commands. https and ssh may replace each other, as in the person's `insteadOf`.
    GIT_ALLOW_PROTOCOL: protocol === 'file' || protocol === 'http' ? protocol : 'https:ssh',
    GIT_DIR: folder,
    GIT_NO_REPLACE_OBJECTS: '1',
    // GitHub asks for a user name when a repository does not exist, and git would wait for it.
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
  const own = protocol === 'http' ? ['-c', 'http.followRedirects=false'] : [];
  const isTooLarge = (): boolean => sizeOf(folder) > maxBytes;
  return async (args, input = '', limitMs = LIMIT_MS) => {
    const child = spawn('git', [...SETTINGS, ...own, ...args], { cwd: folder, env, timeout: limitMs });
    const output: Buffer[] = [];
    let [size, complaint] = [0, ''];
    const looking = setInterval(() => {
      if (isTooLarge()) child.kill();
    }, LOOK_MS);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT) child.kill();
      else output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < MAX_COMPLAINT) complaint += chunk.toString('utf8', 0, MAX_COMPLAINT);
    });
    child.stdin.on('error', () => undefined).end(input);
    const [status] = await once(child, 'close')
      .catch((error: NodeJS.ErrnoException) => {
        throw originUnavailable(shown, error.code === 'ENOENT' ? 'git is not installed here' : error.message, error);
      })
      .finally(() => clearInterval(looking));
    // A killed git exits with a status instead of the signal, so the size is checked first.
    if (isTooLarge()) throw originRefused(shown, `what is fetched of it has more than ${maxBytes} bytes.`);
    if (status === 0) return Buffer.concat(output);
    if (size > MAX_OUTPUT) throw originRefused(shown, `it has more than ${MAX_OUTPUT} bytes to be read.`);
    throw originUnavailable(
      shown,
      child.killed ? `git gave no answer within ${limitMs / 1000} s` : reasonIn(complaint),
    );
  };
}

function reasonIn(complaint: string): string {
  if (/could not read (?:Username|Password)|Authentication failed/.test(complaint)) return WANTS_USER;
  const lines = complaint.split('\n').filter((line) => line.trim() !== '' && !/^(warning|hint):/.test(line));
  return (lines[0] ?? 'git failed')
    .replace(/^(fatal|error|remote): */, '')
    .replace(/([a-z+]+:\/\/)[^@/\s]*@/g, '$1')
    .slice(0, 300);
}

function sizeOf(folder: string): number {
  let size = 0;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      size += entry.isDirectory() ? sizeOf(path) : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }
  } catch {
    // git has removed it meanwhile.
  }
  return size;
}

const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.recurseSubmodules=false',
  'protocol.ext.allow=never',
].flatMap((setting) => ['-c', setting]);

const WANTS_USER =
  'it does not exist, or wants a user name and a password that git does not have. Give git a credential helper that knows them, or take its ssh: address';

function notFetched(origin: GitOrigin, cause: unknown): unknown {
  if (!/couldn't find remote ref|invalid refspec/.test(describeError(cause))) return cause;
  const { ref, url } = origin;
  if (ref === undefined) return originUnavailable(shownOrigin(origin), 'it has no commits yet', cause);
  const isOfPage = origin.path === undefined ? '' : ' A branch with a slash is given as owner/repo/path@branch.';
  const why = `it has no branch or tag ${JSON.stringify(ref)}. To see what it has: git ls-remote ${withoutUser(url)}.`;
  return originUnavailable(shownOrigin(origin), `${why}${isOfPage}`, cause);
}

/** Repositories use SHA-1 or SHA-256, and the server says which only when it refuses. */
async function fetchAsNamed(run: Run, origin: GitOrigin, folder: string): ReturnType<typeof fetchCommit> {
  const init = ['init', '--quiet', '--bare', '--template='];
  try {
    await run(init);
    return await fetchCommit(run, origin, folder);
  } catch (error) {
    const [, format] = /mismatched algorithms: client \w+; server (sha1|sha256)/.exec(describeError(error)) ?? [];
    if (format === undefined) throw error;
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    await run([...init, `--object-format=${format}`]);
    return fetchCommit(run, origin, folder);
  }
}

async function fetchCommit(run: Run, origin: GitOrigin, folder: string) {
  const { url, ref = 'HEAD' } = origin;
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', '--no-auto-maintenance'];
  const commitOf = async (name: string): Promise<string> =>
    (await run(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])).toString().trim();
  try {
    await run([...fetch, '--depth=1', '--', url, ref]);
  } catch (error) {
    // Some servers do not serve a commit by its hash, and none serve a shortened hash.
    if (!/^[0-9a-f]{4,64}$/.test(ref)) throw notFetched(origin, error);
    await run([...fetch, '--', url, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*']);
    const commit = await commitOf(ref).catch((missing: unknown) => {
      const why = `it has no commit ${JSON.stringify(ref)}, at least none in a branch or a tag`;
      throw originUnavailable(shownOrigin(origin), why, missing);
    });
    return { commit, isTag: false };
  }
  const [fetched = ''] = readFileSync(join(folder, 'FETCH_HEAD'), 'utf8').split('\n');
  return { commit: await commitOf('FETCH_HEAD'), isTag: fetched.includes("\ttag '") };
}

/** Parses `ls-tree -r -z -l`: `<mode> <type> <object> <size>\t<path>`. */
function entriesOf(listing: Buffer): readonly (OriginEntry & { readonly object: string })[] {
  return listing
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const tab = line.indexOf('\t');
      const [mode = '', , object = '', size = ''] = line.slice(0, tab).split(/ +/);
      const kind = mode === '120000' ? 'link' : mode.startsWith('100') ? 'file' : 'other';
      return { path: line.slice(tab + 1), size: Number(size) || 0, kind, executable: mode === '100755', object };
    });
}

/** Parses `cat-file --batch`: for each object `<object> blob <size>\n<bytes>\n`. */
function contentsOf(answer: Buffer, objects: readonly string[]): readonly Buffer[] {
  let at = 0;
  return objects.map((object) => {
    const end = answer.indexOf('\n', at);
    const [name, kind, size] = answer.toString('utf8', at, end).split(' ');
    if (end === -1 || name !== object || kind !== 'blob')
      throw originRefused('The repository', `${object} is no file.`);
    const start = end + 1;
    at = start + Number(size) + 1;
    return answer.subarray(start, at - 1);
  });
}
