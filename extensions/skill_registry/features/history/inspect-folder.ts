import { realpathSync } from 'node:fs';
import { inspectSkill } from '../guard/inspect/inspect-skill.ts';
import type { Inspection } from '../guard/inspect/types.ts';
import { asInspected, readFolderTree } from './skill-tree.ts';

/** Larger files are not read. */
const MAX_INSPECTED_BYTES = 16 * 1024 * 1024;

/** Does not read links and private files. @param folder - Absolute. @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND. */
export async function inspectFolder(folder: string): Promise<Inspection> {
  const { files, bytes } = readFolderTree(realpathSync(folder), MAX_INSPECTED_BYTES);
  const inspected = files.flatMap(({ path, mode }) => {
    const content = bytes.get(path);
    return content ? [asInspected(path, content, mode)] : [];
  });
  return inspectSkill(inspected);
}
