import { createHash } from 'node:crypto';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource, SourceScan } from '../sources/source.ts';
import { groupsOf } from './merge.ts';

/** Other files of skills that have the same id and SKILL.md as another skill. */
export interface EqualCopies {
  readonly of: string;
  /** Digest over path and content of all files, by qualified id. */
  readonly files: ReadonlyMap<string, string>;
  readonly differ: boolean;
}

/** Compares very large files by size. Reading takes long: equal copies of unchanged skills are not read again. */
export async function equalCopies(
  sources: readonly SkillSource[],
  scans: readonly SourceScan[],
  limits: SkillRegistryConfig['limits'],
  before: EqualCopies | undefined,
): Promise<EqualCopies> {
  const groups = await groupsOf(foundIn(sources, scans), ({ skill }) => `${skill.id} ${skill.digest}`);
  const all = [...groups.values()].filter(
    (some) => some.length > 1 && new Set(some.map(({ skill }) => skill.realFile ?? skill.qualifiedId)).size > 1,
  );
  const of = JSON.stringify(all.map((copies) => copies.map(({ skill }) => [skill.qualifiedId, skill.digest])));
  if (before && !before.differ && before.of === of) return before;
  const files = new Map<string, string>();
  let differ = false;
  for (const copies of all) {
    const digests = new Set<string>();
    for (const { skill, source } of copies) {
      const digest = digestOfFiles(skill, source, limits.resource_bytes);
      digests.add(digest);
      files.set(skill.qualifiedId, digest);
      await takeBreak();
    }
    differ ||= digests.size > 1;
  }
  return { of, files, differ };
}

// --- internal ---

function* foundIn(sources: readonly SkillSource[], scans: readonly SourceScan[]) {
  for (const [index, { skills, losers = [] }] of scans.entries())
    for (const skill of [...skills, ...losers]) yield { skill, source: sources[index] as SkillSource };
}

function digestOfFiles(skill: Skill, source: SkillSource, maxBytes: number): string {
  const hash = createHash('sha256');
  for (const { path, size } of source.listing(skill).files) {
    hash.update(`${JSON.stringify(path)} ${size}\n`);
    try {
      hash.update(source.fileDigest?.(skill, path) ?? digestOf(source.readResource(skill, path, maxBytes)));
    } catch {
      // Reading the file later reports the error.
    }
  }
  return hash.digest('hex');
}
