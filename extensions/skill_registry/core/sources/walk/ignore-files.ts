import { join, relative } from 'node:path';
import ignore from 'ignore';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { readNamedFile } from '../../../../../lib/files/index.ts';

export interface IgnoreRules {
  into(dir: string): IgnoreRules;
  ignores(path: string, isDirectory: boolean): boolean;
}

const MAX_BYTES = 262_144;

export function ignoreRules(dir: string, above: readonly Layer[] = []): IgnoreRules {
  const text = ['.gitignore', '.ignore'].map((name) => readIfExists(join(dir, name))).join('\n');
  const layers =
    text.trim() === '' ? above : [...above, { dir, rules: ignore().add(text.split(/\r?\n/).filter(isCheap)) }];
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

/** Skips lines with many stars, which could take exponential time as regular expressions. */
function isCheap(line: string): boolean {
  const segments = line.split('/');
  const deep = segments.filter((segment) => segment.includes('**')).length;
  return line.length <= 1024 && deep <= 3 && segments.every((segment) => (segment.match(/\*+/g) ?? []).length <= 3);
}

function readIfExists(file: string): string {
  return withFallback(() => readNamedFile(file, MAX_BYTES).toString('utf8'), '');
}
