import {
  createSkillRegistry,
  type SkillLoadedEvent,
  type SkillRegistry,
  type SkillRegistryOptions,
} from 'skill-registry';
import { onTestFinished } from 'vitest';
import { type AtEnd, type Tree, tempFolder } from './temp-folder.ts';

export interface OpenRegistry {
  /** Absolute; the source `skills` is the folder of that name in it. */
  readonly root: string;
  readonly registry: SkillRegistry;
  /** Every load so far, oldest first. */
  readonly loaded: readonly SkillLoadedEvent[];
}

/** A registry over `<temporary folder>/skills`, closed when the test has finished. @param config - Laid over that source. */
export async function openRegistry(
  tree: Tree = {},
  config: Readonly<Record<string, unknown>> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<OpenRegistry> {
  const root = tempFolder(tree, atEnd);
  const loaded: SkillLoadedEvent[] = [];
  const options = {
    config: { sources: [{ path: 'skills' }], ...config },
    onSkillLoaded: (event: SkillLoadedEvent): void => void loaded.push(event),
  };
  const registry = await openRoot(root, options, atEnd);
  return { root, registry, loaded };
}

/** A registry over `<root>/skills`, unless the options say otherwise; closed when the test has finished. */
export async function openRoot(
  root: string,
  options: Omit<SkillRegistryOptions, 'root'> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<SkillRegistry> {
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] }, ...options });
  atEnd(() => registry.close());
  // As after the first moments of a process that serves agents.
  if (options.inspect !== false) await registry.admin.inspectSkills?.();
  return registry;
}

/** Code, path below `root` and line of each problem, sorted. */
export function briefProblems(
  problems: readonly { readonly code: string; readonly file: string; readonly line?: number }[],
  root: string,
): readonly string[] {
  const brief = ({ code, file, line }: (typeof problems)[number]): string =>
    `${code} ${file === root ? '.' : file.replace(`${root}/`, '')}${line === undefined ? '' : `:${line}`}`;
  return problems.map(brief).sort();
}
