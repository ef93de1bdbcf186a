import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { originRefused, originUnavailable, unpack } from '../../../lib/fetch/index.ts';
import { type NpmOrigin, shownOrigin } from './address.ts';
import { MAX_ARCHIVE } from './archive.ts';
import type { Offer } from './offer.ts';

/**
 * Fetches a package of the registry that the person's own npm configuration names. npm runs in an empty folder, so that no
 * `.npmrc` of a root counts, and with `--ignore-scripts`; nothing is installed.
 *
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED.
 */
export async function openNpm(origin: NpmOrigin): Promise<Offer> {
  const folder = mkdtempSync(join(tmpdir(), 'skill-registry-npm-'));
  try {
    const { version, file } = await pack(origin, folder);
    const bytes = readFileSync(join(folder, basename(file)));
    if (bytes.length > MAX_ARCHIVE) throw originRefused(shownOrigin(origin), `it has more than ${MAX_ARCHIVE} bytes.`);
    const { entries, read } = await unpack(bytes, shownOrigin(origin));
    // Everything lies in one folder, most often `package`.
    const within = (path: string): string => path.slice(path.indexOf('/') + 1);
    const originals = new Map(entries.map(({ path }) => [within(path), path]));
    return {
      ...{ origin, at: { version }, name: origin.name.replace(/^.*\//, ''), close: () => undefined },
      entries: entries.map((entry) => ({ ...entry, path: within(entry.path) })),
      read: (paths) => read(paths.map((path) => originals.get(path) ?? path)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// --- internal ---

const LIMIT_MS = 120_000;
const MAX_OUTPUT = 16 * 1024 * 1024;

async function pack(origin: NpmOrigin, folder: string): Promise<{ readonly version: string; readonly file: string }> {
  const spec = `${origin.name}@${origin.range}`;
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder, '--', spec];
  const environment = Object.entries(process.env).filter(
    ([name]) => !/^npm_(package|lifecycle|command|execpath)/.test(name),
  );
  try {
    const { stdout } = await promisify(execFile)('npm', args, {
      cwd: folder,
      env: Object.fromEntries(environment),
      timeout: LIMIT_MS,
      maxBuffer: MAX_OUTPUT,
    });
    const [packed] = JSON.parse(stdout) as readonly { readonly version?: string; readonly filename?: string }[];
    if (packed?.version && packed.filename) return { version: packed.version, file: packed.filename };
  } catch (error) {
    throw originUnavailable(shownOrigin(origin), reasonOf(error), error);
  }
  throw originUnavailable(shownOrigin(origin), 'npm gave no package');
}

/** npm says what is wrong in its last lines of JSON, or on standard error. */
function reasonOf(error: unknown): string {
  const {
    code,
    stdout = '',
    stderr = '',
    message,
  } = error as Error & { code?: unknown; stdout?: string; stderr?: string };
  if (code === 'ENOENT') return 'npm is not installed here';
  try {
    const { error: told } = JSON.parse(stdout) as { readonly error?: { readonly summary?: string } };
    if (told?.summary) return told.summary.split('\n')[0] ?? '';
  } catch {
    // Then standard error says it.
  }
  const line = stderr.split('\n').find((one) => /^npm (error|ERR!) (?!code)/.test(one));
  return line?.replace(/^npm (error|ERR!) /, '') ?? message.split('\n')[0] ?? 'npm failed';
}
