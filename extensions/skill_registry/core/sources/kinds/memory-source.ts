import type { Problem } from 'skill-registry/kernel';
import { yamlPackage } from '../../../../../kernel/host.ts';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import {
  assertReadable,
  relativeSegments,
  resourceNotFound,
  resourceTooLarge,
} from '../../../../../lib/files/index.ts';
import { foldLine } from '../../../../../lib/text/index.ts';
import { parseSkill } from '../../skill/parse-skill.ts';
import type { Skill } from '../../skill/skill.ts';
import { makeSkill } from '../make-skill.ts';
import { freeId, ownSkill, type SkillSource, type SourceScan } from '../source.ts';
import type { CustomSkill } from '../types.ts';
import { MAX_LISTED_FILES, withoutPrivate } from '../walk/list-files.ts';

export interface MemorySkill extends Omit<CustomSkill, 'files'> {
  /** By path, normalized by `relativeSegments`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly file: string;
  readonly label: string;
}

export interface MemorySkills {
  readonly skills: readonly MemorySkill[];
  readonly problems: readonly Problem[];
}

export interface MemorySourceOptions extends Pick<SkillSource, 'id' | 'kind' | 'location'> {
  /** Called at every scan. The same list object as before is not read again; a rejection fails the scan. */
  load(): Promise<MemorySkills>;
}

/** The first skill with an id wins; the others are losers, with a number in their qualified id. */
export function createMemorySource({ id, kind, location, load }: MemorySourceOptions): SkillSource {
  let own: ReadonlyMap<string, StoredSkill> = new Map();
  let last: { readonly given: readonly MemorySkill[]; readonly scan: SourceScan } | undefined;
  return {
    id,
    kind,
    location,
    async scan(limits) {
      const { skills: given, problems } = await load();
      if (last?.given === given) return last.scan;
      const stored = new Map<string, StoredSkill>();
      const scan = { skills: [] as Skill[], losers: [] as Skill[], problems: [...problems] };
      const taken = new Set<string>();
      for (const entry of given) {
        await takeBreak();
        const qualifiedId = freeId(`${id}:${entry.id}`, stored);
        const { skill, bytes, problems: skillProblems } = toSkill(entry, qualifiedId, id, limits.file_bytes);
        scan.problems.push(...skillProblems);
        if (!skill) continue;
        stored.set(qualifiedId, { bytes, files: entry.files });
        (taken.has(entry.id) ? scan.losers : scan.skills).push(skill);
        taken.add(entry.id);
      }
      own = stored;
      last = { given, scan };
      return scan;
    },
    readSkill: (skill, maxBytes) => atMost(maxBytes, ownSkill(own, skill).bytes, skill.id),
    listing(skill) {
      const files = [...(own.get(skill.qualifiedId)?.files ?? [])].map(([path, bytes]) => ({
        path,
        size: bytes.length,
      }));
      const { files: shown, leftOut } = withoutPrivate(files.sort((a, b) => (a.path < b.path ? -1 : 1)));
      return { files: shown.slice(0, MAX_LISTED_FILES), leftOut };
    },
    readResource(skill, path, maxBytes) {
      const segments = relativeSegments(path);
      assertReadable(segments, path);
      const bytes = ownSkill(own, skill).files.get(segments.join('/'));
      if (bytes === undefined) throw resourceNotFound(path);
      return atMost(maxBytes, bytes, path);
    },
    watchFolders: () => [],
    contains: () => false,
  };
}

/** Of a source that is not read: only why. */
export function sourceWithoutSkills(
  { id, kind, location }: Pick<SkillSource, 'id' | 'kind' | 'location'>,
  problem: Problem | undefined,
): SkillSource {
  const problems = problem ? [problem] : [];
  return createMemorySource({ id, kind, location, load: async () => ({ skills: [], problems }) });
}

// --- internal ---

interface StoredSkill {
  readonly bytes: Buffer;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

function toSkill(given: MemorySkill, qualifiedId: string, source: string, maxBytes: number) {
  const { id, file, label } = given;
  const text = skillMdOf(given);
  const bytes = Buffer.from(text);
  if (bytes.length > maxBytes) {
    const message = `${label}it has ${bytes.length} bytes, more than ${maxBytes}, and was not loaded. Move detail into files beside it, or raise limits.file_bytes.`;
    const problem: Problem = { code: 'SKILL_FILE_UNREADABLE', severity: 'error', file, message };
    return { bytes, problems: [problem] };
  }
  const { header, problems } = parseSkill(text, file, id);
  // The generated text is no file, and its name is the id: line numbers and problems of the name mean nothing.
  const skillProblems = problems
    .filter(({ code }) => !code.startsWith('NAME_'))
    .map(({ line: _line, ...problem }) => ({ ...problem, message: `${label}${problem.message}` }));
  if (!header) return { bytes, problems: skillProblems };
  const named = { ...header, name: foldLine(given.name ?? '') || id };
  const digest = digestOf(bytes);
  const identity = { id, qualifiedId, source, file, dir: null, realFile: null };
  return { skill: makeSkill(named, identity, digest, bytes.length), bytes, problems: skillProblems };
}

function skillMdOf({ id, description, body, frontmatter = {} }: MemorySkill): string {
  const fields = yamlPackage().stringify({ ...frontmatter, name: id, description }, { lineWidth: 0 });
  return `---\n${fields}---\n\n${body.trim()}\n`;
}

/** Copies, because the program may change its bytes later. */
function atMost(maxBytes: number, bytes: Uint8Array, shown: string): Buffer {
  if (bytes.length > maxBytes) throw resourceTooLarge(shown, bytes.length, maxBytes);
  return Buffer.from(bytes);
}
