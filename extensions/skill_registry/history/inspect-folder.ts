import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { InspectedFile, Inspection } from '../inspect/types.ts';
import type { SkillTree } from './skill-tree.ts';

/**
 * Inspects the files of a skill on disk, with all rules. Nothing is run, links and private files (`.env`, `.git`, keys) are not read.
 *
 * @param folder - Absolute.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND when it is no folder.
 */
export async function inspectFolder(folder: string): Promise<Inspection> {
  const [{ readFolderTree }, { inspectSkill }] = await Promise.all([
    import('./skill-tree.ts'),
    import('../inspect/inspect-skill.ts'),
  ]);
  return inspectSkill(inspectedFiles(readFolderTree(realpathSync(folder), MAX_INSPECTED_BYTES)));
}

// --- internal ---

/** Bytes; what is larger is not read. */
const MAX_INSPECTED_BYTES = 16 * 1024 * 1024;

/** The files of a skill as an inspection takes them; those that were too large to be read are left out. */
function inspectedFiles({ files, bytes }: SkillTree): readonly InspectedFile[] {
  return files.flatMap(({ path, mode }) => {
    const content = bytes.get(path);
    if (!content) return [];
    const name = basename(path).toLowerCase() === 'skill.md' && path === basename(path) ? 'SKILL.md' : path;
    return [{ path: name, bytes: content, executable: (mode & 0o111) !== 0 }];
  });
}
