import type { SkillRegistry } from 'skill-registry';
import { openRoot } from './open-registry.ts';
import { type Tree, tempFolder, writeTree } from './temp-folder.ts';

/**
 * A registry in which some skills are inspected, and the others are not inspected yet: `registry.admin.inspectSkills()` inspects them.
 */
export async function openWithPending(
  inspected: Tree,
  pending: Tree,
  config: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly root: string; readonly registry: SkillRegistry }> {
  const root = tempFolder(inspected);
  const options = { config: { sources: [{ path: 'skills' }], ...config } };
  await (await openRoot(root, options)).close();
  writeTree(root, pending);
  return { root, registry: await openRoot(root, { ...options, inspect: false }) };
}
