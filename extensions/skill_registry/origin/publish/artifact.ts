import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { packTarGz } from '../../../../lib/fetch/index.ts';
import { shorten } from '../../../../lib/text/index.ts';
import { isLeftover } from '../../history/skill-tree.ts';
import type { Skill } from '../../skill/skill.ts';
import type { SkillSource } from '../../sources/source.ts';
import { listingOf, MAX_LISTED_FILES } from '../../sources/walk/list-files.ts';
import { type IncomingFile, MAX_ARCHIVE, MAX_UNPACKED } from '../opened-origin.ts';
import { type IndexEntry, isSkillName, MAX_DESCRIPTION } from '../well-known/page-index.ts';

/** One skill as it is published. */
export interface Artifact {
  readonly skill: Skill;
  readonly entry: IndexEntry;
  readonly bytes: Buffer;
  readonly fileCount: number;
  /** Of its files, before they were packed. */
  readonly unpackedBytes: number;
  /** Files that are never handed out. */
  readonly leftOut: number;
  /** Paths of links and devices. */
  readonly links: readonly string[];
}

/** What is read of a skill, as `read_skill_resource` would hand it out. */
export interface PublishableFiles {
  readonly files: readonly IncomingFile[];
  readonly leftOut: number;
  readonly links: readonly string[];
}

/** @returns the reason instead when it cannot be published whole. */
export function filesOf(skill: Skill, source: SkillSource): PublishableFiles | string {
  const { files: listed, leftOut, links = [] } = listingOf(skill, source);
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

/** @returns the reason instead when the index cannot name it. */
export function artifactOf(skill: Skill, { files, leftOut, links }: PublishableFiles): Artifact | string {
  const { id, description } = skill;
  if (!isSkillName(id)) return 'its id has other characters than 1-64 lower-case letters, digits and single hyphens';
  if (description === '') return 'it has no description';
  const [skillFile] = files;
  const type = files.length === 1 ? 'skill-md' : 'archive';
  const bytes = type === 'skill-md' ? (skillFile as IncomingFile).bytes : packTarGz(files);
  if (bytes.length > MAX_ARCHIVE) return `its files take ${bytes.length} bytes in an archive, more than ${MAX_ARCHIVE}`;
  const hash = createHash('sha256').update(bytes).digest('hex');
  const url = `artifacts/${id}.${hash}.${type === 'skill-md' ? 'md' : 'tar.gz'}`;
  const entry = {
    name: id,
    type,
    description: shorten(description, MAX_DESCRIPTION - 1),
    url,
    digest: `sha256:${hash}`,
  } as const;
  const unpackedBytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  return { skill, entry, bytes, fileCount: files.length, unpackedBytes, leftOut, links };
}

// --- internal ---

/** Of a skill without a folder no file may be run. */
function isExecutable({ dir }: Skill, path: string): boolean {
  const stats = dir === null ? undefined : lstatSync(join(dir, path), { throwIfNoEntry: false });
  return stats !== undefined && (stats.mode & 0o100) !== 0;
}
