import { createHash } from 'node:crypto';
import type { Problem } from 'skill-registry/kernel';
import { yamlPackage } from '../../../../kernel/host.ts';
import { assertReadable, relativeSegments, resourceNotFound, resourceTooLarge } from '../../../../lib/files/index.ts';
import { foldLine } from '../../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../../config/config.ts';
import { parseSkill } from '../../skill/parse-skill.ts';
import type { Skill } from '../../skill/skill.ts';
import { makeSkill } from '../make-skill.ts';
import type { SkillListing, SkillSource, SourceScan } from '../source.ts';
import { createOwnSkills } from '../source.ts';
import { MAX_FILES, withoutPrivate } from '../walk/list-files.ts';

/** A skill in memory, checked. */
export interface MemorySkill {
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly description: string;
  readonly body: string;
  /** Plain data. */
  readonly frontmatter?: Readonly<Record<string, unknown>>;
  /** By path, each as `relativeSegments` writes it. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What problems and people are told as its file. */
  readonly file: string;
  /** Stands before what problems say. */
  readonly label: string;
}

export interface MemorySkills {
  readonly skills: readonly MemorySkill[];
  readonly problems: readonly Problem[];
}

export interface MemorySourceOptions extends Pick<SkillSource, 'id' | 'kind' | 'location'> {
  /** Asked at every scan; the same list is not read again. What it rejects with is the failure of the source. */
  load(): Promise<MemorySkills>;
}

/**
 * Skills held in memory, each as if the SKILL.md that they make lay in a folder. Of several with one id the first wins; the others
 * are losers with a number in their qualified id.
 */
export function createMemorySource({ id, kind, location, load }: MemorySourceOptions): SkillSource {
  const own = createOwnSkills<Held>();
  let last: { readonly given: readonly MemorySkill[]; readonly scan: SourceScan } | undefined;
  const listing = (skill: Skill): SkillListing => {
    const files = [...(own.find(skill)?.files ?? [])].map(([path, bytes]) => ({ path, size: bytes.length }));
    const { files: shown, leftOut } = withoutPrivate(files.sort((a, b) => (a.path < b.path ? -1 : 1)));
    return { files: shown.slice(0, MAX_FILES), leftOut };
  };
  return {
    id,
    kind,
    location,
    async scan(limits, takeBreak) {
      const { skills: given, problems } = await load();
      if (last?.given === given) return last.scan;
      const held = new Map<string, Held>();
      const scan = { skills: [] as Skill[], losers: [] as Skill[], problems: [...problems] };
      const taken = new Set<string>();
      for (const one of given) {
        await takeBreak();
        let qualifiedId = `${id}:${one.id}`;
        for (let number = 2; held.has(qualifiedId); number++) qualifiedId = `${id}:${one.id}~${number}`;
        const { skill, bytes, problems: wrong } = toSkill(one, qualifiedId, id, limits);
        scan.problems.push(...wrong);
        if (!skill) continue;
        held.set(qualifiedId, { bytes, files: one.files });
        (taken.has(one.id) ? scan.losers : scan.skills).push(skill);
        taken.add(one.id);
      }
      own.replace(held);
      last = { given, scan };
      return scan;
    },
    readSkill: (skill, maxBytes) => atMost(maxBytes, own.get(skill).bytes, skill.id),
    resources: (skill) => listing(skill).files,
    listing,
    readResource(skill, path, maxBytes) {
      const wanted = relativeSegments(path);
      assertReadable(wanted, path);
      const bytes = own.get(skill).files.get(wanted.join('/'));
      if (bytes === undefined) throw resourceNotFound(path);
      return atMost(maxBytes, bytes, path);
    },
    watchFolders: () => [],
    contains: () => false,
  };
}

// --- internal ---

interface Held {
  /** Of the SKILL.md. */
  readonly bytes: Buffer;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

function toSkill(
  given: MemorySkill,
  qualifiedId: string,
  source: string,
  { file_bytes: maxBytes }: SkillRegistryConfig['limits'],
): { readonly skill?: Skill; readonly bytes: Buffer; readonly problems: readonly Problem[] } {
  const { id, file, label } = given;
  const text = textOf(given);
  const bytes = Buffer.from(text);
  if (bytes.length > maxBytes) {
    const message = `${label}it has ${bytes.length} bytes, more than ${maxBytes}, and was not loaded. Move detail into files beside it, or raise limits.file_bytes.`;
    return { bytes, problems: [{ code: 'SKILL_FILE_UNREADABLE', severity: 'error', file, message }] };
  }
  const { header, problems } = parseSkill(text, file, id);
  // The name in that text is the id. Which line of it is meant says nothing: there is no such file.
  const wrong = problems
    .filter(({ code }) => !code.startsWith('NAME_'))
    .map(({ line: _line, ...problem }) => ({ ...problem, message: `${label}${problem.message}` }));
  if (!header) return { bytes, problems: wrong };
  const named = { ...header, name: foldLine(given.name) || id };
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const place = { id, qualifiedId, source, file, dir: null, realFile: null };
  return { skill: makeSkill(named, place, digest, bytes.length), bytes, problems: wrong };
}

/** The SKILL.md it would be. */
function textOf({ id, description, body, frontmatter = {} }: MemorySkill): string {
  const fields = yamlPackage().stringify({ ...frontmatter, name: id, description }, { lineWidth: 0 });
  return `---\n${fields}---\n\n${body.trim()}\n`;
}

/** A copy: it may be the program's own. */
function atMost(maxBytes: number, bytes: Uint8Array, shown: string): Buffer {
  if (bytes.length > maxBytes) throw resourceTooLarge(shown, bytes.length, maxBytes);
  return Buffer.from(bytes);
}
