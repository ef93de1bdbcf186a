import { join, relative } from 'node:path';
import ignore from 'ignore';
import { readNamedFile } from '../../../../lib/files/index.ts';

/** What the ignore files from a root down to one folder say together. */
export interface IgnoreRules {
  /** The rules as they are in a folder below. */
  into(dir: string): IgnoreRules;
  /** @param path - Absolute, below the folder the rules were made for. */
  ignores(path: string, isDirectory: boolean): boolean;
}

/** A larger one is no list of names. */
const MAX_BYTES = 262_144;

/** Reads `.gitignore` and `.ignore` on the way down, each for what lies below it. */
export function ignoreRules(dir: string, above: readonly Layer[] = []): IgnoreRules {
  const text = ['.gitignore', '.ignore'].map((name) => readIfExists(join(dir, name))).join('\n');
  const layers =
    text.trim() === '' ? above : [...above, { dir, rules: ignore().add(text.split(/\r?\n/).filter(isTame)) }];
  return {
    into: (child) => ignoreRules(child, layers),
    ignores: (path, isDirectory) =>
      layers.some((layer) => layer.rules.ignores(relative(layer.dir, path) + (isDirectory ? '/' : ''))),
  };
}

// --- internal ---

interface Layer {
  readonly dir: string;
  readonly rules: ReturnType<typeof ignore>;
}

/**
 * Lines are turned into regular expressions, and with many stars one takes longer than anybody waits. What people write has
 * fewer; a line that is passed over ignores nothing.
 */
function isTame(line: string): boolean {
  const segments = line.split('/');
  const deep = segments.filter((segment) => segment.includes('**')).length;
  return line.length <= 1024 && deep <= 3 && segments.every((segment) => (segment.match(/\*+/g) ?? []).length <= 3);
}

function readIfExists(file: string): string {
  try {
    return readNamedFile(file, MAX_BYTES).toString('utf8');
  } catch {
    return '';
  }
}
