import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { packTarGz } from '../../../../../lib/fetch/index.ts';
import { shorten } from '../../../../../lib/text/index.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import type { SkillSource } from '../../../core/sources/source.ts';
import { MAX_LISTED_FILES } from '../../../core/sources/walk/list-files.ts';
import { isLeftover } from '../../guard/recorded-files.ts';
import { type IncomingFile, MAX_ARCHIVE, MAX_UNPACKED } from '../../install/opened-origin.ts';
import { type IndexEntry, MAX_DESCRIPTION, SKILL_NAME } from '../page-index.ts';

export interface PublishableFiles {
  readonly files: readonly IncomingFile[];
  readonly leftOut: number;
  readonly links: readonly string[];
}

export interface Artifact extends Omit<PublishableFiles, 'files'> {
  readonly entry: IndexEntry;
  readonly bytes: Buffer;
  readonly fileCount: number;
  readonly unpackedBytes: number;
}

/** @returns the reason when it cannot be published whole. */
export function filesOf(skill: Skill, source: SkillSource): PublishableFiles | string {
  const { files: listed, leftOut, links = [] } = source.listing(skill);
  if (listed.length >= MAX_LISTED_FILES) return `it has ${MAX_LISTED_FILES} files or more beside SKILL.md`;
  const files: IncomingFile[] = [];
  let left = MAX_UNPACKED;
  const add = (path: string, bytes: Buffer): void => {
    left -= bytes.length;
    files.push({ path, bytes, executable: isExecutable(skill, path) });
  };
  try {
    add('SKILL.md', source.readSkill(skill, left));
    for (const { path } of listed) if (!isLeftover(path)) add(path, source.readResource(skill, path, left));
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_TOO_LARGE')) return `it has more than ${MAX_UNPACKED} bytes`;
    return `it cannot be read: ${(error as Error).message}`;
  }
  return { files, leftOut, links };
}

/** @returns the reason when the index cannot name it. */
export function artifactOf(
  { id, description }: Pick<Skill, 'id' | 'description'>,
  { files, leftOut, links }: PublishableFiles,
): Artifact | string {
  if (!SKILL_NAME.test(id))
    return 'its id has other characters than 1-64 lower-case letters, digits and single hyphens';
  if (description === '') return 'it has no description';
  const isAlone = files.length === 1;
  const bytes = isAlone ? (files[0] as IncomingFile).bytes : packTarGz(files);
  if (bytes.length > MAX_ARCHIVE) return `its files take ${bytes.length} bytes in an archive, more than ${MAX_ARCHIVE}`;
  const digest = digestOf(bytes);
  return {
    entry: {
      name: id,
      type: isAlone ? 'skill-md' : 'archive',
      description: shorten(description, MAX_DESCRIPTION - 1),
      url: `artifacts/${id}.${digest.slice('sha256:'.length)}.${isAlone ? 'md' : 'tar.gz'}`,
      digest,
    },
    bytes,
    fileCount: files.length,
    unpackedBytes: files.reduce((sum, file) => sum + file.bytes.length, 0),
    leftOut,
    links,
  };
}

// --- internal ---

/** A skill without a folder has no executable files. */
function isExecutable({ dir }: Skill, path: string): boolean {
  const stats = dir === null ? undefined : lstatSync(join(dir, path), { throwIfNoEntry: false });
  return stats !== undefined && (stats.mode & 0o100) !== 0;
}
