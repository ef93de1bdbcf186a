import { type ExecFileException, execFile } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { originUnavailable, unpack } from '../../../../../lib/fetch/index.ts';
import { readNamedFile } from '../../../../../lib/files/index.ts';
import { shownOrigin } from '../address.ts';
import { MAX_ARCHIVE, type NpmOrigin, type OpenedOrigin } from '../opened-origin.ts';
import { makeTemporaryFolder } from './temporary-folder.ts';

/** Uses the person's npm configuration. npm runs in an empty folder, so it reads no `.npmrc` of a root. */
export async function openNpm(origin: NpmOrigin): Promise<OpenedOrigin> {
  const folder = makeTemporaryFolder();
  try {
    const version = await pack(origin, folder);
    const file = readdirSync(folder).find((name) => name.endsWith('.tgz'));
    if (file === undefined) throw originUnavailable(shownOrigin(origin), 'npm gave no package');
    const { entries, read } = await unpack(readNamedFile(join(folder, file), MAX_ARCHIVE), shownOrigin(origin));
    // A package has one top folder, usually `package`.
    const within = (path: string): string => path.slice(path.indexOf('/') + 1);
    const originals = new Map(entries.map(({ path }) => [within(path), path]));
    return {
      origin,
      at: { version },
      name: origin.name.replace(/^.*\//, ''),
      entries: entries.map((entry) => ({ ...entry, path: within(entry.path) })),
      read: (paths) => read(paths.map((path) => originals.get(path) ?? path)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// --- internal ---

const LIMIT_MS = 120_000;
/** npm's default retries wait longer than the time limit, so npm would be killed before it reports the reason. */
const SOON: readonly string[] = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
const MAX_OUTPUT = 16 * 1024 * 1024;

async function pack(origin: NpmOrigin, folder: string): Promise<string> {
  const spec = `${origin.name}@${origin.range}`;
  // Without `--prefix` npm looks for `package.json` and `.npmrc` in the parent folders.
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', ...SOON, '--prefix', folder];
  // biome-ignore lint/style/noProcessEnv: npm finds the person's registry, certificates and proxies by it
  const kept = Object.entries(process.env).filter(([name]) => !CALLER_VARIABLES.test(name));
  try {
    const { stdout } = await promisify(execFile)('npm', [...args, '--pack-destination', folder, '--', spec], {
      cwd: folder,
      env: Object.fromEntries(kept),
      timeout: LIMIT_MS,
      maxBuffer: MAX_OUTPUT,
    });
    const [packed] = JSON.parse(stdout) as readonly { readonly version?: string }[];
    if (typeof packed?.version === 'string') return packed.version;
  } catch (error) {
    throw originUnavailable(shownOrigin(origin), reasonOf(error), error);
  }
  throw originUnavailable(shownOrigin(origin), 'npm gave no version');
}

const CALLER_VARIABLES = /^(npm_(package|lifecycle|command|execpath|config_(local_prefix|prefix))|INIT_CWD$)/i;

function reasonOf(error: unknown): string {
  const { code, killed, stdout = '', stderr = '', message } = error as ExecFileException;
  if (code === 'ENOENT') return 'npm is not installed here';
  if (killed) return `no answer within ${LIMIT_MS / 1000} s`;
  const told = withFallback((): { error?: { summary?: string } } | null => JSON.parse(stdout))?.error?.summary;
  if (told) return told.split('\n')[0] ?? '';
  const line = stderr.split('\n').find((one) => /^npm (error|ERR!) (?!code)/.test(one));
  return line?.replace(/^npm (error|ERR!) /, '') ?? message.split('\n')[0] ?? 'npm failed';
}
