import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Stands for the code of the registry: another text for every change of it, so that what an older version made of a file is
 * made anew. Undefined where the code cannot be looked at (a bundle): nothing is kept then.
 */
export function codeVersion(): string | undefined {
  version ??= { text: readVersion() };
  return version.text;
}

// --- internal ---

let version: { readonly text: string | undefined } | undefined;

/** Below the folder of the registry: what decides how a file, or a config, is read, and what is counted. */
const CODE = ['.', 'skill', 'validation', 'sources', 'context'];

function readVersion(): string | undefined {
  try {
    const hash = createHash('sha256').update(yamlVersion());
    const registry = fileURLToPath(new URL('..', import.meta.url));
    for (const folder of CODE.map((name) => join(registry, name))) {
      for (const name of readdirSync(folder).sort()) {
        if (/(?<!\.d)\.[jt]s$/.test(name)) hash.update(name).update(readFileSync(join(folder, name)));
      }
    }
    return hash.digest('hex').slice(0, 32);
  } catch {
    return undefined;
  }
}

function yamlVersion(): string {
  const { version } = createRequire(import.meta.url)('yaml/package.json') as { readonly version: string };
  return version;
}
