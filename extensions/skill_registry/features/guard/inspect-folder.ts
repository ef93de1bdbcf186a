import { realpathSync } from 'node:fs';
import { inspectSkill } from './inspect/inspect-skill.ts';
import type { Inspection } from './inspect/types.ts';
import { asInspected, readRecordedFiles } from './recorded-files.ts';

/** Larger files are not read. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Does not read links and private files. @param folder - Absolute. @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND. */
export async function inspectFolder(folder: string): Promise<Inspection> {
  const files = [...readRecordedFiles(realpathSync(folder), MAX_BYTES)].sort((a, b) => (a.path < b.path ? -1 : 1));
  return inspectSkill(files.flatMap(({ path, bytes, mode }) => (bytes ? [asInspected(path, bytes, mode)] : [])));
}
