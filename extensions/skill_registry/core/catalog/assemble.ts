import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { eachWithBreaks } from '../../../../lib/breaks/index.ts';
import { realPathOf } from '../../../../lib/files/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { SkillSource, SourceScan } from '../sources/source.ts';
import { confusableIds } from './confusable-ids.ts';
import type { EqualCopies } from './equal-copies.ts';
import { mergeSources } from './merge.ts';
import { requiresProblems } from './requires.ts';
import { heldProblems } from './restrictions.ts';
import { frozen, type Pack, type Snapshot } from './snapshot.ts';

export interface Assembled {
  readonly from: readonly SkillSource[];
  /** With restrictions: those of `from`, then that of the built-in skills. */
  readonly scans: readonly SourceScan[];
  readonly copies: EqualCopies;
}

export async function assemble(
  { from: sources, scans, copies }: Assembled,
  version: number,
  collision: SkillRegistryConfig['collision'] | undefined,
): Promise<Snapshot> {
  const listed = scans.slice(0, sources.length);
  const own = scans.slice(sources.length).flatMap(({ skills }) => skills);
  const { problems, ...found } = await mergeSources(listed, collision, copies.files);
  const merged = { ...found, builtIn: new Map(own.map((skill) => [skill.qualifiedId, skill])) };
  const { packs, problems: clashes } = packsOf(sources, listed);
  return {
    version,
    ...merged,
    sources: sources.map(({ id, kind, location }, index) => {
      return { id, kind, location, skills: listed[index]?.skills.length ?? 0 };
    }),
    packs,
    problems: [
      ...(await uniqueProblems(scans)),
      ...(await heldProblems(merged)),
      ...problems,
      ...clashes,
      ...(await confusableIds(merged.skills)),
      ...(await requiresProblems(merged)),
    ],
  };
}

/** The problems of all sources in order. A problem of a file that several sources contain (links) is reported once. */
export async function uniqueProblems(scans: readonly SourceScan[]): Promise<readonly Problem[]> {
  const reported = new Map<string, string>();
  const once: Problem[] = [];
  const realFiles = realFilesOf(scans);
  for (const [index, { problems }] of scans.entries())
    await eachWithBreaks(problems, (problem) => {
      const { code, file, line = 0, message } = problem;
      const real = realFiles.get(file);
      // For a skill file the message is not compared: it may contain the path by which the file was found.
      const key = JSON.stringify([code, line, real ?? realPathOfFile(problem), real === undefined ? message : '']);
      const reachedBy = `${index} ${file}`;
      const first = reported.get(key) ?? reachedBy;
      reported.set(key, first);
      if (first === reachedBy) once.push(problem);
    });
  return once;
}

// --- internal ---

function realFilesOf(scans: readonly SourceScan[]): ReadonlyMap<string, string> {
  const real = new Map<string, string>();
  const withProblems = new Set(scans.flatMap(({ problems }) => problems.map(({ file }) => file)));
  if (withProblems.size === 0) return real;
  for (const { skills, losers = [] } of scans)
    for (const { file, realFile } of [...skills, ...losers])
      if (realFile !== null && withProblems.has(file)) real.set(file, realFile);
  return real;
}

/** A problem of a link belongs to the link, not to its target. */
function realPathOfFile({ code, file }: Problem): string {
  if (!isAbsolute(file)) return file;
  if (!code.startsWith('SYMLINK_')) return realPathOf(file) ?? file;
  const folder = realPathOf(dirname(file));
  return folder === undefined ? file : join(folder, basename(file));
}

function packsOf(sources: readonly SkillSource[], scans: readonly SourceScan[]) {
  const packs = new Map<string, Pack>();
  const locations = new Map<Pack, string>();
  for (const [index, source] of sources.entries()) {
    const scopes = source.scopes?.();
    if (!scopes) continue;
    const pack = frozen({ scopes, byId: new Map(scans[index]?.skills.map((skill) => [skill.id, skill])) });
    packs.set(source.id, pack);
    locations.set(pack, source.location);
  }
  const problems = [...packs].flatMap(([sourceId, pack]) => {
    const { pack: id } = pack.scopes;
    const other = packs.get(id) ?? pack;
    packs.set(id, other);
    const [file, otherFile] = [locations.get(pack) as string, locations.get(other) as string];
    return file === otherFile ? [] : [packIdTaken(id, sourceId, file, otherFile)];
  });
  return { packs, problems };
}

function packIdTaken(id: string, sourceId: string, file: string, other: string): Problem {
  const message = `The id ${JSON.stringify(id)} of this pack belongs to another one (${other}), so a workflow with that id uses the other pack. Change the id of one of them, or write "${sourceId}", the id of its source, where you mean this one.`;
  return { code: 'PACK_ID_TAKEN', severity: 'warning', file, message, details: { id, winner: other, loser: file } };
}
