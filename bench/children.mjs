/** Measurements in processes of their own, and what they need. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Of openskills, which is a command only, see commands.mjs. */
export const PEERS = ['pi', 'gemini-cli', 'mastra', 'mastra + BM25', 'mcp ext/skills'];

/**
 * Installs the peers, and calls `work` with a temporary folder. The folder is the home of what is measured: caches and decisions of
 * whoever measures are neither used nor touched.
 */
export function inTemporaryHome(work) {
  const havePeers = installPeers();
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-bench-')));
  Object.assign(process.env, {
    HOME: base,
    XDG_STATE_HOME: join(base, '.state'),
    XDG_CACHE_HOME: join(base, '.cache'),
  });
  try {
    work(base, havePeers);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** What a script of this folder prints, which is JSON. */
export function child(script, args, flags = []) {
  const options = { cwd: HERE, encoding: 'utf8', maxBuffer: 64 * 1_048_576, stdio: ['ignore', 'pipe', 'pipe'] };
  return JSON.parse(execFileSync(process.execPath, [...flags, join(HERE, script), ...args], options));
}

/** A folder for what a registry keeps. */
export function rootIn(base, name) {
  const root = join(base, `root-${name}`);
  mkdirSync(join(root, 'data'), { recursive: true });
  return root;
}

// --- internal ---

/** Installs the peers once. @returns Whether they are installed. */
function installPeers() {
  if (existsSync(join(HERE, 'node_modules'))) return true;
  try {
    execFileSync('npm', ['ci', '--prefix', HERE, '--ignore-scripts', '--no-audit', '--no-fund'], { stdio: 'inherit' });
    return true;
  } catch {
    return false;
  }
}
