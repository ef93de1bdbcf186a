import { createHash } from 'node:crypto';
import { eachWithBreaks, takeBreak } from '../../../lib/breaks/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource, SourceScan } from '../sources/source.ts';

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
  const all = await copiesOfSkills(sources, scans);
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

interface Found {
  readonly skill: Skill;
  readonly source: SkillSource;
}

async function copiesOfSkills(
  sources: readonly SkillSource[],
  scans: readonly SourceScan[],
): Promise<readonly (readonly Found[])[]> {
  const firsts = new Map<string, Found>();
  const several = new Map<string, Found[]>();
  for (const [index, { skills, losers = [] }] of scans.entries()) {
    const source = sources[index] as SkillSource;
    const add = (skill: Skill): void => {
      const key = `${skill.id} ${skill.digest}`;
      const first = firsts.get(key);
      const all = several.get(key);
      if (!first) firsts.set(key, { skill, source });
      else if (all) all.push({ skill, source });
      else several.set(key, [first, { skill, source }]);
    };
    await eachWithBreaks(skills, add);
    await eachWithBreaks(losers, add);
  }
  return [...several.values()].filter((some) => new Set(some.map(({ skill }) => fileKey(skill))).size > 1);
}

function fileKey({ realFile, qualifiedId }: Skill): string {
  return realFile ?? qualifiedId;
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
