import { afterEach, beforeEach, vi } from 'vitest';
import { briefProblems, type OpenRegistry, openRegistry } from './open-registry.ts';
import { skillMd, type Tree } from './temp-folder.ts';

/** Whoever runs the tests may have skills of their own at home. */
export function withoutHome(): void {
  beforeEach(() => void vi.stubEnv('HOME', '/no/home'));
  afterEach(() => void vi.unstubAllEnvs());
}

export const skillAt = (path: string, fields: Readonly<Record<string, string>> = {}): Tree => ({
  [`${path}/SKILL.md`]: skillMd({
    name: path.split('/').at(-1) as string,
    description: 'Does it when asked to.',
    ...fields,
  }),
});

export const PACKAGE = 'node_modules/brew';

interface Found extends Pick<OpenRegistry, 'registry' | 'root'> {
  readonly ids: readonly string[];
  readonly problems: readonly string[];
}

export async function idsOf(tree: Tree, ...sources: readonly Readonly<Record<string, unknown>>[]): Promise<Found> {
  const { registry, root } = await openRegistry(tree, { sources });
  const ids = registry.list({ limit: 200 }).skills.map(({ skillId }) => skillId);
  return { registry, root, ids, problems: briefProblems(registry.problems(), root) };
}
