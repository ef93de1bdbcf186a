import type { Problem } from 'skill-registry/kernel';
import type { SkillHeader } from '../skill/parse-skill.ts';
import { makeHeader } from './make-skill.ts';
import type { SkillFileEntry } from './skill-files.ts';

/**
 * One file as JSON: path, stamp, digest, bytes, header without its empty fields, problems without their file.
 *
 * @returns undefined for what must not be kept: what is not settled, what is too large to be worth it, and what JSON would
 *   give back as something else (`.inf`, `-0`).
 */
export function packEntry(path: string, { stamp, settled, file }: SkillFileEntry): string | undefined {
  const { header, problems, digest, bytes } = file;
  if (!settled || (header && !(survives(header.metadata) && survives(header.extra)))) return undefined;
  if (!problems.every((problem) => problem.file === path && survives(problem.details))) return undefined;
  const packed: Packed = [path, stamp, digest, bytes, header ? packHeader(header) : null];
  if (problems.length > 0) packed.push(problems.map(({ file: _, ...rest }) => rest));
  const text = JSON.stringify(packed);
  return text.length > MAX_CHARS ? undefined : text;
}

/** @throws TypeError for anything that `packEntry` does not make. */
export function unpackEntry(packed: unknown): readonly [string, SkillFileEntry] {
  const [path, stamp, digest, bytes, header, problems = []] = packed as Packed;
  const file = {
    problems: problems.length === 0 ? NO_PROBLEMS : problems.map((problem) => toProblem(problem, path)),
    digest,
    bytes,
  };
  return [path, { stamp, settled: true, file: header ? { header: makeHeader(header), ...file } : file }];
}

// --- internal ---

/** A header larger than this is rare, and read from its file each time. */
const MAX_CHARS = 64 * 1024;

type Packed = [
  path: string,
  stamp: string,
  digest: string,
  bytes: number,
  header: PackedHeader | null,
  problems?: readonly Omit<Problem, 'file'>[],
];
type PackedHeader = Pick<SkillHeader, 'name' | 'description'> & Partial<SkillHeader>;

const NO_PROBLEMS: readonly Problem[] = Object.freeze([]);

function packHeader(header: SkillHeader): PackedHeader {
  const { modelInvocable, userInvocable, ...rest } = header;
  const kept = Object.entries(rest).filter(([, value]) => typeof value !== 'object' || Object.keys(value).length > 0);
  return {
    ...(Object.fromEntries(kept) as unknown as PackedHeader),
    ...(modelInvocable ? {} : { modelInvocable }),
    ...(userInvocable ? {} : { userInvocable }),
  };
}

/** `file` stands where it stood. */
function toProblem({ code, severity, ...rest }: Omit<Problem, 'file'>, file: string): Problem {
  return { code, severity, file, ...rest };
}

/** Whether JSON gives it back as it is. YAML has no other values than these. */
function survives(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  return Object.values(value).every(survives);
}
