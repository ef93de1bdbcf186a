import { createHash } from 'node:crypto';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource, SourceScan } from '../sources/source.ts';

/** What lies beside SKILL.md, of skills whose id and SKILL.md another one has as well. */
export interface EqualCopies {
  /** Which skills they are. */
  readonly of: string;
  /** A digest of path and content of all files, by qualified id. */
  readonly files: ReadonlyMap<string, string>;
  /** Whether two of them have different files. */
  readonly differ: boolean;
}

/**
 * Reads the files of such skills; of those that are too large to be handed out only the sizes count.
 *
 * @param before - Holds on while they are the same skills and no files differ: to read them anew each time would take too long.
 */
export async function equalCopies(
  sources: readonly SkillSource[],
  scans: readonly SourceScan[],
  limits: SkillRegistryConfig['limits'],
  takeBreak: () => Promise<void>,
  before: EqualCopies | undefined,
): Promise<EqualCopies> {
  const all = rivals(sources, scans);
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

/** Skills of one id with equal SKILL.md that are not the same file, together. */
function rivals(sources: readonly SkillSource[], scans: readonly SourceScan[]): readonly (readonly Found[])[] {
  const firsts = new Map<string, Found>();
  const several = new Map<string, Found[]>();
  for (const [index, { skills, losers = [] }] of scans.entries()) {
    const source = sources[index] as SkillSource;
    for (const some of [skills, losers]) {
      for (const skill of some) {
        const first = firsts.get(skill.id);
        if (!first) firsts.set(skill.id, { skill, source });
        else several.set(skill.id, [...(several.get(skill.id) ?? [first]), { skill, source }]);
      }
    }
  }
  return [...several.values()].flatMap((all) => {
    const digests = [...new Set(all.map(({ skill }) => skill.digest))];
    const equal = digests.map((digest) => all.filter(({ skill }) => skill.digest === digest));
    return equal.filter((some) => new Set(some.map(({ skill }) => placeOf(skill))).size > 1);
  });
}

function placeOf({ realFile, qualifiedId }: Skill): string {
  return realFile ?? qualifiedId;
}

function digestOfFiles(skill: Skill, source: SkillSource, maxBytes: number): string {
  const hash = createHash('sha256');
  for (const { path, size } of source.resources(skill)) {
    hash.update(`${JSON.stringify(path)} ${size}\n`);
    try {
      hash.update(source.readResource(skill, path, maxBytes));
    } catch {
      // Whoever wants the file is told what is wrong with it.
    }
  }
  return hash.digest('hex');
}
